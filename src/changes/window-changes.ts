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

/** A command of a session, with the working tree after it (or as it is now, while it runs). */
export interface Around {
  readonly top: string;
  readonly window: OpenWindow;
  /** All commands that run now. */
  readonly windows: readonly OpenWindow[];
  readonly after: TreeStatus;
  readonly ledgers: readonly SessionLedger[];
  /** The sessions that count as the one that ran it; its own is among them. */
  readonly own: ReadonlySet<SessionId>;
  readonly agent?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly timeoutMs?: number | undefined;
}

/** The claims on what changed while a session's command ran. */
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
    // Without a look before, what nobody named may have been there.
    isTimely: (change) => window.looked && changedWithin(top, change, time),
  });
}

/** A command whose end nobody has reported: the session has crashed, or its client gave it up. */
function isForgotten({ from, to }: Window, now: number): boolean {
  return to === undefined && now - from > FORGOTTEN_MS;
}

/** What changed on the disk between two looks. Where HEAD has moved, a file that was left alone only looks changed. */
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
  // What was committed on top is no uncommitted change any more: a file that changed begins with what HEAD has now.
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

/** What a commit has at paths; `null` where it has nothing. Submodules are left out. */
export async function statesAt(
  top: string,
  commit: string | null,
  paths: readonly string[],
  timeoutMs?: number,
): Promise<Map<string, FileState>> {
  const states = new Map<string, FileState>(paths.map((path) => [path, null]));
  if (paths.length === 0 || commit === null) return states;
  for (const { path, mode, oid } of await listTree(top, commit, paths, { timeoutMs })) {
    if (states.has(path)) states.set(path, { mode, oid });
  }
  return states;
}

/**
 * Whether a file's own times say that it was changed while a command ran. Both of the inode count: a change of the mode
 * leaves that of the content.
 */
export function changedWithin(
  top: string,
  { path, after }: WindowChange,
  { from, to = from }: Window,
): boolean {
  // What is gone has no time, and that of a submodule's folder says nothing about its commit.
  if (after === null || after.mode === '160000') return true;
  const stat = exactStatOf(`${top}/${path}`);
  const times = stat === undefined ? [] : [Number(stat.mtimeNs) / 1e6, Number(stat.ctimeNs) / 1e6];
  return times.some((at) => at >= from - CLOCK_SLACK_MS && at <= to + CLOCK_SLACK_MS);
}

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
