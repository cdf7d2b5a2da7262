import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Inseparable, type SessionPart, addParts, isWhole } from '../../changes/session-parts.ts';
import type { WorkTree } from '../../changes/dirty-work.ts';
import type { PathChange } from '../../domain/ledger/claims.ts';
import { chainChanges, isUsable } from '../../domain/ledger/ownership.ts';
import { type DirtyPath, type FileState, sameState } from '../../domain/ledger/tree-status.ts';
import { ObjectBatch } from '../../git/objects.ts';
import { asCheckedOut } from '../../git/filters.ts';
import { objectFormat } from '../../git/repository.ts';
import type { GitOptions } from '../../git/run.ts';
import { hashFiles, readContents, scratchEnvironment, scratchStore } from '../../git/scratch.ts';
import { lstatOf, obstacle } from '../../host/disk.ts';
import type { PlannedPath } from '../../snapshot/plan.ts';
import { isPrivate } from '../../snapshot/take.ts';
import { StateMerger } from '../../snapshot/three-way.ts';

/** A path from which a session's part is taken out. */
export interface TakenBack extends PlannedPath {
  /** The session's part; without claims if only the index changes. */
  readonly part: SessionPart;
}

/** A path that cannot be taken back. Even one such path means that nothing is taken back. */
interface Refused {
  readonly part: SessionPart;
  readonly why:
    Inseparable['why'] | 'staged' | 'conflict' | 'submodule' | 'occupied' | 'filter' | 'operation';
}

export interface TakeBackPlan {
  readonly paths: readonly TakenBack[];
  readonly refused: readonly Refused[];
  /** The new contents, to be stored before the plan is carried out. */
  readonly batch: ObjectBatch;
}

/**
 * Plans how to take only a session's parts out of the working tree and the index: merges the inverse of its changes into each
 * file and its staged content. Refuses a path if redoing the changes would not restore its present content. Changes nothing.
 *
 * @param staged paths that the session changed only in the index
 */
export async function planTakeBack(
  tree: WorkTree,
  parts: readonly SessionPart[],
  staged: readonly DirtyPath[],
): Promise<TakeBackPlan> {
  const { top, commonDir } = tree;
  const scratch = scratchStore(commonDir);
  const batch = new ObjectBatch(await objectFormat({ cwd: top }));
  const whole = parts.filter((part) => isWhole(part, part.dirty.head));
  const shared = parts.filter((part) => !whole.includes(part));
  const joined = await addParts(
    tree,
    shared.filter((part) => !isExact(part)),
  );
  const names = shared.map(({ dirty }) => dirty.path).filter(isUsable);
  const onDisk = await hashFiles(top, names, { scratch, all: true });
  const git = { cwd: top, env: scratchEnvironment(scratch) };
  const merger = new StateMerger(git, batch, [], joined.contents);
  try {
    const paths = staged.map((dirty): TakenBack => {
      const { head, disk } = dirty;
      const part = { dirty, mine: [], others: [] };
      return { ...plannedPath(top, dirty, { disk, index: head }), part };
    });
    const refused: Refused[] = joined.failed.map(({ part, why }) => ({ part, why }));
    for (const part of parts) {
      const { path, head, disk } = part.dirty;
      const oid = onDisk.get(path);
      const dirty =
        disk === null || oid === undefined ? part.dirty : { ...part.dirty, disk: { ...disk, oid } };
      const added = whole.includes(part) ? dirty.disk : joined.entries.get(path);
      const sum = added === undefined ? [] : [{ before: head, after: added }];
      const changes = whole.includes(part) || !isExact(part) ? sum : changesOf(part);
      const moves = changes.filter(({ before, after }) => !sameState(before, after));
      if (moves.length === 0) continue;
      const planned = await planPath(top, { ...part, dirty }, moves, merger);
      if (typeof planned === 'string') refused.push({ part, why: planned });
      else if (await isFilteredAway(top, git, dirty, planned)) refused.push({ part, why: 'filter' });
      else paths.push({ ...planned, part });
    }
    // Perhaps only the scratch store has the content from before the session.
    const next = paths.flatMap(({ disk, index }) => [disk?.oid ?? [], index?.oid ?? []].flat());
    for (const content of await readContents(top, scratch, next))
      if (content !== undefined) batch.blob(content);
    const blocked = paths.filter((one) => isBlocked(top, one, paths));
    refused.push(...blocked.map(({ part }) => ({ part, why: 'occupied' as const })));
    return { paths: paths.filter((one) => !blocked.includes(one)), refused, batch };
  } finally {
    merger.close();
  }
}

