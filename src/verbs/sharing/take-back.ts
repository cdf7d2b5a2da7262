import { type Inseparable, type SessionPart, addParts, isWhole } from '../../changes/session-parts.ts';
import type { WorkTree } from '../../changes/dirty-work.ts';
import type { PathChange } from '../../domain/ledger/claims.ts';
import { chainChanges } from '../../domain/ledger/ownership.ts';
import { type DirtyPath, type FileState, sameState } from '../../domain/ledger/tree-status.ts';
import { ObjectBatch } from '../../git/objects.ts';
import { objectFormat } from '../../git/repository.ts';
import { hashFiles, readContents, scratchEnvironment, scratchStore } from '../../git/scratch-store.ts';
import type { PlannedPath } from '../../snapshot/plan.ts';
import { StateMerger } from '../../snapshot/three-way.ts';

/** A path whose content loses a session's part. */
interface TakenBack {
  /** With no claims where only the index changes. */
  readonly part: SessionPart;
  readonly planned: PlannedPath;
}

/** A path that stays as it is, and so does everything else. */
interface Refused {
  readonly part: SessionPart;
  readonly why: Inseparable['why'] | 'staged' | 'conflict' | 'submodule';
}

export interface TakeBackPlan {
  readonly paths: readonly TakenBack[];
  readonly refused: readonly Refused[];
  /** The new contents, to be stored before the plan is carried out. */
  readonly batch: ObjectBatch;
}

/**
 * Plans to take a session's parts out of the working tree and the index, and nobody else's: the inverse of its changes is
 * merged into the file and into what is staged. Making the changes again must give what is there now, or the path is
 * refused. Changes nothing.
 *
 * @param staged paths of which only what is staged is the session's
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
  const names = shared.map(({ dirty }) => dirty.path);
  const onDisk = await hashFiles(top, names, { scratch, all: true });
  const git = { cwd: top, env: scratchEnvironment(scratch) };
  const merger = new StateMerger(git, batch, { ours: '', base: '', theirs: '' }, joined.contents);
  try {
    const paths = staged.map((dirty): TakenBack => {
      const { head, disk } = dirty;
      return { part: { dirty, mine: [], others: [] }, planned: plannedPath(dirty, { disk, index: head }) };
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
      const planned = await planPath({ ...part, dirty }, moves, merger);
      if (typeof planned === 'string') refused.push({ part, why: planned });
      else paths.push({ part, planned });
    }
    // What stood there before the session may be kept in the scratch store alone.
    const next = paths.flatMap(({ planned }) => [planned.disk?.oid ?? [], planned.index?.oid ?? []].flat());
    for (const content of await readContents(top, scratch, next))
      if (content !== undefined) batch.blob(content);
    return { paths, refused, batch };
  } finally {
    merger.close();
  }
}

const changesOf = ({ mine }: SessionPart) => chainChanges(mine[0]?.base ?? null, mine);

/**
 * Whether the changes on record are what has to be taken back: HEAD has the same content as when they were made. Where
 * the first of them began with other content than that, and nobody else has a claim, a part of them may be committed:
 * then what they add to HEAD is taken back.
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
  { dirty, others }: SessionPart,
  changes: readonly PathChange[],
  merger: StateMerger,
): Promise<PlannedPath | Refused['why']> {
  const { head, index, disk } = dirty;
  if ([head, disk].some((state) => state?.mode === '160000')) return 'submodule';
  if (index !== null && index.oid === null) return 'conflict';
  const next = await without(disk, changes, merger);
  if (next === undefined) return 'overlap';
  const staged = sameState(index, disk)
    ? next
    : sameState(index, head)
      ? head
      : await without(index, changes, merger);
  // What is staged and cannot be merged is an older state of the file. It may go if it can be nobody else's.
  if (staged === undefined && others.length > 0) return 'staged';
  return plannedPath(dirty, { disk: next, index: staged === undefined ? head : staged });
}

/** A content without the session's changes; `undefined`: they cannot be taken out of it. */
async function without(
  state: FileState,
  changes: readonly PathChange[],
  merger: StateMerger,
): Promise<FileState | undefined> {
  const [only] = changes;
  // The two are one where the content was not read.
  if (changes.length === 1 && only !== undefined && (state === only.after || sameState(state, only.after)))
    return only.before;
  let taken = state;
  for (const { before, after } of [...changes].reverse()) {
    const merged = await merger.merge({ base: after, ours: taken, theirs: before });
    if (merged.kind !== 'merged') return undefined;
    taken = merged.state;
  }
  let again = taken;
  for (const { before, after } of changes) {
    const merged = await merger.merge({ base: before, ours: again, theirs: after });
    if (merged.kind !== 'merged') return undefined;
    again = merged.state;
  }
  return sameState(again, state) ? taken : undefined;
}

/** What happens to a path: its file and its entry in the index become these. */
function plannedPath(
  { path, head, index, disk, stamp }: DirtyPath,
  next: Pick<PlannedPath, 'disk' | 'index'>,
): PlannedPath {
  return {
    path,
    head,
    ...next,
    own: undefined,
    isPrivate: false,
    intended: false,
    marked: false,
    writes: !sameState(next.disk, disk),
    stages: !sameState(next.index, index),
    overwrites: false,
    stamp,
  };
}
