import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { sameState } from '../../domain/ledger/file-state.ts';
import type { DirtyPath } from '../../domain/ledger/snapshot.ts';
import { type SessionId, isPerson } from '../../domain/names.ts';
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
import { readStart } from '../../changes/windows.ts';

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

/** Chooses the paths to carry as they are on the disk. */
function chooseWork(scene: CommitScene): DirtyPath[] {
  const { shares, work, untracked, named } = scene;
  const whole = new Set([...shares.whole.map(({ dirty }) => dirty.path), ...untracked]);
  const left = new Map(shares.left.map(({ path, owner }) => [path, owner]));
  const contended = new Set(shares.contended.map(({ dirty }) => dirty.path));
  // Without a record of this session, what nobody has claimed counts as the writer's.
  const isUnrecorded = isPerson(scene.self) || !isOnRecord(scene);
  return [...work.snapshot.dirty.values()].filter((dirty) => {
    const { path } = dirty;
    if (whole.has(path)) return true;
    if (contended.has(path) || left.get(path) !== undefined || isOfLone(scene, path)) return false;
    if (named !== undefined) return named.has(path) && !left.has(path);
    const isTracked = dirty.head !== null || dirty.index !== null;
    return isTracked && (isUnrecorded || (!left.has(path) && isOwnStaged(scene, dirty)));
  });
}

function isOnRecord({ self, work: { place, lone, ledgers } }: CommitScene): boolean {
  return (
    lone?.session === self ||
    ledgers.some(({ session }) => session === self) ||
    (place !== undefined && readStart(place, self) !== undefined)
  );
}

function isOfLone({ work: { lone }, owners }: CommitScene, path: string): boolean {
  return lone !== undefined && !owners.has(lone.session) && lone.claims.has(path);
}

/** Whether this session staged the change, for one that only the index shows. */
function isOwnStaged(
  { self, work: { place, lone, ledgers }, owners }: CommitScene,
  dirty: DirtyPath,
): boolean {
  const { path, index } = dirty;
  if (ledgers.some(({ session, staged }) => owners.has(session) && staged.has(path))) return true;
  if (place === undefined || lone?.session !== self) return false;
  const before = readStart(place, self)?.dirty.get(path);
  return before === undefined || !sameState(before.index, index);
}

/**
 * Refuses paths that a note cannot carry: submodules, other repositories, conflicts, names that are not UTF-8.
 *
 * @throws Failure `refused`
 */
function requireCarriable(scene: CommitScene, chosen: readonly DirtyPath[], again: Again): void {
  const { shares, owners, work } = scene;
  const own = shares.left.filter(({ owner }) => owner !== undefined && owners.has(owner));
  const unnamed = own.filter(({ path }) => path.endsWith('/') || path.includes('\ufffd'));
  const refused = [
    ...unnamed.map(({ path }) => ({
      path,
      why: path.endsWith('/') ? 'is a repository of its own' : 'has a name that is not UTF-8',
    })),
    ...[...chosen, ...shares.contended.map(({ dirty }) => dirty)].flatMap(({ path, head, index, disk }) => {
      if ([head, index, disk].some((state) => state?.mode === '160000'))
        return [{ path, why: 'is a submodule' }];
      const isInConflict = index !== null && index.oid === null;
      return isInConflict ? [{ path, why: 'is in conflict' }] : [];
    }),
  ];
  const [first] = refused;
  if (first === undefined) return;
  const names = new Set(refused.map(({ path }) => path));
  const rest = [...chosen, ...shares.contended.map(({ dirty }) => dirty)]
    .map(({ path }) => path)
    .filter((path) => !names.has(path) && work.snapshot.dirty.has(path));
  const more = refused.length > 1 ? ` (and ${refused.length - 1} more)` : '';
  const message = `${escapeLine(first.path)}${more} ${first.why}, and a note cannot carry it; nothing was written`;
  const isPossible = rest.length > 0 && again.command !== undefined;
  const hint = isPossible ? `${again.command}${scene.typedPaths(rest)}` : 'git handoff status';
  throw new Failure('refused', message, { hint });
}
