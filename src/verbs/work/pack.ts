import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { sameState } from '../../domain/ledger/file-state.ts';
import type { DirtyPath } from '../../domain/ledger/snapshot.ts';
import type { SessionId } from '../../domain/names.ts';
import { escapeLine, listed } from '../../domain/surfacing.ts';
import { MAX_WORK_PATHS } from '../../domain/work.ts';
import { ownStore } from '../../git/scratch-store.ts';
import { lstatOf } from '../../git/stat.ts';
import { type ReadContents, readWorkContents } from '../../notes/work/contents.ts';
import type { Context } from '../../sessions/caller.ts';
import type { Again } from '../sharing/commit/again.ts';
import { composeHunks } from '../sharing/commit/compose.ts';
import { passedNotices } from '../sharing/commit/notices.ts';
import { requireOwnership } from '../sharing/commit/requirements.ts';
import { type CommitScene, readScene } from '../sharing/commit/scene.ts';
import { chooseWork, requireCarriable } from './choose.ts';

interface PackOptions {
  readonly pathspecs: readonly string[];
  readonly session: string | undefined;
  /** Who writes. */
  readonly caller: SessionId;
  /** The command to type again for some of the paths. */
  readonly again: Again;
  /** The limit for all contents together. */
  readonly maxBytes: number;
}

/** The caller's uncommitted work, and notices about what was left out. */
export interface PackedWork extends ReadContents {
  readonly notices: readonly string[];
}

/**
 * Packs the caller's own uncommitted changes: whole files, or only its own hunks of files that others changed, too. Staged
 * changes stay staged. Nothing is stored yet. `undefined`: there are no changes.
 *
 * @throws Failure `not-owner` for another's path, `refused` for what cannot be carried or exceeds the limits
 */
export async function packWork(options: PackOptions, context: Context): Promise<PackedWork | undefined> {
  const { pathspecs, session, caller, again } = options;
  const scene = await readScene({ pathspecs, session, person: { id: caller } }, context);
  requireOwnership(scene, again, context.now);
  const chosen = chooseWork(scene);
  requireCarriable(scene, chosen, again);
  const composed = await composeHunks(scene, again);
  const taken = [
    ...chosen.map((dirty) => ({ dirty, own: undefined })),
    ...scene.shares.contended.flatMap(({ dirty }) => {
      const own = composed.entries.get(dirty.path);
      return own === undefined || sameState(own, dirty.head) ? [] : [{ dirty, own }];
    }),
  ];
  const notices = [...passedNotices(composed.passed, scene), ...leftNotices(scene, chosen)];
  if (taken.length === 0) return undefined;
  if (taken.length > MAX_WORK_PATHS) throw tooMuch(`${taken.length} paths`, `${MAX_WORK_PATHS}`, again);
  // Before anything is read: the files alone may be too large.
  requireRoom(sizeOnDisk(scene, chosen), options);
  const place = { ...scene.work.tree, indexFile: scene.indexFile };
  const store = ownStore(place.commonDir);
  const checkSize = (bytes: number) => requireRoom(bytes, options);
  try {
    const { contents: composedContents } = composed;
    const read = await readWorkContents(place, scene.work.snapshot.head.oid, taken, {
      store,
      composed: composedContents,
      checkSize,
    });
    return { ...read, notices };
  } finally {
    rmSync(store.folder, { recursive: true, force: true });
  }
}

function sizeOnDisk({ work }: CommitScene, chosen: readonly DirtyPath[]): number {
  const { top } = work.tree;
  return chosen.reduce((sum, { path }) => sum + (lstatOf(join(top, path))?.size ?? 0), 0);
}

function requireRoom(bytes: number, { maxBytes, again }: PackOptions): void {
  if (bytes > maxBytes) throw tooMuch(`${bytes} bytes`, `${maxBytes} bytes (handoff.maxWork)`, again);
}

function tooMuch(found: string, most: string, { command = 'git handoff write <topic>' }: Again): Failure {
  const message = `the uncommitted work has ${found}, and a note carries at most ${most}; nothing was written`;
  return new Failure('refused', message, { hint: `${command} -- <path>...` });
}

/** Reports the files that were left out: those that nobody claimed and nobody named. */
function leftNotices(scene: CommitScene, chosen: readonly DirtyPath[]): string[] {
  const taken = new Set(chosen.map(({ path }) => path));
  const left = scene.shares.left.filter(({ path, owner }) => owner === undefined && !taken.has(path));
  // Other repositories, and names that are not UTF-8.
  const never = left.filter(({ path }) => path.endsWith('/') || path.includes('\ufffd'));
  const rest = left.filter((one) => !never.includes(one));
  const names = (some: typeof left) => listed(some.map(({ path }) => escapeLine(path)));
  return [
    ...(rest.length > 0 ? [`not carried: ${names(rest)}; name a path after -- to carry it, too`] : []),
    ...(never.length > 0
      ? [`not carried: ${names(never)}: a note cannot carry other repositories or names that are not UTF-8`]
      : []),
  ];
}
