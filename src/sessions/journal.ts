import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { compactLines } from '../domain/journal/compact.ts';
import {
  type JournalEvent,
  type JournalLine,
  type SessionEvent,
  type WorktreeEvent,
  formatLines,
  ofAgent,
  parseLines,
} from '../domain/journal/events.ts';
import { type SessionJournal, emptyLedger, foldJournal } from '../domain/journal/fold.ts';
import type { SessionLedger } from '../domain/ledger/claims.ts';
import { ledgersIn, runningOwners, treesIn } from '../domain/ledger/sub-agents.ts';
import { type SessionId, agentOfOwner, parseSessionId, sessionOfOwner } from '../domain/names.ts';
import { entries, exists, readBeginning, readPart, readText } from '../host/disk.ts';
import { ensureFolder, journalFile, journalsFolder, removeFile, share } from '../host/folders.ts';
import { runningCall } from '../host/io.ts';
import { migrateState } from './migrate-state.ts';

/**
 * The journals on the disk: `<common dir>/handoff/sessions/<session>.jsonl` holds all that this clone remembers of a
 * session, except its record. Any process, usually one of the session itself, may append to it without a lock: by one
 * write(2) in append mode. The writer then checks that `compactJournal` has not replaced the file meanwhile. When a session is
 * over and leaves nothing uncommitted, its journal moves to `sessions/over/`, where other sessions' calls do not read it.
 */

/** A worktree of a repository. What a session's journal says about a worktree is the session's ledger there. */
export interface LedgerPlace {
  readonly commonDir: string;
  readonly worktreeId: string;
}

/** A journal is rewritten when it is bigger than this and twice as big as after its last rewrite. Bytes. */
const COMPACT_AT = 128 * 1024;
/** After this time we forget what matters only for a while (news, commands, commits). Milliseconds. */
const FORGET_MS = 6 * 3600_000;
/** If a compaction takes longer than this, its process has died. Milliseconds. */
const STALE_LOCK_MS = 10_000;

const overFolder = (commonDir: string): string => `${journalsFolder(commonDir)}/over`;

/** Reads a session's journal; it is empty if there is no file. */
export function readJournal(commonDir: string, session: SessionId): SessionJournal {
  migrateState(commonDir);
  const file = journalFile(commonDir, session);
  const known = readFile(file, session);
  if (known !== undefined) return known;
  return foldJournal(session, parseLines(readText(`${overFolder(commonDir)}/${session}.jsonl`)));
}

/** Reads the journals of a repository, except those of sessions that are over and leave nothing uncommitted. */
export function readJournals(commonDir: string): SessionJournal[] {
  migrateState(commonDir);
  return journalsIn(journalsFolder(commonDir)).flatMap((session) => {
    return readFile(journalFile(commonDir, session), session) ?? [];
  });
}

/** Reads the journals of all sessions, also of those that are over. */
export function readAllJournals(commonDir: string): SessionJournal[] {
  const over = closedJournals(commonDir).map(({ session }) => readJournal(commonDir, session));
  return [...over, ...readJournals(commonDir)];
}

/** The ledgers of every session that has one in this worktree, and of its running sub-agents. */
export function readLedgers({ commonDir, worktreeId }: LedgerPlace): SessionLedger[] {
  return readJournals(commonDir).flatMap((journal) => ledgersIn(journal, worktreeId));
}

/** The sub-agents that run in a repository, as owners. */
export function readRunningAgents(commonDir: string): SessionId[] {
  return readJournals(commonDir).flatMap(runningOwners);
}

/** The ledgers of every worktree of a repository. */
export function readAllLedgers(commonDir: string): { place: LedgerPlace; ledger: SessionLedger }[] {
  return readJournals(commonDir).flatMap((journal) =>
    treesIn(journal).flatMap((worktreeId) =>
      ledgersIn(journal, worktreeId).map((ledger) => ({ place: { commonDir, worktreeId }, ledger })),
    ),
  );
}

