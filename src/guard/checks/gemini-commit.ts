import type { Verdict } from '../../agents/dialect.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import type { GitVerbCall } from '../../shell/effects.ts';
import { type Instead, commitInstead } from './commit-instead.ts';

/**
 * Gemini CLI's shell empties `core.hooksPath`: no hook of git's runs there, so nothing would look at what a raw
 * `git commit` takes along. Beside another live session that is refused; alone it goes unchecked.
 *
 * @param commit the first commit of the command in this worktree
 * @param peers the other live sessions
 */
export function rawCommitVerdict(
  commit: GitVerbCall,
  peers: readonly SessionId[],
  how: Instead,
): Verdict | undefined {
  const [peer] = peers;
  if (peer === undefined) return undefined;
  const others = peers.length > 1 ? ` (and ${peers.length - 1} more)` : '';
  return {
    kind: 'deny',
    reason:
      `No git hook runs in this shell, so nothing would keep what session ${shortId(peer)}${others} has changed out of ` +
      "the commit, and the repository's own checks would be skipped. Nothing was run. Commit your own changes with " +
      `this instead; it runs the repository's hooks and signing: ${commitInstead(commit, how)}`,
  };
}
