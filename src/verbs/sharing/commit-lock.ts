import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import type { SessionId } from '../../domain/names.ts';
import { peerName } from '../../domain/owner-name.ts';
import { takeLock } from '../../host/process-lock.ts';
import { readClients } from '../../sessions/records.ts';

/**
 * One `git handoff commit` at a time in a working tree. `git commit --only` reads the index before it locks it:
 * of two at once, the second writes the index back as it was before the first, whose files the next plain commit
 * would then take back.
 */
const LOCK_FILE = 'handoff-commit.lock';
/** How long a commit of another session (its hooks, its editor) is waited for. Milliseconds. */
const PATIENCE_MS = 60_000;

/** Runs what writes the index while no other `git handoff commit` of this working tree does. */
export async function whileAlone<T>(gitDir: string, self: SessionId, run: () => Promise<T>): Promise<T> {
  const lock = await takeLock(join(gitDir, LOCK_FILE), self, PATIENCE_MS);
  if (lock.kind === 'busy') {
    const who = peerName(lock.by, { clients: await readClients({ cwd: gitDir }) });
    throw new Failure('environment', `${who} is still committing here`, {
      hint: 'git handoff sessions',
    });
  }
  try {
    return await run();
  } finally {
    lock.release();
  }
}
