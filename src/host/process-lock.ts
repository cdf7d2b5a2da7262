import { linkSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { removeFile } from './folders.ts';
import { ownProcess, processTable } from './processes.ts';
import { randomName } from './random-name.ts';

/** A lock that was taken, or who still held it when the patience was over. */
type ProcessLock =
  { readonly kind: 'held'; readonly release: () => void } | { readonly kind: 'busy'; readonly by: string };

/** Milliseconds. */
const LONGEST_PAUSE_MS = 120;
const FIRST_PAUSE_MS = 4;

/**
 * Takes a lock that one process holds at a time, also from a process that is gone. A process that ends while it holds the
 * lock, like a hook whose time is over, gives it back.
 *
 * @param who one word that tells a waiting process who holds the lock
 */
export async function takeLock(lock: string, who: string, patienceMs: number): Promise<ProcessLock> {
  const own = `${lock}.${randomName()}`;
  const { pid: ownPid, start: ownStart } = ownProcess(processTable());
  const text = `${who} ${ownPid} ${ownStart} ${randomName()}`;
  const release = () => {
    process.removeListener('exit', release);
    removeFile(own);
    if (readLock(lock) === text) removeFile(lock);
  };
  process.once('exit', release);
  let isHeld = false;
  try {
    writeFileSync(own, text);
    const end = Date.now() + patienceMs;
    for (let pause = FIRST_PAUSE_MS; !linked(own, lock); pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const held = readLock(lock);
      const [by = '', pid = '', start = ''] = held.split(' ');
      if (pid !== '' && processTable().runningSince(Number(pid)) !== start) takeAway(lock, held);
      else if (Date.now() > end) return { kind: 'busy', by };
      else await new Promise((resolve) => setTimeout(resolve, Math.random() * pause));
    }
    isHeld = true;
    return { kind: 'held', release };
  } finally {
    if (isHeld) removeFile(own);
    else release();
  }
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

function readLock(lock: string): string {
  try {
    return readFileSync(lock, 'utf8').trimEnd();
  } catch {
    return '';
  }
}
