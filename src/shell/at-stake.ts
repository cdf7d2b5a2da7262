/**
 * A cheap test of a command's text: could the command, run by a lone session, harm what the guard protects? Most commands
 * (`npm test`) could not: for them, analyse.ts is not even loaded. When in doubt, we analyse the command. A unit test checks
 * that we skip no command that the analysis would act on.
 */

/** What a command may touch, and the words that reveal it. Quotes and backslashes in a command are removed before the match. */
const WORDS: Readonly<Record<string, RegExp>> = {
  'our own names': /handoff|hand[^l\s]|memory|doff/i,
  'who is calling: the session variables, set, unset or wiped':
    /SESSION_ID|THREAD_ID|\benv -|\bunset|\bexec -/,
  'refs: by name, by a command that moves many, or as files':
    /refs|update-ref|fetch|push|pull|remote|prune|filter-|fast-import|symbolic|\.git(?:\/|[ ;&]|$)/,
  'the folders that hold the predecessors’ notes': /\.claude|\/\.c|\/\.gem|projects/,
  'what turns text into words': /\beval|base64|xargs|alias|[a-z]\{[a-z]/i,
  'writers that follow a link': /\btee |\bcp |\bln |of=/,
  'another folder, which may be another worktree': / -C|\.\./,
  'git verbs that discard uncommitted work or carry it off':
    /apply|checkout|switch|restore|reset|clean|stash|rebase|merge|bisect|read-tree|abort|skip|\brm\b|\bmv\b|-delete/,
  'what all worktrees share': /worktree|branch /,
  'programs that switch branches by themselves': /\bhub |\bgt |\bjj |\btown|gh co|gh pr|glab |develop /,
  'git’s hooks, and whether they run': /hookspath|section|husky/i,
  'a redirection into a file': />(?![&>\s]|\/dev\/)|>\s+(?!\/dev\/)\S|>\s*\/(?!dev\/)/,
};

/** Characters. A longer command is always analysed. */
const LONGEST = 8192;

/** Whether a command of a lone session may harm what the guard protects. */
export function mayBeAtStake(command: string): boolean {
  // `$'...'` may spell anything.
  if (command.length > LONGEST || command.includes("$'")) return true;
  const text = command.replace(/["'\\]/g, '');
  return Object.values(WORDS).some((words) => words.test(text));
}
