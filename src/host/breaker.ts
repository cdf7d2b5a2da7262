import { existsSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureFolder, hungFolder } from './folders.ts';

/**
 * `<state folder>/hung/<worktree, % for />`: git hung in this worktree at the last call, or at the last two: then the file's
 * time is that until which a call has less of it. In the user's own folder, for the repository's may be what hangs. sh
 * reads it, too (bin/git-handoff).
 */

/** Milliseconds. */
const SHORT_MS = 5 * 60_000;

const fileOf = (state: string, top: string) => join(hungFolder(state), top.replaceAll('/', '%'));

/** Until when calls of this worktree have less time, milliseconds since the epoch; `undefined`: they have all of it. */
export function shortUntil(state: string, top: string, now: number): number | undefined {
  const until = statSync(fileOf(state, top), { throwIfNoEntry: false })?.mtimeMs;
  return until !== undefined && until > now ? until : undefined;
}

/**
 * Takes note of how git did at a call, so that the next calls of this worktree wait less for a git that hangs.
 *
 * @param git `undefined`: it was not asked
 */
export function noteGit(
  state: string,
  top: string,
  git: 'answers' | 'hung' | 'busy' | undefined,
  now: number,
): void {
  if (git === undefined) return;
  if (git === 'answers') forgetHung(state, top);
  // In a short time nothing can be told of a git that does not answer.
  else if (shortUntil(state, top, now) === undefined) {
    if (git === 'hung') noteHung(state, top, now);
    else forgetHung(state, top);
  }
}

/** git hung at a call. The second time running the next ones get less time. */
export function noteHung(state: string, top: string, now: number): void {
  const file = fileOf(state, top);
  const isSecond = existsSync(file);
  ensureFolder(hungFolder(state));
  writeFileSync(file, 'hung\n');
  // The first time: long ago, which no shell takes for later than now.
  const until = isSecond ? (now + SHORT_MS) / 1000 : 1;
  utimesSync(file, until, until);
}

/** git answered. */
export function forgetHung(state: string, top: string): void {
  rmSync(fileOf(state, top), { force: true });
}
