import { promises as fs } from 'node:fs';
import { Failure } from '../domain/failure.ts';
import type { Change, FileChange, FolderChange, FolderRemoval } from './change.ts';
import { diskFailure, pathExists, readBytes, placeFile } from './disk.ts';

type Undo = () => Promise<void>;

/**
 * Carries out a plan in its order. When a step fails, the steps before it are taken back (all but the removal
 * of whole folders, which a plan therefore keeps for its end).
 *
 * @throws Failure `environment` naming the path that could not be changed
 */
export async function applyChanges(changes: readonly Change[]): Promise<void> {
  const undone: Undo[] = [];
  try {
    for (const change of changes) undone.unshift(await applyOne(change));
  } catch (error) {
    for (const undo of undone) await undo().catch(() => undefined);
    throw error;
  }
}

async function applyOne(change: Change): Promise<Undo> {
  try {
    if (change.kind === 'file') return await changeFile(change);
    return change.kind === 'folder' ? await makeFolder(change) : await removeFolder(change);
  } catch (error) {
    throw diskFailure(change.kind === 'remove-folder' ? 'remove' : 'write', change.path, error);
  }
}

async function changeFile(change: FileChange): Promise<Undo> {
  const current = await readBytes(change.path);
  if (same(current, change.after)) return async () => undefined;
  if (!same(current, change.before)) {
    throw new Failure('environment', `${change.path} was changed by someone else in the meantime`, {
      hint: 'run the command again',
    });
  }
  const mode = current === undefined ? change.mode : (await fs.stat(change.path)).mode & 0o7777;
  await setBytes(change, change.after, mode);
  return async () => {
    if (same(await readBytes(change.path), change.after)) await setBytes(change, change.before, mode);
  };
}

/** git locks its config file by creating `config.lock`; so do we. */
async function setBytes(change: FileChange, bytes: Buffer | undefined, mode: number): Promise<void> {
  if (bytes === undefined) await fs.rm(change.path, { force: true });
  else await placeFile(change.path, bytes, mode, change.role === 'config');
}

function same(left: Buffer | undefined, right: Buffer | undefined): boolean {
  return left === undefined || right === undefined ? left === right : left.equals(right);
}

async function makeFolder(change: FolderChange): Promise<Undo> {
  if (await pathExists(change.path)) return async () => undefined;
  const made = await fs.mkdir(change.path, { mode: change.mode }).then(
    () => true,
    async (error: unknown) => {
      // Somebody else made it just now.
      if (await pathExists(change.path)) return false;
      throw error;
    },
  );
  if (!made) return async () => undefined;
  return () => fs.rmdir(change.path);
}

/** A folder that is gone, or that someone else put things into, is left as it is. */
async function removeFolder(change: FolderRemoval): Promise<Undo> {
  if (change.tree) await fs.rm(change.path, { recursive: true, force: true });
  else await fs.rmdir(change.path).catch(() => undefined);
  return async () => undefined;
}
