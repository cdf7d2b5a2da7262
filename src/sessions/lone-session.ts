import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { randomName, readText } from '../host/disk.ts';
import { share } from '../host/folders.ts';
import { type SessionId, parseSessionId } from '../domain/names.ts';
import type { ProcessId, SessionRecord } from '../domain/session.ts';

/**
 * `<git-dir>/handoff-solo` names the only live session of a worktree: `<session> <pid> <start>`, and in a second line the git
 * dir, because a copy of the clone also has the file. Thanks to it, the launcher need not read refs. The order of steps matters:
 * a session first creates its ref. Then it writes the file, or unlinks one that names another session. Last, it lists the refs.
 */
export const loneSessionFile = (gitDir: string): string => `${gitDir}/handoff-solo`;

/**
 * Records that this session is alone here; false if the file names another session. The caller must list the refs
 * afterwards, and unlink the file if the session is not alone.
 */
export function claimLoneSession(gitDir: string, record: SessionRecord): boolean {
  const text = `${record.session} ${record.pid ?? '-'} ${record.start ?? '-'}\n${gitDir}\n`;
  if (readText(loneSessionFile(gitDir)) === text) return true;
  const file = loneSessionFile(gitDir);
  const temporary = `${file}.${randomName()}`;
  writeFileSync(temporary, text);
  share(temporary);
  try {
    if (isLoneSession(gitDir, record.session)) renameSync(temporary, file);
    else linkSync(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Returns the session that the file names, with its process if that is known. */
export function loneProcess(
  gitDir: string,
): { session: SessionId; process: ProcessId | undefined } | undefined {
  const [name, pid, start = '-'] = readText(loneSessionFile(gitDir)).split('\n')[0]?.split(' ') ?? [];
  const session = parseSessionId(name);
  if (session === undefined) return undefined;
  const process = { pid: Number(pid), start };
  return { session, process: process.pid > 0 && process.start !== '-' ? process : undefined };
}

export function isLoneSession(gitDir: string, session: SessionId): boolean {
  return readText(loneSessionFile(gitDir)).startsWith(`${session} `);
}

/** Removes the file: no session is alone here any more. */
export function removeLoneSession(gitDir: string): void {
  rmSync(loneSessionFile(gitDir), { force: true });
}
