import { join } from 'node:path';
import { beganAt, processTable } from '../host/processes.ts';
import { statOf } from '../git/stat.ts';
import { readText } from '../host/disk.ts';
import type { LedgerPlace } from '../sessions/journal.ts';
import { isForgotten } from './window-changes.ts';
import { readWindows } from './windows.ts';

/** git's process, written by our lines in the pre-commit hook before any other hook runs (git-hooks/pre-commit). */
const RECORD = 'handoff-committing';
/** What a process's start is known to within. Milliseconds. */
const SLACK_MS = 2000;

/**
 * Whether a commit is being made in the worktree: its hooks may have put aside what is not staged. A person's or a
 * session's, by a command that runs, by `git handoff commit`, or by a git that has begun its hooks.
 *
 * @param over the window of a command that is over
 */
export function commitRuns(
  place: LedgerPlace & { readonly gitDir: string },
  now: number,
  over?: string,
): boolean {
  const windows = readWindows(place).filter((window) => window.commits && window.id !== over);
  return windows.some((window) => !isForgotten(window, now)) || gitRuns(place.gitDir);
}

/** The process that the record names runs, and is no later one with its pid: it began before the record was written. */
function gitRuns(gitDir: string): boolean {
  const record = join(gitDir, RECORD);
  const [pid = ''] = readText(record).trim().split(' ');
  const since = /^[1-9]\d*$/.test(pid) ? processTable().runningSince(Number(pid)) : undefined;
  return since !== undefined && beganAt(since) <= (statOf(record)?.mtimeMs ?? 0) + SLACK_MS;
}