/** Returns an owner's ledger in a worktree, or an empty one. */
export function readLedger({ commonDir, worktreeId }: LedgerPlace, owner: SessionId): SessionLedger {
  const known = ledgersIn(readJournal(commonDir, sessionOfOwner(owner)), worktreeId);
  return known.find(({ session }) => session === owner) ?? emptyLedger(owner);
}

/** Adds to a session's journal what `owner`, the session or one of its sub-agents, did in a worktree. */
export function appendEvents(
  { commonDir, worktreeId }: LedgerPlace,
  owner: SessionId,
  events: readonly WorktreeEvent[],
): void {
  append(commonDir, owner, worktreeId, events);
}

/** Adds to a session's journal what the session did in the repository as a whole. */
export function appendSessionEvents(
  commonDir: string,
  owner: SessionId,
  events: readonly SessionEvent[],
): void {
  append(commonDir, owner, undefined, events);
}

/** Whether this call is the session's first to report `id`. It records `id` first: a kill may lose a report, never repeat it. */
export function isFirstToReport(
  commonDir: string,
  session: SessionId,
  id: string,
  by: string,
  now: number,
): boolean {
  if (readJournal(commonDir, session).notified.has(id)) return false;
  appendSessionEvents(commonDir, session, [{ t: 'notified', ids: [id], by, at: now }]);
  return readJournal(commonDir, session).notified.get(id)?.by === by;
}

function append(
  commonDir: string,
  owner: SessionId,
  tree: string | undefined,
  events: readonly JournalEvent[],
): void {
  if (events.length === 0) return;
  const session = sessionOfOwner(owner);
  const lines = events.map((event) => ({ tree, event: ofAgent(event, agentOfOwner(owner)) }));
  const file = journalFile(commonDir, session);
  ensureFolder(journalsFolder(commonDir));
  const size = appendText(file, formatLines(lines));
  runningCall()?.recorded.push({ commonDir, session, lines });
  if (size > COMPACT_AT && size > 2 * compactedSize(file)) compactJournal(commonDir, session);
}

/** Appends a text, and appends it again if the file was replaced meanwhile. Returns the file's size. */
function appendText(file: string, text: string): number {
  for (;;) {
    const descriptor = openSync(file, 'a+', 0o600);
    try {
      const { size, ino } = fstatSync(descriptor);
      if (size === 0) share(file);
      // If a writer died in the middle of a line, our text must not become a part of that line.
      const last = Buffer.alloc(1, '\n');
      if (size > 0) readSync(descriptor, last, 0, 1, size - 1);
      writeSync(descriptor, last.toString() === '\n' ? text : `\n${text}`);
      const isReplaced = statSync(file, { throwIfNoEntry: false })?.ino !== ino;
      if (!isReplaced) return fstatSync(descriptor).size;
    } finally {
      closeSync(descriptor);
    }
  }
}

/** Returns how big a file was after its last rewrite, according to its first line, which is no event. */
const compactedSize = (file: string): number =>
  Number(/^\{"compacted":(\d+)\}\n/.exec(readBeginning(file, 64) ?? '')?.[1] ?? 0);

/**
 * Rewrites a journal without the events that no longer count, and without losing what others append: after the rename, it
 * copies what was appended to the old file. A process that appends even later sees that the file was replaced, and appends
 * again.
 */
