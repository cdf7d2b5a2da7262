import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { entries, exists } from '../host/disk.ts';
import { ensureFolder, repositoryFolder } from '../host/folders.ts';
import type { StoredSession } from '../sessions/records.ts';

/**
 * `<common>/handoff/noted/<worktree-id>.<session>.<pid>.<start>`: sessions that are gone without having said so, for
 * which it has been settled whether an automatic note is needed. One that is resumed runs as another process.
 */

const folderOf = (commonDir: string) => join(repositoryFolder(commonDir), 'noted');

function nameOf({ worktreeId, record }: StoredSession): string {
  return [worktreeId, record.session, record.pid ?? '-', encodeURIComponent(record.start ?? '-')].join('.');
}

/** Whether a dead session has got its note. */
export function isNoted(commonDir: string, session: StoredSession): boolean {
  return exists(join(folderOf(commonDir), nameOf(session)));
}

/** Remembers that a dead session has got its note. */
export function rememberNoted(commonDir: string, session: StoredSession): void {
  ensureFolder(folderOf(commonDir));
  writeFileSync(join(folderOf(commonDir), nameOf(session)), '');
}

const lateFile = (commonDir: string, { worktreeId, record }: StoredSession) =>
  join(repositoryFolder(commonDir), 'late', `${worktreeId}.${record.session}`);

/** A session has ended, and there was no time to leave its note: whoever starts next does. */
export function rememberLate(commonDir: string, session: StoredSession): void {
  const file = lateFile(commonDir, session);
  ensureFolder(dirname(file));
  writeFileSync(file, '');
}

/** Whether the note of a session that ended is still due. */
export function isLate(commonDir: string, session: StoredSession): boolean {
  return exists(lateFile(commonDir, session));
}

/** The note that was due is left. */
export function forgetLate(commonDir: string, session: StoredSession): void {
  rmSync(lateFile(commonDir, session), { force: true });
}

/** Forgets those whose sessions are not on record any more, or as another process. */
export function tidyNoted(commonDir: string, sessions: readonly StoredSession[]): void {
  const known = new Set(sessions.map(nameOf));
  for (const name of entries(folderOf(commonDir))) {
    if (!known.has(name)) rmSync(join(folderOf(commonDir), name), { force: true });
  }
}
