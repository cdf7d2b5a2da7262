import { dirname, join, relative, sep } from 'node:path';
import type { EventOf, StartedCommand } from '../domain/journal/events.ts';
import { FORGOTTEN_MS } from '../domain/ledger/claim-events.ts';
import type { SessionLedger } from '../domain/ledger/claims.ts';
import { ledgersIn, runningOwners, treesIn } from '../domain/ledger/sub-agents.ts';
import type { TreeStatus, Window } from '../domain/ledger/tree-status.ts';
import { formatTreeStatus, parseTreeStatus } from '../domain/ledger/snapshot-text.ts';
import { AGENT_VARIABLE, type SessionId, ownerId, sessionOfOwner } from '../domain/names.ts';
import { readHead, type FoundRepository, discoverRepository } from '../git/discover.ts';
import { statOf, readText, realPath } from '../host/disk.ts';
import { ensureFolder, lookFile, isInitialised, knownWorktreeId } from '../host/folders.ts';
import { putText } from '../host/output-file.ts';
import { type LedgerPlace, appendEvents, readJournal, readLedger, readLedgers } from '../sessions/journal.ts';
import { emptyLedger } from '../domain/journal/fold.ts';
import { type Budget, beforeAnswer } from '../host/io.ts';
import { isLoneSession } from '../sessions/lone-session.ts';

/** A worktree with its ledger. */
export interface WorkPlace extends LedgerPlace {
  readonly top: string;
  readonly gitDir: string;
}

/** A path of a worktree; `path` is relative to its top, with `/`. */
export interface PlacedPath {
  readonly found: FoundRepository;
  readonly path: string;
}

/** The worktree that a path lies in: the path's own, wherever the session works. */
export function placePath(absolute: string, follows: boolean): PlacedPath | undefined {
  const real = realPath(absolute, follows);
  const found = discoverRepository(dirname(real));
  if (found === undefined) return undefined;
  const path = relative(found.workTree, real).replaceAll(sep, '/');
  return path === '' || path.startsWith('../') || path.startsWith('.git/') ? undefined : { found, path };
}

/**
 * The worktree's ledger when this session keeps one there: it is on record and not alone. A lone session costs
 * nothing.
 */
export function ledgerOf(found: FoundRepository, session: SessionId): WorkPlace | undefined {
  const { commonDir, gitDir } = found;
  const worktreeId = knownWorktreeId(gitDir);
  if (worktreeId === undefined || !isInitialised(commonDir) || isLoneSession(gitDir, session))
    return undefined;
  return { commonDir, gitDir, worktreeId, top: realPath(found.workTree) };
}

/** The ledgers of a worktree, the owner's own (maybe empty) told apart. */
export interface Ledgers {
  readonly all: readonly SessionLedger[];
  readonly self: SessionLedger;
  /** Those of other sessions and, to a sub-agent, of its siblings; not those of a session's own sub-agents. */
  readonly others: readonly SessionLedger[];
}

/** Reads the ledgers of a worktree, for a session of it, or a sub-agent as an owner. */
export function openLedgers(place: LedgerPlace, owner: SessionId): Ledgers {
  const all = readLedgers(place);
  const self = all.find((one) => one.session === owner) ?? emptyLedger(owner);
  const session = sessionOfOwner(owner);
  const isOwn = (id: SessionId) =>
    id === owner || id === session || (owner === session && sessionOfOwner(id) === session);
  return { all, self, others: all.filter((one) => !isOwn(one.session)) };
}

/** Ids of what was told to everybody; one that arrives need not hear of what was before it. */
export function undeliveredIds({ all, self }: Ledgers): string[] {
  const news = all.flatMap((ledger) => ledger.news);
  return news.flatMap(({ id, to }) => (to === self.session || self.notified.has(id) ? [] : id));
}

/** Notes that an owner has heard these. */
export function markNotified(place: LedgerPlace, owner: SessionId, ids: readonly string[], at: number): void {
  if (ids.length > 0) appendEvents(place, owner, [{ t: 'notified', ids, at }]);
}

/** Milliseconds that one look at the working tree may take; what takes longer is not known. */
export function lookTimeoutMs({ budget }: { readonly budget: Budget }): number {
  return beforeAnswer(budget);
}

/**
 * How a working tree was at some moments: in the journal what was dirty when a session began to work alone (its start list),
 * when that was interrupted (its pause), and before each shell command that runs now; in `handoff/looks/<worktree id>` as
 * anybody last saw it.
 */

/** The window that is opened for a session when a second one arrives, in case it runs a command just then. */
export const ARRIVAL = 'arrival';

/** A shell command that runs now, with the working tree as it was before. */
export interface OpenWindow extends Window, StartedCommand {
  readonly to: undefined;
  readonly status: TreeStatus;
}

/** Remembers what was dirty when a session began to work alone, or (`paused`) when one that had is over. */
export function putStart(
  place: LedgerPlace,
  session: SessionId,
  status: TreeStatus,
  t: 'alone' | 'paused' = 'alone',
): void {
  appendEvents(place, session, [{ t, look: formatTreeStatus(status), at: status.at }]);
}

