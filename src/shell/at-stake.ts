/**
 * A cheap test of a command's text: whether a session that works alone could harm anything with it that the guard protects. The
 * analysis of the command (analyse.ts) need not be loaded for what passes, which is most of what is typed (`npm test`). Wide on
 * purpose: it errs towards the analysis, and a test holds the two together.
 */

/** By what a text may be about; each is looked for behind the removal of quotes and backslashes. */
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

/** Longer commands are analysed, which has rules of its own for them. Characters. */
const LONGEST = 8192;

/** Whether a command may put at stake what the guard protects from a session that works alone. */
export function mayBeAtStake(command: string): boolean {
  // `$'...'` may spell anything.
  if (command.length > LONGEST || command.includes("$'")) return true;
  const text = command.replace(/["'\\]/g, '');
  return Object.values(WORDS).some((words) => words.test(text));
}
