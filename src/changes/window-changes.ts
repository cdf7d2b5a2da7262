import type { SessionLedger } from '../domain/ledger/claims.ts';
import {
  CLOCK_SLACK_MS,
  type FileState,
  type TreeStatus,
  type Window,
  type WindowChange,
  changesBetween,
  sameState,
} from '../domain/ledger/tree-status.ts';
import { FORGOTTEN_MS, claimsInWindow } from '../domain/ledger/claim-events.ts';
import type { Oid, SessionId } from '../domain/names.ts';
import { isAncestor } from '../git/histories.ts';
import { listTree } from '../git/staged.ts';
import { exactStatOf, statOf, readText } from '../host/disk.ts';
import { ARRIVAL, type OpenWindow, readWindows } from './windows.ts';
import { join } from 'node:path';
import { beganAt, processTable } from '../host/processes.ts';
import type { LedgerPlace } from '../sessions/journal.ts';

/** A command of a session, with the working tree after it (or as it is now, if the command still runs). */
export interface Around {
  readonly top: string;
  readonly window: OpenWindow;
  /** All commands that run now. */
  readonly windows: readonly OpenWindow[];
  readonly after: TreeStatus;
  readonly ledgers: readonly SessionLedger[];
  /** The session that ran the command, and the sessions that count as the same. */
  readonly own: ReadonlySet<SessionId>;
  readonly agent?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly timeoutMs?: number | undefined;
}

/** Returns claims on what changed while a session's command ran. */
export async function claimsAround(around: Around): Promise<ReturnType<typeof claimsInWindow>> {
  const { top, window, windows, after, ledgers, own, agent, now, timeoutMs } = around;
  const time = { session: window.session, id: window.id, from: window.from, to: now };
  return claimsInWindow({
    own,
    window: time,
    named: window.named,
    changes: await changesSince(top, window.status, after, timeoutMs),
    ledgers,
    running: windows.filter((one) => one.id !== ARRIVAL && !isForgotten(one, now)),
    agent,
    // Without a `git status` right before the command, a change to a path that the command does not name may be older.
    isTimely: (change) => window.looked && changedWithin(top, change, time),
  });
}

/** Whether a command's end was never reported, because its session crashed or its client gave up on it. */
function isForgotten({ from, to }: Window, now: number): boolean {
  return to === undefined && now - from > FORGOTTEN_MS;
}

/** Returns what changed on the disk between two statuses. If HEAD has moved, untouched files seem changed: they are left out. */
export async function changesSince(
  top: string,
  before: TreeStatus,
  after: TreeStatus,
  timeoutMs?: number,
): Promise<WindowChange[]> {
  const { oid } = before.head;
  if (oid === after.head.oid) return changesBetween(before, after);
  const fresh = [...after.dirty.values()].filter(({ path }) => !before.dirty.has(path));
  const paths = fresh.map(({ path }) => path);
  const was = await statesAt(top, oid, paths, timeoutMs);
  // What new commits contain is no longer uncommitted: a further change to the path starts from what HEAD has now.
  const moved = fresh.filter(
    ({ path, head, disk }) =>
      was.has(path) && ![head, disk].some((state) => sameState(state, was.get(path) ?? null)),
  );
  if (moved.length > 0 && (await isOnTop(top, oid, after.head.oid)))
    for (const { path, head } of moved) was.set(path, head);
  return changesBetween(before, after, was);
}

const isOnTop = async (top: string, former: Oid | null, now: Oid | null) =>
  former === null || (now !== null && (await isAncestor({ cwd: top }, former, now)));

/** Returns what a commit has at paths; `null` where it has no file, also for a submodule. */
export async function statesAt(
  top: string,
  commit: string | null,
  paths: readonly string[],
  timeoutMs?: number,
): Promise<Map<string, FileState>> {
  const states = new Map<string, FileState>(paths.map((path) => [path, null]));
  if (paths.length === 0 || commit === null) return states;
  for (const { path, mode, oid } of await listTree({ cwd: top, timeoutMs }, commit, paths)) {
    if (states.has(path)) states.set(path, { mode, oid });
  }
  return states;
}

/**
 * Whether a file's own times say that it was changed while a command ran. Both mtime and ctime count: a change of the mode
 * sets only ctime.
 */
export function changedWithin(
  top: string,
  { path, after }: Pick<WindowChange, 'path' | 'after'>,
  { from, to = from }: Window,
): boolean {
  // A deleted file has no times, and the times of a submodule's folder say nothing about its commit.
  if (after === null || after.mode === '160000') return true;
  const stat = exactStatOf(`${top}/${path}`);
  const times = stat === undefined ? [] : [Number(stat.mtimeNs) / 1e6, Number(stat.ctimeNs) / 1e6];
  return times.some((at) => at >= from - CLOCK_SLACK_MS && at <= to + CLOCK_SLACK_MS);
}

/** The file that identifies git's process. Our lines in the pre-commit hook write it before any other hook runs (git-hooks/). */
const RECORD = 'handoff-committing';
/** By how much the known start time of a process may be off. Milliseconds. */
const SLACK_MS = 2000;

/**
 * Whether anybody is making a commit in the worktree, so that its hooks may have put unstaged changes aside: with a running
 * command, with `git handoff commit`, or with a git that has started its hooks.
 *
 * @param over the id of a command that is over
 */
export function commitRuns(
  place: LedgerPlace & { readonly gitDir: string },
  now: number,
  over?: string,
): boolean {
  const windows = readWindows(place).filter((window) => window.commits && window.id !== over);
  return windows.some((window) => !isForgotten(window, now)) || gitRuns(place.gitDir);
}

/** Whether the recorded process runs. A process that began after the record was written is another one with the same pid. */
function gitRuns(gitDir: string): boolean {
  const record = join(gitDir, RECORD);
  const [pid = ''] = readText(record).trim().split(' ');
  const since = /^[1-9]\d*$/.test(pid) ? processTable().runningSince(Number(pid)) : undefined;
  return since !== undefined && beganAt(since) <= (statOf(record)?.mtimeMs ?? 0) + SLACK_MS;
}
