import { linkSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { quietly, randomName, readText } from './disk.ts';
import { removeFile, share } from './folders.ts';
import { type ProcessTable, processTable, stillRuns } from './processes.ts';

/** A lock that we have taken, or the name of its holder if we waited in vain. */
type ProcessLock =
  { readonly kind: 'held'; readonly release: () => void } | { readonly kind: 'busy'; readonly by: string };

const LONGEST_PAUSE_MS = 120;
const FIRST_PAUSE_MS = 4;
/** How often a process that holds a lock shows a sign of life: it sets the lock's time. Milliseconds. */
const SIGN_MS = 60_000;
/** Milliseconds without a sign of life after which a lock counts as left, if we cannot know whether its process runs. */
const SILENT_MS = 5 * SIGN_MS;

/**
 * Takes a lock that only one process can hold, if need be from a process that is gone. A process that still has the lock when it
 * exits, like a hook whose time is over, releases it.
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
    // Somebody may have removed the lock.
    sign = setInterval(() => quietly(() => utimesSync(lock, new Date(), new Date())), SIGN_MS).unref();
    return { kind: 'held', release };
  } finally {
    if (sign === undefined) release();
    else removeFile(own);
  }
}

/**
 * Returns the words that name a process in a file: `who`, its pid, its start, a random word, and its boot and pid namespace.
 * Another process can tell from them whether the named process still runs.
 */
export function processWords(who: string, pid: number): string {
  const table = processTable();
  return `${who} ${pid} ${table.startOf(pid) ?? '-'} ${randomName()} ${spaceOf(table)}`;
}

/** Returns the boot and the pid namespace. A pid of another machine or container means nothing here. */
const spaceOf = ({ bootId, pidNs }: ProcessTable) => `${bootId ?? ''}/${pidNs ?? ''}`;

/** Returns the process that a file names; `undefined` if it names none, or one whose pid means nothing here. */
export function namedProcess(words: string, table: ProcessTable) {
  const [, pid = '', start = '', , space] = words.trim().split(' ');
  if (!/^[1-9]\d*$/.test(pid) || (space !== undefined && space !== spaceOf(table))) return undefined;
  return { pid: Number(pid), start };
}

/**
 * Whether the process that a lock names is gone (`words` is the lock's text). If we cannot find out, because the process is in
 * another container, or this user may not see it or read the lock, we judge by its signs of life.
 */
export function isLeft(lock: string, words: string, table: ProcessTable, now: number): boolean {
  const named = namedProcess(words, table);
  const runs = named === undefined ? undefined : stillRuns(named, table);
  if (runs !== undefined) return !runs;
  return now - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? now) > SILENT_MS;
}

/** Removes a dead process's lock. If it turns out to be another process's new lock, puts it back. */
function takeAway(lock: string, held: string): void {
  const aside = `${lock}.${randomName()}`;
  try {
    renameSync(lock, aside);
    if (readLock(aside) !== held) linked(aside, lock);
  } catch {
    // The lock is gone.
  } finally {
    removeFile(aside);
  }
}

/** Makes the lock. link(2) makes it with its content, or not at all. */
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