export function compactJournal(commonDir: string, session: SessionId, now = Date.now()): void {
  const file = journalFile(commonDir, session);
  const lock = `${file}.lock`;
  if (!takeLock(lock, now)) return;
  try {
    const descriptor = openSync(file, 'r');
    try {
      const events = parseLines(readFileSync(descriptor, 'utf8'));
      const lines = formatLines(compactLines(foldJournal(session, events), now - FORGET_MS));
      const temporary = `${file}.new`;
      writeFileSync(temporary, `{"compacted":${lines.length}}\n${lines}`, { mode: 0o600 });
      share(temporary);
      renameSync(temporary, file);
      const tail = readFileSync(descriptor, 'utf8');
      if (tail !== '') appendText(file, tail);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    removeFile(lock);
  }
}

function takeLock(lock: string, now: number): boolean {
  try {
    writeFileSync(lock, '', { flag: 'wx' });
    return true;
  } catch {
    const age = now - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? now);
    if (age > STALE_LOCK_MS) removeFile(lock);
    return false;
  }
}

/** Reopens the journal of a session that comes back, so that what the session did counts again. */
export function reopenJournal(commonDir: string, session: SessionId): void {
  const over = `${overFolder(commonDir)}/${session}.jsonl`;
  const text = readText(over);
  if (text === '') return;
  const file = journalFile(commonDir, session);
  // Either way, another process reads all of the text or none of it.
  if (exists(file)) appendText(file, text);
  else renameSync(over, file);
  removeFile(over);
}

/** Returns when a session's journal was last written, by any session; milliseconds since the epoch. */
export function lastWritten(commonDir: string, session: SessionId): number | undefined {
  return statSync(journalFile(commonDir, session), { throwIfNoEntry: false })?.mtimeMs;
}

/** Closes the journal of a session that is over and leaves nothing uncommitted: other sessions' calls no longer read it. */
export function closeJournal(commonDir: string, session: SessionId): void {
  ensureFolder(overFolder(commonDir));
  compactJournal(commonDir, session);
  renameSync(journalFile(commonDir, session), `${overFolder(commonDir)}/${session}.jsonl`);
}

/** The sessions whose journals were closed, and when they were last written. */
export function closedJournals(commonDir: string): { readonly session: SessionId; readonly at: number }[] {
  const folder = overFolder(commonDir);
  return journalsIn(folder).flatMap((session) => {
    const at = statSync(`${folder}/${session}.jsonl`, { throwIfNoEntry: false })?.mtimeMs;
    return at === undefined ? [] : [{ session, at }];
  });
}

export function removeJournal(commonDir: string, session: SessionId): void {
  for (const folder of [journalsFolder(commonDir), overFolder(commonDir)])
    removeFile(`${folder}/${session}.jsonl`);
}

function journalsIn(folder: string): SessionId[] {
  return entries(folder).flatMap((name) =>
    name.endsWith('.jsonl') ? (parseSessionId(name.slice(0, -'.jsonl'.length)) ?? []) : [],
  );
}

/** A journal as it was last read. Files only grow or are replaced, so we read only what was appended, or a new file. */
interface ReadJournal {
  readonly identity: string;
  readonly size: number;
  readonly lines: JournalLine[];
  readonly journal: SessionJournal;
}

/** The most journals that we keep in memory, because one call reads the same journals many times. */
const MAX_READ = 64;
const alreadyRead = new Map<string, ReadJournal>();

/** Reads a journal; after the first time, reads only what was appended. `undefined`: there is none. */
function readFile(file: string, session: SessionId): SessionJournal | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const known = alreadyRead.get(file);
  const identity = `${found.ino} ${found.birthtimeMs}`;
  const grown = known?.identity === identity && found.size >= known.size ? known : undefined;
  if (grown?.size === found.size) return grown.journal;
  const bytes = readPart(file, grown?.size ?? 0);
  if (bytes === undefined) return undefined;
  // If another process has not finished the last line, we read that line later.
  const whole = bytes.lastIndexOf('\n') + 1;
  const lines = [...(grown?.lines ?? []), ...parseLines(bytes.toString('utf8', 0, whole))];
  const journal = foldJournal(session, lines);
  if (alreadyRead.size >= MAX_READ) alreadyRead.clear();
  alreadyRead.set(file, { identity, size: (grown?.size ?? 0) + whole, lines, journal });
  return journal;
}
