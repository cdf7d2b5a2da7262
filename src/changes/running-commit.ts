import { join } from 'node:path';
import { processTable } from '../host/processes.ts';
import { statOf } from '../git/stat.ts';
import { readText } from '../host/disk.ts';
import type { LedgerPlace } from './ledger.ts';
import { isForgotten } from './window-changes.ts';
import { readWindows } from './windows.ts';

/** git's process and its start time, written by our lines in the pre-commit hook before any other hook runs. */
const RECORD = 'handoff-committing';
/** Where the start of a process cannot be compared, the record counts for so long. Milliseconds. */
const RECORD_MS = 10 * 60_000;

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
  return windows.some((window) => !isForgotten(window, now)) || gitRuns(place.gitDir, now);
}

function gitRuns(gitDir: string, now: number): boolean {
  const record = join(gitDir, RECORD);
  const [pid = '', start = ''] = readText(record).trim().split(' ');
  if (!/^[1-9]\d*$/.test(pid)) return false;
  const since = processTable().runningSince(Number(pid));
  if (since === undefined) return false;
  return start === '-' ? now - (statOf(record)?.mtimeMs ?? 0) < RECORD_MS : since === start;
}
