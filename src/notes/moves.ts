import type { HandoffCommit } from '../domain/handoff.ts';
import { type Oid, parseBranchName } from '../domain/names.ts';
import { type IllegalReason, type Place, checkHandoffCommit, checkMove } from '../domain/transition.ts';
import { type Parents, historyOf, walkEach } from '../git/histories.ts';
import { type Found, firstParentChain, loadJudged } from '../git/commits.ts';
import { type HandoffPath, encodeBranch } from '../git/namespace.ts';
import type { InRepository } from '../git/repository.ts';

/** A handoff's move from one object (`undefined`: the handoff is new) to another. */
export interface HandoffMove {
  readonly path: HandoffPath;
  readonly old: Oid | undefined;
  readonly next: Oid;
}

/** How many commits are loaded at a time. If a ref points at a project's history, the newest commits show it already. */
const AT_A_TIME = 4096;

/**
 * Judges moves by every commit that they add, in a handful of processes, however many moves there are. `known`: commits that
 * are loaded already. Returns for each move why it is illegal; `undefined` when it is legal.
 *
 * @throws Failure when git cannot read
 */
export async function judgeMoves(
  { cwd }: InRepository,
  moves: readonly HandoffMove[],
  known: ReadonlyMap<Oid, Found> = new Map(),
): Promise<(IllegalReason | undefined)[]> {
  const options = { cwd };
  const found = new Map(known);
  const load = async (oids: readonly Oid[]) => {
    const loaded = await loadJudged(options, oids);
    oids.forEach((oid, at) => found.set(oid, loaded[at] ?? 'missing'));
  };
  const reasons = new Map<HandoffMove, IllegalReason>();
  const ends = moves.flatMap(({ old, next }) => (old === undefined ? [next] : [next, old]));
  await load([...new Set(ends)].filter((oid) => !found.has(oid)));
  for (const move of moves) {
    const reason = checkEnds(move, found);
    if (reason !== undefined) reasons.set(move, reason);
  }
  const ranges = await rangesOf(
    options,
    moves.filter((move) => !reasons.has(move) && move.old !== move.next),
    found,
    reasons,
  );
  for (;;) {
    const open = ranges.filter(({ move }) => !reasons.has(move));
    const wanted = missingOf(open, found);
    if (wanted.length === 0) break;
    await load(wanted);
    for (const { move, added } of open) {
      const wrong = added.map((oid) => found.get(oid)).find((commit) => isWrong(commit));
      if (typeof wrong === 'object') reasons.set(move, checkHandoffCommit(wrong) ?? 'not a descendant');
    }
  }
  for (const range of ranges) {
    const reason = reasons.get(range.move) ?? judge(range, found);
    if (reason !== undefined) reasons.set(range.move, reason);
  }
  return moves.map((move) => reasons.get(move));
}

const isWrong = (commit: Found | undefined) =>
  typeof commit === 'object' && checkHandoffCommit(commit) !== undefined;

/** Why a move is illegal, judging by its two ends alone, before any history is walked. */
function checkEnds({ old, next }: HandoffMove, found: ReadonlyMap<Oid, Found>): IllegalReason | undefined {
  if (old === next) return undefined;
  const [before, tip] = [old === undefined ? undefined : found.get(old), found.get(next)];
  if (tip === 'other') return 'no commit';
  // A commit that is missing here cannot be shown to be a descendant.
  if (typeof tip !== 'object' || typeof before === 'string') return 'not a descendant';
  return checkHandoffCommit(tip);
}

const hasNoParents = (commit: Found | undefined) => typeof commit === 'object' && commit.parents.length === 0;

/** `added`: the commits that a move adds, newest first · `beside`: their other parents, which were there before. */
interface Range {
  readonly move: HandoffMove;
  readonly added: readonly Oid[];
  readonly beside: readonly Oid[];
}

async function rangesOf(
  options: InRepository,
  moves: readonly HandoffMove[],
  found: ReadonlyMap<Oid, Found>,
  reasons: Map<HandoffMove, IllegalReason>,
): Promise<Range[]> {
  const isOne = moves.length === 1;
  // Most handoffs that a first fetch brings have one commit.
  const isRoot = ({ old, next }: HandoffMove) => old === undefined && hasNoParents(found.get(next));
  const ranges: Range[] = moves.filter(isRoot).map((move) => ({ move, added: [move.next], beside: [] }));
  const walks = await walkEach(
    options,
    moves.filter((move) => !isRoot(move)),
    ({ old, next }) => (old === undefined ? [next] : [next, isOne ? `^${old}` : old]),
  );
  for (const [move, walked] of walks) {
    if (walked === 'too long') reasons.set(move, 'history too long');
    else if (walked !== 'hole') ranges.push(addedBy(walked, move));
    // If a commit is missing, only first parents count, as far as they can be read.
    else ranges.push({ move, added: await firstParentChain(options, move.next, move.old), beside: [] });
  }
  return ranges;
}

function addedBy(walked: Parents, move: HandoffMove): Range {
  const before = move.old === undefined ? new Set<Oid>() : historyOf(walked, move.old);
  const added = [...historyOf(walked, move.next)].filter((oid) => !before.has(oid));
  const here = new Set(added);
  const beside = added.flatMap((oid) => (walked.get(oid) ?? []).filter((parent) => !here.has(parent)));
  return { move, added, beside };
}

/** The commits that are not loaded yet; at most `AT_A_TIME`. */
function missingOf(ranges: readonly Range[], found: ReadonlyMap<Oid, Found>): Oid[] {
  const all = new Set(ranges.flatMap(({ added, beside }) => [...added, ...beside]));
  return [...all].filter((oid) => !found.has(oid)).slice(0, AT_A_TIME);
}

function judge({ move, added, beside }: Range, found: ReadonlyMap<Oid, Found>): IllegalReason | undefined {
  const { path, old, next } = move;
  const present = (oids: readonly Oid[]): HandoffCommit[] =>
    oids.map((oid) => found.get(oid)).filter((commit) => typeof commit === 'object');
  const place: Place = {
    topic: path.topic,
    holdsBranch(name) {
      const branch = parseBranchName(name);
      return branch !== undefined && encodeBranch(branch) === path.component;
    },
  };
  const others = new Map(present(beside).map((commit) => [commit.oid, commit]));
  const [before] = old === undefined ? [] : present([old]);
  const verdict = checkMove({ old: before, next, chain: present(added), others }, place);
  return verdict.legal ? undefined : verdict.reason;
}
