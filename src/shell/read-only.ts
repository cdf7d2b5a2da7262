/** Programs that only read; with these git verbs. No option of theirs that matters writes in the working tree. */
const READERS = new Set(
  'ls cat head tail wc grep egrep fgrep rg pwd file stat which type echo printf true date id uname whoami basename dirname realpath readlink du df ps env printenv'.split(
    ' ',
  ),
);
const GIT_READERS = new Set(
  'status log show diff blame describe rev-parse ls-files ls-tree cat-file shortlog reflog for-each-ref name-rev'.split(
    ' ',
  ),
);

/**
 * Whether a command line is one simple command that only reads, so that nobody needs to look at the working tree
 * around it. Anything that is not plainly so is not.
 */
export function readsOnly(command: string): boolean {
  if (/[;&|<>`$(){}\n\\]/.test(command)) return false;
  const words = command.trim().split(/\s+/);
  const [program = '', verb = ''] = words;
  if (program === 'git') return GIT_READERS.has(verb) && !words.some((word) => word.startsWith('--output'));
  return READERS.has(program) && !/=/.test(program) && !(program === 'env' && words.length > 1);
}
