import type { GitVerbCall } from './effects.ts';

/** Programs that only read: none of their usual options writes into the working tree. */
export const READERS: ReadonlySet<string> = new Set(
  'ls cat head tail wc grep egrep fgrep rg pwd file stat which type echo printf true date id uname whoami basename dirname realpath readlink du df ps env printenv'.split(
    ' ',
  ),
);
const GIT_READERS = new Set(
  'status log show diff blame describe rev-parse ls-files ls-tree cat-file shortlog reflog for-each-ref name-rev'.split(
    ' ',
  ),
);
const MORE_GIT_READERS = new Set(
  'annotate check-attr check-ignore cherry count-objects diff-files diff-index diff-tree fsck grep help ls-remote merge-base range-diff rev-list show-branch show-ref var verify-commit verify-tag version whatchanged'.split(
    ' ',
  ),
);
/** Verbs that only list if the next word matches, or if no word follows (except BARE_WRITES). */
const LISTING: Readonly<Record<string, RegExp>> = {
  bisect: /^(?:log|view|visualize)$/,
  branch:
    /^(?:-[avr]+|--(?:all|list|remotes|show-current|verbose|contains|merged|no-merged|format=.*|sort=.*))$/,
  config: /^(?:-l|--list|--get.*|get|list)$/,
  notes: /^(?:list|show)$/,
  remote: /^(?:-v|--verbose|show|get-url)$/,
  stash: /^(?:list|show)$/,
  submodule: /^(?:status|summary)$/,
  tag: /^(?:-l|-n.*|--list|--contains|--merged|--sort=.*)$/,
  worktree: /^list$/,
};
const BARE_WRITES = new Set(['stash', 'config', 'bisect']);

/** Whether a git call, by its words, changes nothing in the repository where it runs. */
export function gitReads({ verb, words }: Pick<GitVerbCall, 'verb' | 'words'>): boolean {
  if (GIT_READERS.has(verb)) return verb !== 'reflog' || !/^(?:expire|delete|drop)$/.test(words[0] ?? '');
  if (MORE_GIT_READERS.has(verb)) return true;
  const [first] = words;
  if (words.length === 0) return LISTING[verb] !== undefined && !BARE_WRITES.has(verb);
  return first !== undefined && LISTING[verb]?.test(first) === true;
}

/** Whether a command line is a simple command that surely only reads: then the guard need not run `git status` around it. */
export function readsOnly(command: string): boolean {
  if (/[;&|<>`$(){}\n\\]/.test(command)) return false;
  const words = command.trim().split(/\s+/);
  const [program = '', verb = ''] = words;
  if (program === 'git') return GIT_READERS.has(verb) && !words.some((word) => word.startsWith('--output'));
  return READERS.has(program) && !/=/.test(program) && !(program === 'env' && words.length > 1);
}
