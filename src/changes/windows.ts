import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { jsonFields } from '../domain/json-fields.ts';
import type { TreeStatus, Window } from '../domain/ledger/tree-status.ts';
import { formatTreeStatus, parseTreeStatus } from '../domain/ledger/snapshot-text.ts';
import { type SessionId, parseSessionId } from '../domain/names.ts';
import { readHead } from '../git/discover.ts';
import { statOf } from '../git/stat.ts';
import { entries, readText } from '../host/disk.ts';
import { ensureFolder, removeFile } from '../host/folders.ts';
import { nameHash } from '../host/name-hash.ts';
import { putText } from '../host/output-file.ts';
import { type LedgerPlace, appendEntries, ledgerFolder } from './ledger.ts';

/**
 * Statuses beside a worktree's ledgers: `start/<session>` is what was dirty when the session began (or was left
 * alone), `pause/<session>` what was when that session ended or was found dead, `windows/<session>/<id>` what was
 * dirty before a shell command that runs now.
 */

/** The window that is opened for a session when a second one arrives, in case it runs a command just then. */
export const ARRIVAL = 'arrival';

/** A shell command that runs now, with the working tree as it was before. */
export interface OpenWindow extends Window {
  readonly to: undefined;
  readonly snapshot: TreeStatus;
  /** The sub-agent that runs it; empty for the session's own. */
  readonly agent: string;
  /** Paths that the command itself names as what it writes or removes. */
  readonly named: readonly string[];
  /** It runs `git commit`, whose hooks may put the whole tree aside for a while. */
  readonly commits: boolean;
  /** The tree that git had merged last when it began; empty when there was none. */
  readonly merged: string;
  /** The working tree was looked at before; else the snapshot is an older look's. */
  readonly looked: boolean;
}

const startFile = (place: LedgerPlace, session: SessionId) => `${ledgerFolder(place)}/start/${session}`;
const pauseFile = (place: LedgerPlace, session: SessionId) => `${ledgerFolder(place)}/pause/${session}`;
const lastFile = (place: LedgerPlace) => `${ledgerFolder(place)}/last`;
const windowFolder = (place: LedgerPlace) => `${ledgerFolder(place)}/windows`;

/** Remembers what was dirty when a session began to work alone. */
export function putStart(place: LedgerPlace, session: SessionId, snapshot: TreeStatus): void {
  ensureFolder(join(ledgerFolder(place), 'start'));
  putText(startFile(place, session), formatTreeStatus(snapshot));
}

/** What was dirty when a session began to work alone; `undefined` when it has no start list. */
export function readStart(place: LedgerPlace, session: SessionId): TreeStatus | undefined {
  return parseTreeStatus(readText(startFile(place, session)));
}

/** Whether a session has a start list. */
export function hasStart(place: LedgerPlace, session: SessionId): boolean {
  return statOf(startFile(place, session)) !== undefined;
}

/** Forgets the start list, and when it was paused. */
export function removeStart(place: LedgerPlace, session: SessionId): void {
  removeFile(startFile(place, session));
  removeFile(pauseFile(place, session));
}

/** Remembers the working tree as it was when a session that had worked alone was over. */
export function putPause(place: LedgerPlace, session: SessionId, snapshot: TreeStatus): void {
  ensureFolder(join(ledgerFolder(place), 'pause'));
  putText(pauseFile(place, session), formatTreeStatus(snapshot));
}

/** What was dirty when a session ended or was found dead; `undefined` when its start list does not wait for it. */
export function readPause(place: LedgerPlace, session: SessionId): TreeStatus | undefined {
  return parseTreeStatus(readText(pauseFile(place, session)));
}

/** Whether a start list waits for its session to come back. */
export function isPaused(place: LedgerPlace, session: SessionId): boolean {
  return statOf(pauseFile(place, session)) !== undefined;
}

/** The sessions that have a start list here. */
export function listStarts(place: LedgerPlace): SessionId[] {
  return entries(join(ledgerFolder(place), 'start')).flatMap((name) => parseSessionId(name) ?? []);
}

/** When a session that is over was last known to be at work here, milliseconds since the epoch. */
export function pausedAt(place: LedgerPlace, session: SessionId): number | undefined {
  return (statOf(pauseFile(place, session)) ?? statOf(startFile(place, session)))?.mtimeMs;
}

