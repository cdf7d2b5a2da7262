import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { LedgerEntry, SessionLedger } from '../domain/ledger/claims.ts';
import { foldLedger } from '../domain/ledger/fold.ts';
import { compactEntries } from '../domain/ledger/compact.ts';
import { formatEntries, parseEntries } from '../domain/ledger/entries.ts';
import { type SessionId, parseSessionId } from '../domain/names.ts';
import { entries as namesIn, readText } from '../host/disk.ts';
import { ensureFolder, repositoryFolder } from '../host/folders.ts';

/**
 * The ledger on the disk: `<common>/handoff/ledger/<worktree-id>/<session>.jsonl`, appended to by any process
 * (mostly its own session's). No lock is taken to append: one write(2) in append mode, then a look whether the
 * file was replaced meanwhile. See `compact`.
 */
export interface LedgerPlace {
  readonly commonDir: string;
  readonly worktreeId: string;
}

const SUFFIX = '.jsonl';
/** A file beyond this, and twice as big as when it was last rewritten, is rewritten. Bytes. */
const COMPACT_AT = 128 * 1024;
/** What only matters for a while (events, windows, commits) is forgotten after this. Milliseconds. */
const FORGET_MS = 6 * 3600_000;
/** A compaction that takes longer than this has died. Milliseconds. */
const STALE_LOCK_MS = 10_000;

/** The folder of a worktree’s ledgers. */
export function ledgerFolder({ commonDir, worktreeId }: LedgerPlace): string {
  return `${repositoryFolder(commonDir)}/ledger/${worktreeId}`;
}

/** The file of one session. */
export function ledgerFile(place: LedgerPlace, session: SessionId): string {
  return `${ledgerFolder(place)}/${session}${SUFFIX}`;
}

/** The ledgers of every session that has one in this worktree. */
export function readLedgers(place: LedgerPlace): SessionLedger[] {
  return namesIn(ledgerFolder(place)).flatMap((name) => {
    const session = name.endsWith(SUFFIX) ? parseSessionId(name.slice(0, -SUFFIX.length)) : undefined;
    return session === undefined ? [] : [readLedger(place, session)];
  });
}

/** The ledgers of every worktree of a repository. */
export function readAllLedgers(commonDir: string): { place: LedgerPlace; ledger: SessionLedger }[] {
  return ledgerPlaces(commonDir).flatMap((place) => readLedgers(place).map((ledger) => ({ place, ledger })));
}

/** Every worktree that has a folder for ledgers. */
export function ledgerPlaces(commonDir: string): LedgerPlace[] {
  const folder = join(repositoryFolder(commonDir), 'ledger');
  return namesIn(folder).map((worktreeId) => ({ commonDir, worktreeId }));
}

/** One session's ledger; an empty one when there is none. A torn last line is no entry. */
export function readLedger(place: LedgerPlace, session: SessionId): SessionLedger {
  return foldLedger(session, parseEntries(readText(ledgerFile(place, session))));
}

/** Adds entries to a session's ledger. */
export function appendEntries(place: LedgerPlace, session: SessionId, entries: readonly LedgerEntry[]): void {
  if (entries.length === 0) return;
  const file = ledgerFile(place, session);
  ensureFolder(ledgerFolder(place));
  const size = appendText(file, formatEntries(entries));
  if (size > COMPACT_AT && size > 2 * compactedSize(file)) compact(place, session);
}

/** The first line of a file that was rewritten says how big it was then. It is no entry. */
function compactedSize(file: string): number {
  const descriptor = openSync(file, 'r');
  try {
    const beginning = Buffer.alloc(64);
    readSync(descriptor, beginning, 0, beginning.length, 0);
    return Number(/^\{"compacted":(\d+)\}\n/.exec(beginning.toString())?.[1] ?? 0);
  } finally {
    closeSync(descriptor);
  }
}

/** Appends, and appends again when the file was replaced under our hands. Returns the file's size. */
function appendText(file: string, text: string): number {
  for (;;) {
    const descriptor = openSync(file, 'a+', 0o600);
    try {
      const { size, ino } = fstatSync(descriptor);
      // A writer that died in the middle of a line must not swallow ours.
      const last = Buffer.alloc(1, '\n');
      if (size > 0) readSync(descriptor, last, 0, 1, size - 1);
      writeSync(descriptor, last.toString() === '\n' ? text : `\n${text}`);
      const found = statSync(file, { throwIfNoEntry: false });
      if (found?.ino === ino) return size + text.length;
    } finally {
      closeSync(descriptor);
    }
  }
}

/**
 * Rewrites the file with the open claims only. Nothing that others append is lost: after the rename the old
 * file's tail is read once more, and whoever appended later sees that the file is another one and repeats.
 */
export function compact(place: LedgerPlace, session: SessionId, now = Date.now()): void {
  const file = ledgerFile(place, session);
  const lock = `${file}.lock`;
  if (!takeLock(lock, now)) return;
  try {
    const descriptor = openSync(file, 'r');
    try {
      const text = readFileSync(descriptor, 'utf8');
      const ledger = foldLedger(session, parseEntries(text));
      const temporary = `${file}.new`;
      const entries = formatEntries(compactEntries(ledger, now - FORGET_MS));
      writeFileSync(temporary, `{"compacted":${entries.length}}\n${entries}`, { mode: 0o600 });
      renameSync(temporary, file);
      const tail = readFileSync(descriptor, 'utf8');
      if (tail !== '') appendText(file, tail);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    rmSync(lock, { force: true });
  }
}

function takeLock(lock: string, now: number): boolean {
  try {
    writeFileSync(lock, '', { flag: 'wx' });
    return true;
  } catch {
    const age = now - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? now);
    if (age > STALE_LOCK_MS) rmSync(lock, { force: true });
    return false;
  }
}

/** Forgets a session's ledger here, for a session that is over and claims nothing. */
export function removeLedger(place: LedgerPlace, session: SessionId): void {
  rmSync(ledgerFile(place, session), { force: true });
}
