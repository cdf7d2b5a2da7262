import type { Verdict } from '../../agents/dialect.ts';
import { parseCommitWords } from '../../shell/commit-words.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import type { GitVerbCall } from '../../shell/effects.ts';
import { shellWord } from '../../domain/surfacing.ts';

/**
 * Gemini CLI's shell empties `core.hooksPath`: no hook of git's runs there, so nothing would look at what a raw
 * `git commit` takes along. Beside another live session that is refused; alone it goes unchecked.
 *
 * @param calls the git calls of the command that run in this worktree, in order
 * @param peers the other live sessions
 * @param git how git is typed for this worktree
 */
export function rawCommitVerdict(
  calls: readonly Pick<GitVerbCall, 'verb' | 'words'>[],
  peers: readonly SessionId[],
  git: string,
): Verdict | undefined {
  const commit = calls.find(({ verb }) => verb === 'commit');
  const [peer] = peers;
  if (commit === undefined || peer === undefined) return undefined;
  const others = peers.length > 1 ? ` (and ${peers.length - 1} more)` : '';
  return {
    kind: 'deny',
    reason:
      `No git hook runs in this shell, so nothing would keep what session ${shortId(peer)}${others} has changed out of ` +
      "the commit, and the repository's own checks would be skipped. Nothing was run. Commit your own changes with " +
      `this instead; it runs the repository's hooks and signing: ${git} handoff commit${messageWords(commit.words)}`,
  };
}

/** The message as it was typed, when all of it is known. */
export function messageWords(words: GitVerbCall['words']): string {
  const known = words.filter((word) => word !== undefined);
  const messages =
    known.length === words.length ? parseCommitWords(['git', 'commit', ...known])?.messages : [];
  if (messages === undefined || messages.length === 0) return " -m '<message>'";
  return messages.map((message) => ` -m ${shellWord(message)}`).join('');
}
