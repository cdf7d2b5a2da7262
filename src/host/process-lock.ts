import { linkSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { randomName, readText } from './disk.ts';
import { removeFile, share } from './folders.ts';
import { type ProcessTable, processTable, stillRuns } from './processes.ts';

/** A lock that was taken, or who still held it when the patience was over. */
type ProcessLock =
  { readonly kind: 'held'; readonly release: () => void } | { readonly kind: 'busy'; readonly by: string };

/** Milliseconds. */
const LONGEST_PAUSE_MS = 120;
const FIRST_PAUSE_MS = 4;
/** How often who holds a lock says that it is still at work. Milliseconds. */
const SIGN_MS = 60_000;
/** After so long without such a sign, a lock counts as left by a process of which nothing can be known. Milliseconds. */
const SILENT_MS = 5 * SIGN_MS;

/**
 * Takes a lock that one process holds at a time, also from a process that is gone. A process that ends while it holds the
 * lock, like a hook whose time is over, gives it back.
 *
 * @param who one word that tells a waiting process who holds the lock
 */
export async function takeLock(lock: string, who: string, patienceMs: number): Promise<ProcessLock> {
  const own = `${lock}.${randomName()}`;
  const text = processWords(who, process.pid);
  let sign: NodeJS.Timeout | undefined;
  const release = () => {
    clearInterval(sign);
    process.removeListener('exit', release);
    removeFile(own);
    if (readLock(lock) === text) removeFile(lock);
  };
  process.once('exit', release);
  try {
    writeFileSync(own, text);
    share(own);
    const end = Date.now() + patienceMs;
    for (let pause = FIRST_PAUSE_MS; !linked(own, lock); pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const held = readLock(lock);
      if (isLeft(lock, held, processTable(), Date.now())) takeAway(lock, held);
      else if (Date.now() > end) return { kind: 'busy', by: held.split(' ')[0] ?? '' };
      else await new Promise((resolve) => setTimeout(resolve, Math.random() * pause));
    }
    sign = setInterval(() => touch(lock), SIGN_MS).unref();
    return { kind: 'held', release };
  } finally {
    if (sign === undefined) release();
    else removeFile(own);
  }
}

/**
 * The words that name a process in a file, so that another process can tell whether it still runs: who it is, its pid, its
 * start, a random word, and where that pid means something.
 */
export function processWords(who: string, pid: number): string {
  const table = processTable();
  return `${who} ${pid} ${table.startOf(pid) ?? '-'} ${randomName()} ${spaceOf(table)}`;
}

/** The boot and the space of pids: those of another machine or container mean nothing here. */
const spaceOf = ({ bootId, pidNs }: ProcessTable) => `${bootId ?? ''}/${pidNs ?? ''}`;

/** The process that a file names; `undefined` if its words are of none, or of one whose pid means nothing here. */
export function namedProcess(words: string, table: ProcessTable) {
  const [, pid = '', start = '', , space] = words.trim().split(' ');
  if (!/^[1-9]\d*$/.test(pid) || (space !== undefined && space !== spaceOf(table))) return undefined;
  return { pid: Number(pid), start };
}

/**
 * Whether the process that a lock names is gone. Of one in another container, or hidden from this user, as of a lock that this
 * user may not read, only the signs that it gives tell.
 *
 * @param words what the lock holds
 */
export function isLeft(lock: string, words: string, table: ProcessTable, now: number): boolean {
  const named = namedProcess(words, table);
  const runs = named === undefined ? undefined : stillRuns(named, table);
  if (runs !== undefined) return !runs;
  return now - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? now) > SILENT_MS;
}

/** Takes a dead process's lock away. If two do so at once, the second finds the first one's lock, and gives it back. */
function takeAway(lock: string, held: string): void {
  const aside = `${lock}.${randomName()}`;
  try {
    renameSync(lock, aside);
    if (readLock(aside) !== held) linked(aside, lock);
  } catch {
    // It is gone.
  } finally {
    removeFile(aside);
  }
}

/** link(2) makes the lock with its content or not at all. */
function linked(own: string, lock: string): boolean {
  try {
    linkSync(own, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

const readLock = (lock: string): string => readText(lock).trimEnd();

function touch(file: string): void {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // Somebody removed it.
  }
}
