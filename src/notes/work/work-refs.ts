import { Failure } from '../../domain/failure.ts';
import type { HandoffCommit } from '../../domain/handoff.ts';
import type { Oid } from '../../domain/names.ts';
import { type WorkSize, parseWorkSize } from '../../domain/work.ts';
import { type HandoffPath, WORK, parseWorkRef, workPrefix, workRef } from '../../git/namespace.ts';
import { updateRefs } from '../../git/ref-updates.ts';
import { type RefValue, listRefNames } from '../../git/refs.ts';
import type { InRepository } from '../../git/repository.ts';
import { readHistory, readTopics } from '../topic.ts';

/** The work that a note carries, according to its trailers. */
export interface CarriedWork {
  readonly oid: Oid;
  /** `undefined`: the trailer does not state it. */
  readonly size: WorkSize | undefined;
}

/** The work that a commit's trailers name. */
function named({ trailers }: HandoffCommit): CarriedWork | undefined {
  const oid = trailers?.work;
  return oid === undefined ? undefined : { oid, size: parseWorkSize(trailers?.workSize) };
}

/**
 * The work that a topic carries: the tip's or, since 0.1.0 drops the trailer, the newest ancestor's. If that version is closed
 * and the tip is open again, the work is over.
 */
export async function carriedWork(
  repository: InRepository,
  tip: HandoffCommit,
): Promise<CarriedWork | undefined> {
  const carried = named(tip);
  if (carried !== undefined || tip.parents.length === 0) return carried;
  const newest = (await readHistory(repository, tip.oid)).find(
    ({ trailers }) => trailers?.work !== undefined,
  );
  const isOver = newest?.trailers?.state === 'closed' && tip.trailers?.state !== 'closed';
  return newest === undefined || isOver ? undefined : named(newest);
}

/**
 * Creates the ref of a work commit. Returns false if the same work was kept already.
 *
 * @throws Failure `environment` when a lock is held, `integrity` when the ref cannot be made
 */
export async function keepWork(repository: InRepository, path: HandoffPath, oid: Oid): Promise<boolean> {
  const isThere = (await keptWork(repository, path)).some((one) => one.oid === oid);
  const result = await updateRefs(repository, [{ ref: workRef(path, oid), next: oid, old: undefined }]);
  if (result.kind === 'done' || result.kind === 'moved') return !isThere;
  const [code, why] =
    result.kind === 'locked'
      ? (['environment', `a lock is in the way: ${result.detail}`] as const)
      : (['integrity', result.kind === 'objects-gone' ? 'its objects were pruned' : result.detail] as const);
  const message = `the work of ${path.topic} could not be kept: ${why}`;
  throw new Failure(code, message, { hint: 'git handoff doctor' });
}

/** The work commits that this clone keeps for a topic. */
export function keptWork(repository: InRepository, path: HandoffPath): Promise<readonly RefValue[]> {
  return listRefNames(repository, [workPrefix(path)]);
}

/** A work commit that this clone keeps. */
export interface KeptWork extends RefValue {
  readonly path: HandoffPath;
}

/** Work that no open note carries: its note was closed on another machine, or never written. */
export async function leftWork(repository: InRepository): Promise<KeptWork[]> {
  const refs = (await listRefNames(repository, [WORK])).flatMap(({ name, oid }): KeptWork[] => {
    const path = parseWorkRef(name, WORK);
    return path === undefined ? [] : [{ name, oid, path }];
  });
  if (refs.length === 0) return [];
  // A note that cannot be read may be open.
  const open = (await readTopics(repository)).filter(({ tip }) => tip?.trailers?.state !== 'closed');
  const places = new Set(open.map(({ path }) => workPrefix(path)));
  const carried = new Set(open.flatMap(({ tip }) => tip?.trailers?.work ?? []));
  return refs.filter(({ path, oid }) => !places.has(workPrefix(path)) && !carried.has(oid));
}

/** Deletes refs of work. There are no races to lose: these refs never move. */
export async function dropWork(repository: InRepository, refs: readonly RefValue[]): Promise<void> {
  if (refs.length === 0) return;
  await updateRefs(
    repository,
    refs.map(({ name, oid }) => ({ ref: name, next: undefined, old: oid })),
  );
}
