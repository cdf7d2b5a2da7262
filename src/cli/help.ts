import yargs from 'yargs';
import { Failure } from '../domain/messages.ts';
import { COMMON_OPTIONS, type OptionSpec, type OptionTable } from '../verbs/options.ts';
import type { Verb, VerbGroup } from '../verbs/verb.ts';
import { VERBS } from './verbs.ts';
import { columns } from '../ui/terminal.ts';

/** The help of `guard`, which is not in the table of verbs: clients call it, and it takes no common options. */
export const GUARD_HELP = `usage: git handoff guard [--client <name>]

the hook that a client calls around its tools
Reads the payload on standard input, prints the decision (nothing: allowed), and always exits with 0.
init registers it; nobody types it. What it did: git handoff doctor
`;

/** The help text of a verb, rendered by yargs from the table that parses its words. */
export async function helpText({ usage, summary, details, options, examples }: Verb): Promise<string> {
  const about = details === undefined ? summary : `${summary}\n${details}`;
  const program = yargs([])
    .scriptName('git handoff')
    .wrap(100)
    .locale('en')
    .version(false)
    .help(false)
    .usage(`usage: git handoff ${usage}\n\n${about}`)
    .options(yargsOptions({ ...options, ...COMMON_OPTIONS }));
  for (const [command, gloss] of examples) program.example(command, gloss);
  return `${await program.getHelp()}\n`;
}

function yargsOptions(table: OptionTable) {
  const option = ({ alias, value, describe }: OptionSpec) => ({
    describe: value === undefined ? describe : `${value}: ${describe}`,
    ...(alias === undefined ? {} : { alias }),
  });
  return Object.fromEntries(Object.entries(table).map(([name, spec]) => [name, option(spec)]));
}

/** The failure for a verb that does not exist; its hint names the verb with the most similar name. */
export function unknownVerb(verb: string): Failure {
  const near = Object.keys(VERBS)
    .map((known) => ({ known, distance: editDistance(verb, known) }))
    .sort((a, b) => a.distance - b.distance)[0];
  const hint = near !== undefined && near.distance <= 2 ? `git handoff ${near.known} -h` : 'git handoff -h';
  return new Failure('usage', `there is no verb ${JSON.stringify(verb)}`, { hint });
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= Math.min(a.length, 32); i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? b.length;
}

/** The groups in the order of help, with their titles. */
const GROUPS: Readonly<Record<VerbGroup, string>> = {
  notes: 'notes for the next session',
  sharing: 'working beside others',
  rescue: 'getting work back',
  remotes: 'other machines',
  setup: 'set-up',
};

/** The verbs that a bare `git handoff` lists, in the order in which users need them (as a bare `git` does). */
const COMMON = [
  ...['write', 'show', 'list', 'boot', 'take', 'close'],
  ...['status', 'commit', 'try', 'rescue', 'sync'],
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
