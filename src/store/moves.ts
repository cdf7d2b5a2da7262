import type { HandoffCommit } from '../domain/handoff.ts';
import { type Oid, parseBranchName } from '../domain/names.ts';
import { type IllegalReason, type Place, checkMove } from '../domain/transition.ts';
import { firstParentChain, loadCommits } from '../git/commits.ts';
import { type Parents, type Unwalked, historyOf, walkEach } from '../git/histories.ts';
import { type HandoffPath, encodeBranch } from '../git/namespace.ts';
import type { InRepository } from '../git/repository.ts';

/** A handoff that goes from one commit (nothing: from its root) to another. */
export interface HandoffMove {
  readonly path: HandoffPath;
  readonly old: Oid | undefined;
  readonly next: Oid;
}

/**
 * Judges moves by every commit that they add, in two processes however many they are; `undefined` for a legal one.
 * All commits that are named must be there.
 */
export async function judgeMoves(
  repository: InRepository,
  moves: readonly HandoffMove[],
): Promise<(IllegalReason | undefined)[]> {
  if (moves.length === 0) return [];
  const options = { cwd: repository.cwd };
  const isOne = moves.length === 1;
  const walks = await walkEach(options, moves, ({ old, next }) =>
    old === undefined ? [next] : [next, isOne ? `^${old}` : old],
  );
  const ranges = await Promise.all(moves.map((move) => rangeOf(options, move, walks.get(move) ?? 'hole')));
  const wanted = new Set(ranges.flatMap((range) => [...(range?.added ?? []), ...(range?.beside ?? [])]));
  for (const { old } of moves) if (old !== undefined) wanted.add(old);
  const oids = [...wanted];
  const loaded = await loadCommits(options, oids);
  const commits = new Map(oids.map((oid, at) => [oid, loaded[at]]));
  return moves.map((move, at) => {
    const range = ranges[at];
    return range === undefined ? 'history too long' : judge(move, range, commits);
  });
}

/** The commits that a move adds, and the parents of theirs that it does not. */
interface Range {
  readonly added: readonly Oid[];
  readonly beside: readonly Oid[];
}

/** `undefined`: there are too many to be looked at. */
async function rangeOf(
  options: InRepository,
  move: HandoffMove,
  walked: Parents | Unwalked,
): Promise<Range | undefined> {
  if (walked === 'too long') return undefined;
  return walked === 'hole' ? readableRange(options, move) : addedBy(walked, move);
}

function addedBy(walked: Parents, { old, next }: HandoffMove): Range {
  const before = old === undefined ? new Set<Oid>() : historyOf(walked, old);
  const added = [...historyOf(walked, next)].filter((oid) => !before.has(oid));
  const here = new Set(added);
  const beside = added.flatMap((oid) => (walked.get(oid) ?? []).filter((parent) => !here.has(parent)));
  return { added, beside };
}

/** Where a history has a hole: by first parents, as far as they can be read. */
async function readableRange(options: InRepository, { old, next }: HandoffMove): Promise<Range> {
  return { added: await firstParentChain(options, next, old), beside: [] };
}

function judge(
  { path, old, next }: HandoffMove,
  { added, beside }: Range,
  commits: ReadonlyMap<Oid, HandoffCommit | undefined>,
): IllegalReason | undefined {
  const present = (oids: readonly Oid[]) => oids.flatMap((oid) => commits.get(oid) ?? []);
  const verdict = checkMove(
    {
      old: old === undefined ? undefined : commits.get(old),
      next,
      chain: present(added),
      others: new Map(present(beside).map((commit) => [commit.oid, commit])),
    },
    placeOf(path),
  );
  return verdict.legal ? undefined : verdict.reason;
}

function placeOf(path: HandoffPath): Place {
  return {
    topic: path.topic,
    holdsBranch: (name) => {
      const branch = parseBranchName(name);
      return branch !== undefined && encodeBranch(branch) === path.component;
    },
  };
}
