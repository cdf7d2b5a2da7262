import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { SessionId } from '../domain/names.ts';
import { entries, exists, readText } from '../host/disk.ts';
import { ensureFolder, removeFile, repositoryFolder, touchedFolder } from '../host/folders.ts';
import { nameHash } from '../host/name-hash.ts';
import { randomName } from '../host/random-name.ts';

/**
 * `<common>/handoff/touched/<path, % for />` has a line for each worktree in which the path was changed: its id. It is
 * there only while sessions work in several worktrees. These are hints: what they say is looked at before anybody hears of it,
 * and any of them may be missing.
 *
 * `touched/%<worktree-id>` says that what had been changed in that worktree is listed. No path begins with a slash.
 */
const touchedFile = (commonDir: string, path: string) => `${touchedFolder(commonDir)}/${fileName(path)}`;
const listedMark = (commonDir: string, worktree: string) => `${touchedFolder(commonDir)}/%${worktree}`;

/** Longer names, in bytes, are hashed: a file system takes 255. */
const MAX_NAME = 200;

function fileName(path: string): string {
  if (path.includes('%') || Buffer.byteLength(path) > MAX_NAME) return `%%${nameHash(path)}`;
  return path.replaceAll('/', '%');
}

/** Whether it is kept which paths are changed where. */
export function isTouchedKept(commonDir: string): boolean {
  return exists(touchedFolder(commonDir));
}

/** From now on it is kept. */
export function keepTouched(commonDir: string): void {
  ensureFolder(touchedFolder(commonDir));
}

/** Notes that paths, from the top, were changed in a worktree; nothing where that is not kept (any more). */
export function addTouched(commonDir: string, worktree: string, paths: Iterable<string>): void {
  if (!isTouchedKept(commonDir)) return;
  for (const path of paths) {
    if (readTouched(commonDir, path).includes(worktree)) continue;
    try {
      appendFileSync(touchedFile(commonDir, path), `${worktree}\n`, { mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** The ids of the worktrees in which a path was changed; what a kill has torn is nobody's. */
export function readTouched(commonDir: string, path: string): string[] {
  return readText(touchedFile(commonDir, path)).split('\n').filter(Boolean);
}

/** More are not read: it is no list of all. */
const MAX_SHARED = 1000;

/**
 * Paths that are noted of a worktree and of others, by the others' ids. One with a `%` or a long name is not among them, for
 * its file does not tell it.
 */
export function pathsInBoth(commonDir: string, worktree: string): Map<string, string[]> {
  const shared = new Map<string, string[]>();
  for (const name of entries(touchedFolder(commonDir)).slice(0, MAX_SHARED)) {
    if (name.startsWith('%')) continue;
    const path = name.replaceAll('%', '/');
    const ids = readTouched(commonDir, path);
    if (!ids.includes(worktree)) continue;
    for (const id of ids) if (id !== worktree) shared.set(id, [...(shared.get(id) ?? []), path]);
  }
  return shared;
}

/** Nothing that was noted of a path is true any more, but what is noted of one worktree. */
export function keepOnly(commonDir: string, path: string, worktree: string): void {
  removeFile(touchedFile(commonDir, path));
  addTouched(commonDir, worktree, [path]);
}

/** Whether what had been changed in a worktree is listed. */
export function isListed(commonDir: string, worktree: string): boolean {
  return exists(listedMark(commonDir, worktree));
}

/** It is. */
export function markListed(commonDir: string, worktree: string): void {
  writeFileSync(listedMark(commonDir, worktree), '', { mode: 0o600 });
}

/** Nobody is at work there: who comes next lists what was changed meanwhile. */
export function unmarkListed(commonDir: string, worktree: string): void {
  removeFile(listedMark(commonDir, worktree));
}

/**
 * It is kept no more: sessions work in one worktree only.
 *
 * @param isNeeded asked again when it is put aside: a session that came meanwhile may have found it there
 */
export async function dropTouched(commonDir: string, isNeeded: () => Promise<boolean>): Promise<void> {
  const folder = touchedFolder(commonDir);
  const aside = `${folder}.${randomName()}`;
  try {
    renameSync(folder, aside);
    if (await isNeeded()) renameSync(aside, folder);
  } catch {
    // Somebody else has dropped it, or made another one.
  }
  rmSync(aside, { recursive: true, force: true });
}

/** What a session has been told of a path and another session; a file for each, for calls that are made at once agree by it. */
const toldFolder = (commonDir: string) => `${repositoryFolder(commonDir)}/told`;

/** True for who is first to say it. It is on record before it is said: a kill loses one notice, and doubles none. */
export function isFirstToTell(commonDir: string, session: SessionId, what: readonly string[]): boolean {
  const folder = `${toldFolder(commonDir)}/${session}`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(`${folder}/${nameHash(JSON.stringify(what))}`, '', { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes what sessions that are on record no more were told, and what a killed process has put aside. */
export function tidyTouched(commonDir: string, onRecord: ReadonlySet<string>): void {
  for (const session of entries(toldFolder(commonDir))) {
    if (!onRecord.has(session))
      rmSync(`${toldFolder(commonDir)}/${session}`, { recursive: true, force: true });
  }
  for (const name of entries(repositoryFolder(commonDir))) {
    if (!name.startsWith('touched.')) continue;
    rmSync(`${repositoryFolder(commonDir)}/${name}`, { recursive: true, force: true });
  }
}