/** Whether something that git does not list is in the way of a file that must be written. */
function isBlocked(
  top: string,
  { part, path, disk, writes }: TakenBack,
  paths: readonly TakenBack[],
): boolean {
  if (!writes || disk === null) return false;
  const removed = paths.filter((one) => one.writes && one.disk === null);
  const going = new Set(removed.map((one) => one.path));
  if (obstacle(top, Buffer.from(path), going) !== undefined) return true;
  // git reports the file as deleted, but an ignored file is in its place.
  return part.dirty.disk === null && lstatOf(join(top, path))?.isDirectory() === false;
}

/** Whether git's filters or line endings would change the bytes of others' part of a file. */
async function isFilteredAway(
  top: string,
  git: GitOptions,
  { disk, head }: DirtyPath,
  planned: PlannedPath,
): Promise<boolean> {
  const { path } = planned;
  if (!planned.writes || planned.disk === null || sameState(planned.disk, head)) return false;
  if (disk === null || disk.oid === null || !disk.mode.startsWith('100')) return false;
  return !(await asCheckedOut(git, path, disk.oid)).equals(readFileSync(join(top, path)));
}

const changesOf = ({ mine }: SessionPart) => chainChanges(mine[0]?.base ?? null, mine);

/**
 * Whether to take back exactly the recorded changes, rather than all that they add to HEAD: HEAD must still have their base.
 * If nobody else has a claim, HEAD must also have what the first change began with, or else some may be committed already.
 */
function isExact(part: SessionPart): boolean {
  const { dirty, mine, others } = part;
  const first = changesOf(part)[0]?.before ?? null;
  return (
    mine.every(({ base }) => sameState(base, dirty.head)) &&
    (others.length > 0 || sameState(first, dirty.head))
  );
}

async function planPath(
  top: string,
  { dirty, others }: SessionPart,
  changes: readonly PathChange[],
  merger: StateMerger,
): Promise<PlannedPath | Refused['why']> {
  const { path, head, index, disk } = dirty;
  if (!isUsable(path)) return 'unusable';
  if ([head, disk].some((state) => state?.mode === '160000')) return 'submodule';
  if (index !== null && index.oid === null) return 'conflict';
  const next = await without(disk, changes, merger);
  if (next === undefined) return 'overlap';
  const staged = sameState(index, disk)
    ? next
    : sameState(index, head)
      ? head
      : await without(index, changes, merger, others.length === 0);
  // Staged content that cannot be merged is an older state of the file. It is dropped if only this session can have made it.
  if (staged === undefined && others.length > 0) return 'staged';
  return plannedPath(top, dirty, { disk: next, index: staged === undefined ? head : staged });
}

/**
 * Returns a content without the session's changes; `undefined`: they cannot be taken out.
 *
 * @param mayLack whether the content may have only some of the changes, or none, because it was staged earlier
 */
async function without(
  state: FileState,
  changes: readonly PathChange[],
  merger: StateMerger,
  mayLack = false,
): Promise<FileState | undefined> {
  const [only] = changes;
  // Content that was not read has no id to compare: only `===` shows that two states are the same.
  if (changes.length === 1 && only !== undefined && (state === only.after || sameState(state, only.after)))
    return only.before;
  let taken = state;
  for (const { before, after } of [...changes].reverse()) {
    const merged = await merger.merge({ base: after, ours: taken, theirs: before });
    if (merged.kind !== 'merged') return undefined;
    taken = merged.state;
  }
  if (mayLack) return taken;
  let again = taken;
  for (const { before, after } of changes) {
    const merged = await merger.merge({ base: before, ours: again, theirs: after });
    if (merged.kind !== 'merged') return undefined;
    again = merged.state;
  }
  return sameState(again, state) ? taken : undefined;
}

/** The plan for a path: its file and its index entry become `next`. */
function plannedPath(
  top: string,
  { path, head, index, disk, stamp, intended }: DirtyPath,
  next: Pick<PlannedPath, 'disk' | 'index'>,
): PlannedPath {
  return {
    path,
    head,
    ...next,
    isPrivate: isPrivate(top, { path }),
    writes: !sameState(next.disk, disk),
    stages: !sameState(next.index, index) || (intended === true && next.disk === null),
    // If a folder is at this path, its files are removed first.
    stamp: disk === null ? '' : stamp,
  };
}
