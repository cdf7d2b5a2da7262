import { Failure } from '../../domain/failure.ts';
import { sameState } from '../../domain/ledger/file-state.ts';
import type { DirtyPath } from '../../domain/ledger/snapshot.ts';
import { isPerson } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { readStart } from '../../changes/windows.ts';
import type { Again } from '../sharing/commit/again.ts';
import type { CommitScene } from '../sharing/commit/scene.ts';

/** Chooses the paths to carry as they are on the disk. */
export function chooseWork(scene: CommitScene): DirtyPath[] {
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
export function requireCarriable(scene: CommitScene, chosen: readonly DirtyPath[], again: Again): void {
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
