import type { VerbGroup } from '../verbs/verb.ts';
import { columns } from '../ui/terminal.ts';
import { VERBS } from './verbs.ts';

/** The groups in the order of help, with their titles. */
const GROUPS: Readonly<Record<VerbGroup, string>> = {
  notes: 'notes for the next session',
  sharing: 'working beside others',
  rescue: 'getting work back',
  remotes: 'other machines',
  setup: 'set-up',
};

/** The verbs that `git handoff` alone shows, in the order in which users need them; `git help` has such a list, too. */
const COMMON = [
  ...['write', 'show', 'list', 'boot', 'take', 'close'],
  ...['status', 'commit', 'rescue', 'sync'],
  ...['init', 'doctor', 'uninstall'],
];

/** The verbs by group, a line each: the common ones, or all of them. */
export function overview(isAll: boolean): string {
  const names = isAll ? [...new Set([...COMMON, ...Object.keys(VERBS)])] : COMMON;
  const rows = names.flatMap((name) => VERBS[name] ?? []);
  const lines = columns(rows.map(({ summary }, at) => [`   ${names[at] ?? ''}`, summary])).split('\n');
  const groups = Object.entries(GROUPS).map(([group, title]) =>
    [title, ...lines.filter((_line, at) => rows[at]?.group === group)].join('\n'),
  );
  const more = isAll
    ? 'git handoff <verb> -h shows a verb; git help handoff opens the manual.'
    : 'git handoff help -a lists every verb; git help handoff opens the manual.';
  return `usage: git handoff <verb> [<options>]\n\n${groups.join('\n')}\n\n${more}\n`;
}