/** What was dirty when a session began to work alone; `undefined` when it has no start list. */
export function readStart(place: LedgerPlace, session: SessionId): TreeStatus | undefined {
  return parseTreeStatus(readLedger(place, session).loneStart?.look ?? '');
}

/** Forgets the start list, and when it was paused. */
export function removeStart(place: LedgerPlace, session: SessionId, now: number): void {
  const { loneStart, paused } = readLedger(place, session);
  if (loneStart !== undefined || paused !== undefined)
    appendEvents(place, session, [{ t: 'not-alone', at: now }]);
}

/** What was dirty when a session ended or was found dead; `undefined` when its start list does not wait for it. */
export function readPause(place: LedgerPlace, session: SessionId): TreeStatus | undefined {
  return parseTreeStatus(readLedger(place, session).paused?.look ?? '');
}

/** Whether a start list waits for its session to come back. */
export function isPaused(place: LedgerPlace, session: SessionId): boolean {
  return readLedger(place, session).paused !== undefined;
}

/** The sessions that have a start list here, and are not over for long. */
export function listStarts(place: LedgerPlace): SessionId[] {
  return readLedgers(place).flatMap(({ session, loneStart }) => (loneStart === undefined ? [] : [session]));
}

/** The worktree as anybody last saw it: files with the same stamp need not be read again. */
export function readLast(place: LedgerPlace): TreeStatus | undefined {
  return parseTreeStatus(readText(lookFile(place)));
}

/** Remembers the newest look at the working tree. */
export function putLast(place: LedgerPlace, status: TreeStatus): void {
  const file = lookFile(place);
  ensureFolder(dirname(file));
  putText(file, formatTreeStatus(status));
}

/** Whether HEAD may have moved since anybody last looked, by the times of the files that say where it is. */
export function mayHaveMoved(place: LedgerPlace & { readonly gitDir: string }): boolean {
  const looked = statOf(lookFile(place))?.mtimeMs;
  if (looked === undefined) return false;
  const { gitDir, commonDir } = place;
  const ref = readHead(gitDir);
  const files = [
    join(gitDir, 'HEAD'),
    ...(ref === undefined || ref === 'HEAD' ? [] : [join(commonDir, ref)]),
  ];
  // Of a reftable, whatever moved changes the list of its tables.
  const tables = [gitDir, commonDir].map((folder) => join(folder, 'reftable', 'tables.list'));
  return [...files, ...(ref === undefined ? tables : [])].some(
    (file) => (statOf(file)?.mtimeMs ?? 0) >= looked,
  );
}

/** Notes that a shell command begins. */
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

/** Whether a session's call runs whose changes its ledger does not have yet. */
export function hasCallsRunning(place: LedgerPlace, session: SessionId, now: number): boolean {
  const { commands, announced } = readLedger(place, session);
  return [...commands.values(), ...announced.values()].some(({ at }) => now - at <= FORGOTTEN_MS);
}

/** Whether another agent of a session runs a command that commits. */
export function isCommittingBeside(commonDir: string, session: SessionId, owner: SessionId): boolean {
  return commandsOf(commonDir, session).some((one) => one.commits && one.session !== owner);
}

/**
 * Whether a session's shell is in a folder, as far as the calls that run now tell: a command that is typed there next need
 * not say where it means.
 */
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
 * Returns whose command runs this program: a running sub-agent of the session, or the session itself. A command names its
 * agent (`AGENT_VARIABLE`) if it commits while another one does. Else it is the first that commits or, if none does, one of
 * the only agent that runs any. In doubt it is the session's.
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

/** The commands that run now: of one session, or of all. */
export function readWindows(place: LedgerPlace, only?: SessionId): OpenWindow[] {
  const ledgers = only === undefined ? readLedgers(place) : [readLedger(place, only)];
  return ledgers.flatMap(windowsOf);
}

const windowsOf = ({ session, commands }: SessionLedger): OpenWindow[] =>
  [...commands.values()].map((one) => openWindowOf(session, one));

/** What was seen before the command is parsed where somebody asks: most only ask for its time. */
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

/** Calls of one agent that are this far apart are not made at once: the earlier one is over. Milliseconds. */
export const TOGETHER_MS = 5000;

/**
 * Forgets commands of an agent that cannot be running any more, because it makes its next call: those that the person
 * did not allow after all, and the one that another session's arrival took for granted.
 */
export function dropAbandoned(place: LedgerPlace, session: SessionId, agent: string, now: number): void {
  forget(place, session, now, (window) => {
    return window.id === ARRIVAL || (window.agent === agent && now - window.at > TOGETHER_MS);
  });
}

/**
 * Notes that a shell command is over.
 *
 * @param mayOutliveCall what it started in the background may still run
 */
export function closeWindow(
  place: LedgerPlace,
  window: OpenWindow,
  at: number,
  mayOutliveCall = false,
): void {
  const { id, from } = window;
  appendEvents(place, window.session, [
    { t: 'command-end', id, from, ...(mayOutliveCall ? { goesOn: mayOutliveCall } : {}), at },
  ]);
}

/** Forgets what a session that is over left open. */
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