/** The worktree as anybody last saw it: files with the same stamp need not be read again. */
export function readLast(place: LedgerPlace): TreeStatus | undefined {
  return parseTreeStatus(readText(lastFile(place)));
}

/** Remembers the newest look at the working tree. */
export function putLast(place: LedgerPlace, snapshot: TreeStatus): void {
  ensureFolder(ledgerFolder(place));
  putText(lastFile(place), formatTreeStatus(snapshot));
}

/** Whether HEAD may have moved since anybody last looked, by the times of the files that say where it is. */
export function mayHaveMoved(place: LedgerPlace & { readonly gitDir: string }): boolean {
  const looked = statOf(lastFile(place))?.mtimeMs;
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
  snapshot: TreeStatus,
  {
    named = [],
    agent = '',
    commits = false,
    merged = '',
    looked = true,
  }: Partial<Pick<OpenWindow, 'named' | 'agent' | 'commits' | 'merged' | 'looked'>> = {},
): void {
  const folder = join(windowFolder(place), session);
  ensureFolder(folder);
  putText(
    join(folder, windowFile(id)),
    `${formatTreeStatus(snapshot)}\n${JSON.stringify({ named, agent, commits, merged, looked })}\n`,
  );
}

/** The commands that run now: of one session, or of all. */
export function readWindows(place: LedgerPlace, only?: SessionId): OpenWindow[] {
  const names = only === undefined ? entries(windowFolder(place)) : [only];
  return names.flatMap((name) => {
    const session = parseSessionId(name);
    if (session === undefined) return [];
    const folder = join(windowFolder(place), session);
    return entries(folder).flatMap((id): OpenWindow[] => {
      if (!isFileName(id)) return [];
      const [first = '', second = ''] = readText(join(folder, id)).split('\n');
      const snapshot = parseTreeStatus(first);
      if (snapshot === undefined) return [];
      return [{ session, id, from: snapshot.at, to: undefined, snapshot, ...readRest(second) }];
    });
  });
}

/** A commit that another session makes now. */
export function commitOfOthers(place: LedgerPlace, session: SessionId): OpenWindow | undefined {
  return readWindows(place).find((window) => window.commits && window.session !== session);
}

/** Calls of one agent that are this far apart are not made at once: the earlier one is over. Milliseconds. */
export const TOGETHER_MS = 5000;

/**
 * Forgets commands of an agent that cannot be running any more, because it makes its next call: those that the person
 * did not allow after all, and the one that another session's arrival took for granted.
 */
export function dropAbandoned(place: LedgerPlace, session: SessionId, agent: string, now: number): void {
  for (const window of readWindows(place, session)) {
    const isOver = window.id === ARRIVAL || (window.agent === agent && now - window.from > TOGETHER_MS);
    if (isOver) removeFile(join(windowFolder(place), session, windowFile(window.id)));
  }
}

/**
 * Notes that a shell command is over: its time stays in the ledger, its snapshot goes.
 *
 * @param goesOn what it started in the background may still run
 */
export function closeWindow(place: LedgerPlace, window: OpenWindow, at: number, goesOn = false): void {
  removeFile(join(windowFolder(place), window.session, windowFile(window.id)));
  const { id, from } = window;
  appendEntries(place, window.session, [{ t: 'window', id, from, ...(goesOn ? { goesOn } : {}), at }]);
}

/** Forgets what a session that is over left open. */
export function removeWindows(place: LedgerPlace, session: SessionId): void {
  rmSync(join(windowFolder(place), session), { recursive: true, force: true });
}

function readRest(text: string): Pick<OpenWindow, 'named' | 'agent' | 'commits' | 'merged' | 'looked'> {
  const { named, agent, commits, merged, looked } = jsonFields(text);
  return {
    commits: commits === true,
    merged: typeof merged === 'string' ? merged : '',
    looked: looked !== false,
    named: Array.isArray(named) ? named.filter((name) => typeof name === 'string') : [],
    agent: typeof agent === 'string' ? agent : '',
  };
}

const isFileName = (name: string) => /^[A-Za-z0-9_-]{1,100}$/.test(name);

/** A client's id of a tool call may hold anything. */
export function windowFile(id: string): string {
  return isFileName(id) ? id : nameHash(id);
}
