import { type Inseparable, type SessionPart, addParts, isWhole } from '../../changes/session-parts.ts';
import type { WorkTree } from '../../changes/dirty-work.ts';
import { type DirtyPath, type FileState, sameState } from '../../domain/ledger/tree-status.ts';
import { ObjectBatch } from '../../git/objects.ts';
import { objectFormat } from '../../git/repository.ts';
import { hashFiles, scratchEnvironment, scratchStore } from '../../git/scratch-store.ts';
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
 * Plans to take a session's parts out of the working tree and the index, and nobody else's: the inverse of what each part
 * adds to HEAD is merged into the file and into what is staged. Putting the part back must give what is there now, or the
 * path is refused. Changes nothing.
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
  const { entries, contents, failed } = await addParts(tree, shared);
  const names = shared.map(({ dirty }) => dirty.path);
  const onDisk = await hashFiles(top, names, { scratch, all: true });
  const git = { cwd: top, env: scratchEnvironment(scratch) };
  const merger = new StateMerger(git, batch, { ours: '', base: '', theirs: '' }, contents);
  try {
    const paths = staged.map((dirty): TakenBack => {
      const { head, disk } = dirty;
      return { part: { dirty, mine: [], others: [] }, planned: plannedPath(dirty, { disk, index: head }) };
    });
    const refused: Refused[] = failed.map(({ part, why }) => ({ part, why }));
    for (const part of parts) {
      const { path, head, disk: seen } = part.dirty;
      const oid = onDisk.get(path);
      const disk = seen === null || oid === undefined ? seen : { ...seen, oid };
      const added = whole.includes(part) ? disk : entries.get(path);
      if (added === undefined || sameState(added, head)) continue;
      const planned = await planPath(part, { head, disk, added }, merger);
      if (typeof planned === 'string') refused.push({ part, why: planned });
      else paths.push({ part, planned });
    }
    return { paths, refused, batch };
  } finally {
    merger.close();
  }
}

/** HEAD's content, the disk's, and HEAD's with the session's part. */
interface States {
  readonly head: FileState;
  readonly disk: FileState;
  readonly added: FileState;
}

async function planPath(
  { dirty, others }: SessionPart,
  states: States,
  merger: StateMerger,
): Promise<PlannedPath | Refused['why']> {
  const { index } = dirty;
  const { head, disk } = states;
  if ([head, disk].some((state) => state?.mode === '160000')) return 'submodule';
  if (index !== null && index.oid === null) return 'conflict';
  const next = await without(disk, states, merger);
  if (next === undefined) return 'overlap';
  const staged = sameState(index, disk)
    ? next
    : sameState(index, head)
      ? head
      : await without(index, states, merger);
  // What is staged and cannot be merged is an older state of the file. It may go if it can be nobody else's.
  if (staged === undefined && others.length > 0) return 'staged';
  const nextIndex = staged === undefined ? head : staged;
  return plannedPath({ ...dirty, disk }, { disk: next, index: nextIndex });
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

/** A content without the session's part; `undefined`: it cannot be taken out of it. */
async function without(
  state: FileState,
  { head, added }: States,
  merger: StateMerger,
): Promise<FileState | undefined> {
  // The two are one where the content was not read.
  if (state === added || sameState(state, added)) return head;
  const taken = await merger.merge({ base: added, ours: state, theirs: head });
  if (taken.kind !== 'merged') return undefined;
  const again = await merger.merge({ base: head, ours: taken.state, theirs: added });
  return again.kind === 'merged' && sameState(again.state, state) ? taken.state : undefined;
}
