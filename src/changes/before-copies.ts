import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { SessionId } from '../domain/names.ts';
import { ensureFolder, removeFile, repositoryFolder } from '../host/folders.ts';
import { nameHash } from '../host/name-hash.ts';
import type { LedgerPlace } from '../sessions/journal.ts';

/**
 * `handoff/before/<worktree id>/<session>/<hash of the path>`: a file as it was right before a session's tool changed it, kept until the
 * call is over. It tells that session's change apart from what stood there already.
 */

/** Bigger files are not copied: their changes cannot be told apart. Bytes. */
const MAX_COPY = 1 << 20;

const beforeFolder = ({ commonDir, worktreeId }: LedgerPlace, session: SessionId) =>
  `${repositoryFolder(commonDir)}/before/${worktreeId}/${session}`;

const fileOf = (place: LedgerPlace, session: SessionId, path: string) =>
  `${beforeFolder(place, session)}/${nameHash(path)}`;

/** Keeps the file's content, or that there was none. Says nothing when it cannot. */
export function keepBefore(place: LedgerPlace, session: SessionId, top: string, path: string): void {
  const copy = fileOf(place, session, path);
  try {
    const file = `${top}/${path}`;
    const stat = statSync(file, { throwIfNoEntry: false });
    removeFile(copy);
    if (stat?.isFile() !== true || stat.size > MAX_COPY) return;
    ensureFolder(beforeFolder(place, session));
    // A new file: what `copyFileSync` has emptied first, ext4 writes to the disk at once, and removing it takes as long again.
    writeFileSync(copy, readFileSync(file), { mode: 0o600, flag: 'wx' });
  } catch {
    // Then what stood there is taken from what the ledger knows.
  }
}

/** The content that was kept, once. */
export function takeBefore(place: LedgerPlace, session: SessionId, path: string): Buffer | undefined {
  const copy = fileOf(place, session, path);
  try {
    const content = readFileSync(copy);
    removeFile(copy);
    return content;
  } catch {
    return undefined;
  }
}

/** Forgets all that was kept for a session here. */
export function removeBefore(place: LedgerPlace, session: SessionId): void {
  rmSync(beforeFolder(place, session), { recursive: true, force: true });
}
