import { renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { EventOf, StartedCommand } from '../domain/journal/events.ts';
import { emptyLedger } from '../domain/journal/fold.ts';
import { claimsInWindow, FORGOTTEN_MS } from '../domain/ledger/claim-events.ts';
import type { SessionLedger } from '../domain/ledger/claims.ts';
import { formatTreeStatus, parseTreeStatus } from '../domain/ledger/snapshot-text.ts';
import { ledgersIn, runningOwners, treesIn } from '../domain/ledger/sub-agents.ts';
import {
  changesBetween,
  CLOCK_SLACK_MS,
  type FileState,
  sameState,
  type TreeStatus,
  type Window,
  type WindowChange,
} from '../domain/ledger/tree-status.ts';
import { AGENT_VARIABLE, type Oid, ownerId, type SessionId, sessionOfOwner } from '../domain/names.ts';
import { discoverRepository, type FoundRepository, readHead } from '../git/discover.ts';
import { isAncestor } from '../git/histories.ts';
import { listTree } from '../git/staged.ts';
import { exactStatOf, randomName, readText, realPath, statOf } from '../host/disk.ts';
import { ensureFolder, isInitialised, knownWorktreeId, lookFile, share } from '../host/folders.ts';
import { beforeAnswer, type Budget } from '../host/io.ts';
import { beganAt, processTable } from '../host/processes.ts';
import { appendEvents, type LedgerPlace, readJournal, readLedger, readLedgers } from '../sessions/journal.ts';
import { isLoneSession } from '../sessions/lone-session.ts';

export interface WorkPlace extends LedgerPlace {
  readonly top: string;
  readonly gitDir: string;
}

/** `path` is relative to the worktree's top, with `/` as separator. */
export interface PlacedPath {
  readonly found: FoundRepository;
  readonly path: string;
}

/** Finds the worktree that contains a path, wherever the session works. */
export function placePath(absolute: string, follows: boolean): PlacedPath | undefined {
  const real = realPath(absolute, follows);
  const found = discoverRepository(dirname(real));
  if (found === undefined) return undefined;
  const path = relative(found.workTree, real).replaceAll(sep, '/');
  return path === '' || path.startsWith('../') || path.startsWith('.git/') ? undefined : { found, path };
}

/** A session's ledger in a worktree; `undefined` if it works alone, no session was ever there, or `init` did not run. */
export function ledgerOf(found: FoundRepository, session: SessionId): WorkPlace | undefined {
  const { commonDir, gitDir } = found;
  const worktreeId = knownWorktreeId(gitDir);
  if (worktreeId === undefined || !isInitialised(commonDir) || isLoneSession(gitDir, session))
    return undefined;
  return { commonDir, gitDir, worktreeId, top: realPath(found.workTree) };
}

/** The ledgers of a worktree: all, the owner's own (maybe empty), and the others'. */
export interface Ledgers {
  readonly all: readonly SessionLedger[];
  readonly self: SessionLedger;
  /** The ledgers of others. A sub-agent's siblings count as others, but a session's own sub-agents do not. */
  readonly others: readonly SessionLedger[];
}

/** Reads the ledgers of a worktree for an owner (a session or a sub-agent). */
export function openLedgers(place: LedgerPlace, owner: SessionId): Ledgers {
  const all = readLedgers(place);
  const self = all.find((one) => one.session === owner) ?? emptyLedger(owner);
  const session = sessionOfOwner(owner);
  const isOwn = (id: SessionId) =>
    id === owner || id === session || (owner === session && sessionOfOwner(id) === session);
  return { all, self, others: all.filter((one) => !isOwn(one.session)) };
}

/** Returns the ids of news that the owner has not heard, except news to itself. A newcomer need not hear older news. */
export function undeliveredIds({ all, self }: Ledgers): string[] {
  const news = all.flatMap((ledger) => ledger.news);
  return news.flatMap(({ id, to }) => (to === self.session || self.notified.has(id) ? [] : id));
}

/** Records that an owner has heard the news with these ids. */
export function markNotified(place: LedgerPlace, owner: SessionId, ids: readonly string[], at: number): void {
  if (ids.length > 0) appendEvents(place, owner, [{ t: 'notified', ids, at }]);
}

/** Returns how many milliseconds one `git status` may take; if it is slower, the guard answers without it. */
export function lookTimeoutMs({ budget }: { readonly budget: Budget }): number {
  return beforeAnswer(budget);
}

/**
 * Where the statuses of a working tree are kept. A session's journal has one from when it began to work alone (its start list),
 * one from when this was interrupted (its pause), and one from before each of its running shell commands.
 * `handoff/looks/<worktree id>` has the newest status, whoever read it.
 */

/** The id of the window that opens for a running tool call when another session arrives: the call may be a command. */
export const ARRIVAL = 'arrival';

/** A shell command that runs now, with the working tree as it was before. */
export interface OpenWindow extends Window, StartedCommand {
  readonly to: undefined;
  readonly status: TreeStatus;
}

/** Records what is dirty when a session begins to work alone or, with `paused`, when that session has ended. */
export function putStart(
  place: LedgerPlace,
  session: SessionId,
  status: TreeStatus,
  t: 'alone' | 'paused' = 'alone',
): void {
  appendEvents(place, session, [{ t, look: formatTreeStatus(status), at: status.at }]);
}

/** Returns what was dirty when a session began to work alone; `undefined` when it has no start list. */
export function readStart(place: LedgerPlace, session: SessionId): TreeStatus | undefined {
  return parseTreeStatus(readLedger(place, session).lasting.alone?.look ?? '');
}

/** Forgets the start list and its pause. */
export function removeStart(place: LedgerPlace, session: SessionId, now: number): void {
  const { alone, paused } = readLedger(place, session).lasting;
  if (alone !== undefined || paused !== undefined)
    appendEvents(place, session, [{ t: 'not-alone', at: now }]);
}

/** Returns what was dirty when a session ended or was found dead; `undefined` when its start list is not paused. */
export function readPause(place: LedgerPlace, session: SessionId): TreeStatus | undefined {
  return parseTreeStatus(readLedger(place, session).lasting.paused?.look ?? '');
}

/** Returns the newest status that anybody read of the worktree: files with the same stamp need not be read again. */
export function readLast(place: LedgerPlace): TreeStatus | undefined {
  return parseTreeStatus(readText(lookFile(place)));
}

/** Replaces the worktree's newest status atomically: a reader gets the old text or the new one. */
export function putLast(place: LedgerPlace, status: TreeStatus): void {
  const file = lookFile(place);
  const temporary = `${file}.${randomName()}.new`;
  ensureFolder(dirname(file));
  writeFileSync(temporary, formatTreeStatus(status), { mode: 0o600 });
  share(temporary);
  renameSync(temporary, file);
}

/** Whether HEAD may have moved since the newest status, judging by the times of the files that say where HEAD is. */
export function mayHaveMoved(place: LedgerPlace & { readonly gitDir: string }): boolean {
  const looked = statOf(lookFile(place))?.mtimeMs;
  if (looked === undefined) return false;
  const { gitDir, commonDir } = place;
  const ref = readHead(gitDir);
  const files = [
    join(gitDir, 'HEAD'),
    ...(ref === undefined || ref === 'HEAD' ? [] : [join(commonDir, ref)]),
  ];
  // With reftables, every update of a ref changes the list of tables.
  const tables = [gitDir, commonDir].map((folder) => join(folder, 'reftable', 'tables.list'));
  return [...files, ...(ref === undefined ? tables : [])].some(
    (file) => (statOf(file)?.mtimeMs ?? 0) >= looked,
  );
}

/** Records that a shell command begins. */
export function openWindow(
  place: LedgerPlace,
  session: SessionId,
  id: string,
  status: TreeStatus,
  about: Partial<StartedCommand> = {},
): void {
  const facts = { named: [], agent: '', commits: false, merged: '', looked: true, ...about };
  appendEvents(place, session, [
    { t: 'command', id, ...facts, look: formatTreeStatus(status), at: status.at },
  ]);
}

/** Whether a call is running whose changes are not in the session's ledger yet. */
export function hasCallsRunning(place: LedgerPlace, session: SessionId, now: number): boolean {
  const { commands, announced } = readLedger(place, session);
  return [...commands.values(), ...announced.values()].some(({ at }) => now - at <= FORGOTTEN_MS);
}

/** Whether the session or one of its agents, except `owner`, is running a command that commits. */
export function isCommittingBeside(commonDir: string, session: SessionId, owner: SessionId): boolean {
  return commandsOf(commonDir, session).some((one) => one.commits && one.session !== owner);
}

/** Whether a running call shows that the session's shell is in this folder: then a hint's command need not name the folder. */
export function isShellIn(commonDir: string, session: SessionId, folder: string): boolean {
  const place = realPath(folder);
  return commandsOf(commonDir, session).some(({ shell }) => shell === place);
}

/** The commands that a session and its sub-agents run now, in all worktrees. */
function commandsOf(commonDir: string, session: SessionId): OpenWindow[] {
  const journal = readJournal(commonDir, session);
  return treesIn(journal).flatMap((tree) => ledgersIn(journal, tree).flatMap(windowsOf));
}

/**
 * Returns the owner whose command runs this program: a running sub-agent of the session, or the session itself. If commands of
 * two agents commit at once, `AGENT_VARIABLE` names the agent. Otherwise it is the owner of the first command that commits or,
 * if none commits, the only owner that runs a command. In doubt, it is the session.
 */
export function commandOwner(commonDir: string, session: SessionId, env: NodeJS.ProcessEnv): SessionId {
  const agents = runningOwners(readJournal(commonDir, session));
  if (agents.length === 0) return session;
  const named = env[AGENT_VARIABLE];
  if (named !== undefined) return agents.find((owner) => owner === ownerId(session, named)) ?? session;
  const running = commandsOf(commonDir, session)
    .filter(({ id }) => id !== ARRIVAL)
    .sort((a, b) => a.from - b.from);
  const committing = running.find(({ commits }) => commits);
  const [only, ...more] = new Set(running.map((one) => one.session));
  return committing?.session ?? (more.length === 0 ? only : undefined) ?? session;
}

/** Returns the commands that run now, of one session or of all. */
export function readWindows(place: LedgerPlace, only?: SessionId): OpenWindow[] {
  const ledgers = only === undefined ? readLedgers(place) : [readLedger(place, only)];
  return ledgers.flatMap(windowsOf);
}

const windowsOf = ({ session, commands }: SessionLedger): OpenWindow[] =>
  [...commands.values()].map((one) => openWindowOf(session, one));

/** Parses the status from before the command only on demand: most callers need just the time. */
function openWindowOf(session: SessionId, { look, at: from, ...facts }: EventOf<'command'>): OpenWindow {
  let parsed: TreeStatus | undefined;
  return {
    ...{ session, from, to: undefined },
    ...facts,
    get status() {
      const nothing = { head: { ref: 'HEAD', oid: null }, dirty: new Map(), at: from };
      return (parsed ??= parseTreeStatus(look) ?? nothing);
    },
  };
}

/** If an agent's calls are further apart than this, they do not run at the same time: the earlier one is over. Milliseconds. */
export const TOGETHER_MS = 5000;

/**
 * When an agent makes its next call, forgets its earlier commands whose end nobody reported: they do not run any more, or the
 * user never approved them. Also forgets the command that was assumed when another session arrived.
 */
export function dropAbandoned(place: LedgerPlace, session: SessionId, agent: string, now: number): void {
  forget(place, session, now, (window) => {
    return window.id === ARRIVAL || (window.agent === agent && now - window.at > TOGETHER_MS);
  });
}

/** Records that a shell command is over. `mayOutliveCall`: whether a program that it started may run on in the background. */
export function closeWindow(
  place: LedgerPlace,
  window: OpenWindow,
  at: number,
  mayOutliveCall = false,
): void {
  const { id, from } = window;
  const goesOn = mayOutliveCall || undefined;
  appendEvents(place, window.session, [{ t: 'command-end', id, from, goesOn, at }]);
}

/** Closes the windows that a session left open when it ended. */
export function removeWindows(place: LedgerPlace, session: SessionId, now: number): void {
  forget(place, session, now, () => true);
}

function forget(
  place: LedgerPlace,
  session: SessionId,
  now: number,
  isOver: (command: EventOf<'command'>) => boolean,
): void {
  const over = [...readLedger(place, session).commands.values()].filter(isOver);
  appendEvents(
    place,
    session,
    over.map(({ id }) => ({ t: 'command-end', id, at: now })),
  );
}

/** A command of a session, with the working tree after it (or as it is now, if the command still runs). */
export interface Around {
  readonly top: string;
  readonly window: OpenWindow;
  readonly windows: readonly OpenWindow[];
  readonly after: TreeStatus;
  readonly ledgers: readonly SessionLedger[];
  /** The session that ran the command, and the sessions that count as one with it. */
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

/** Whether we no longer expect a report of the command's end: its session may have crashed, or its client given up on it. */
function isForgotten({ from, to }: Window, now: number): boolean {
  return to === undefined && now - from > FORGOTTEN_MS;
}

/** Returns what changed on the disk between two statuses. Files that only seem changed because HEAD has moved are left out. */
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
  // Once new commits contain a change, a further change to the path starts from what HEAD has now.
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

/** Whether a file's times say that it changed while a command ran: mtime or ctime, because a change of mode sets only ctime. */
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

/** The file with the pid of a committing git. Our lines in the pre-commit hook write it before other hooks run (git-hooks/). */
const COMMITTING_RECORD = 'handoff-committing';
/** By how much the known start time of a process may be off. Milliseconds. */
const START_SLACK_MS = 2000;

/**
 * Whether a commit is being made in the worktree: by a running shell command (except `over`, which has ended), by
 * `git handoff commit`, or by a git that has started its hooks. The hooks may have put unstaged changes aside.
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
  const record = join(gitDir, COMMITTING_RECORD);
  const [pid = ''] = readText(record).trim().split(' ');
  const since = /^[1-9]\d*$/.test(pid) ? processTable().runningSince(Number(pid)) : undefined;
  return since !== undefined && beganAt(since) <= (statOf(record)?.mtimeMs ?? 0) + START_SLACK_MS;
}
