import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';
import { type SessionId, shortId } from '../domain/names.ts';
import { ownProcess, processTable } from '../host/processes.ts';

/**
 * One `git handoff commit` at a time in a working tree. `git commit --only` reads the index before it locks it:
 * of two at once, the second writes the index back as it was before the first, whose files the next plain commit
 * would then take back.
 */
const LOCK_FILE = 'handoff-commit.lock';
/** How long a commit of another session (its hooks, its editor) is waited for. Milliseconds. */
const PATIENCE_MS = 60_000;
const LONGEST_PAUSE_MS = 120;

/** Runs what writes the index while no other `git handoff commit` of this working tree does. */
export async function whileAlone<T>(gitDir: string, self: SessionId, run: () => Promise<T>): Promise<T> {
  const lock = join(gitDir, LOCK_FILE);
  const own = `${lock}.${randomUUID()}`;
  const table = processTable();
  const { pid: ownPid, start: ownStart } = ownProcess(table);
  const text = `${self} ${ownPid} ${ownStart}\n`;
  writeFileSync(own, text);
  try {
    const end = Date.now() + PATIENCE_MS;
    while (!linked(own, lock)) {
      const [session = '', pid = '', start = ''] = readLock(lock).trim().split(' ');
      // Its process is gone. Two that remove it at once do no more harm than git without the lock.
      if (pid !== '' && table.runningSince(Number(pid)) !== start) rmSync(lock, { force: true });
      else if (Date.now() > end) throw busy(session);
      else await pause(Math.random() * LONGEST_PAUSE_MS);
    }
    try {
      return await run();
    } finally {
      if (readLock(lock) === text) rmSync(lock, { force: true });
    }
  } finally {
    rmSync(own, { force: true });
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
    return readFileSync(lock, 'utf8');
  } catch {
    return '';
  }
}

function busy(session: string): Failure {
  return new Failure('environment', `session ${shortId(session)} is committing here and has not finished`, {
    hint: 'git handoff sessions',
  });
}
