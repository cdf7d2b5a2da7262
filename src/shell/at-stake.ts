/**
 * A cheap test of a command's text: whether a lone session could use it to harm anything that the guard protects.
 * Commands that pass, as most do (`npm test`), need no analysis (analyse.ts), which then is not even loaded. The test
 * is wide on purpose: in doubt it asks for the analysis. A test case keeps the two consistent.
 */

/** What a text may be about, with the words that show it, once quotes and backslashes are removed. */
const WORDS: Readonly<Record<string, RegExp>> = {
  'the names of ours': /handoff|hand[^l\s]|memory|doff/i,
  'who is writing: the session variables, set, unset or wiped':
    /SESSION_ID|THREAD_ID|\benv -|\bunset|\bexec -/,
  'refs: by name, by a command that moves many, as files':
    /refs|update-ref|fetch|push|pull|remote|prune|filter-|fast-import|symbolic|\.git(?:\/|[ ;&]|$)/,
  'the folders of the predecessors’ notes': /\.claude|\/\.c|\/\.gem|projects/,
  'what makes words of text': /\beval|base64|xargs|alias|[a-z]\{[a-z]/i,
  'writers that follow a link': /\btee |\bcp |\bln |of=/,
  'another folder, which may be another worktree': / -C|\.\./,
  'git verbs that throw uncommitted work away or carry it off':
    /apply|checkout|switch|restore|reset|clean|stash|rebase|merge|bisect|read-tree|abort|skip|\brm\b|\bmv\b|-delete/,
  'what all worktrees share': /worktree|branch /,
  'programs that switch branches for one': /\bhub |\bgt |\bjj |\btown|gh co|gh pr|glab |develop /,
  'git’s hooks, and whether they run': /hookspath|section|husky/i,
  'a redirection into a file': />(?![&>\s]|\/dev\/)|>\s+(?!\/dev\/)\S|>\s*\/(?!dev\/)/,
};

/** The longest command that is tested: longer ones are analysed, under rules of their own. Characters. */
const LONGEST = 8192;

/** Whether a command of a lone session may harm what the guard protects. */
export function mayBeAtStake(command: string): boolean {
  // `$'...'` may spell anything.
  if (command.length > LONGEST || command.includes("$'")) return true;
  const text = command.replace(/["'\\]/g, '');
  return Object.values(WORDS).some((words) => words.test(text));
}
