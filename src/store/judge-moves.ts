import type { HandoffCommit } from '../domain/handoff.ts';
import { type Oid, parseBranchName } from '../domain/names.ts';
import { type IllegalReason, type Place, checkCommit, checkMove, namesPlace } from '../domain/transition.ts';
import { type Found, commitsBehind, loadJudged } from '../git/judged-commits.ts';
import { type HandoffPath, encodeBranch } from '../git/namespace.ts';
import type { GitOptions } from '../git/run.ts';

/** A handoff that moves from one object (nothing: it is new) to another. */
export interface HandoffMove {
  readonly path: HandoffPath;
  readonly old: Oid | undefined;
  readonly next: Oid;
}

/** Least number of commits that one look ahead asks for. */
const LOOK_AHEAD = 4096;

/**
 * Judges moves by every commit between, all of them together: a handful of processes, however many there are.
 *
 * @returns for each move why it is illegal; `undefined` when it is legal
 * @throws Failure when git cannot read
 */
export async function judgeMoves(
  options: GitOptions,
  moves: readonly HandoffMove[],
): Promise<(IllegalReason | undefined)[]> {
  const found = new Map<Oid, Found>();
  const walks = moves.map((move) => new Walk(move));
  const olds = [...new Set(moves.flatMap(({ old }) => old ?? []))];
  let open: readonly Walk[] = walks;
  for (let round = 0; open.length > 0; round++) {
    const wanted = new Set(open.flatMap((walk) => walk.advance(found)));
    open = open.filter((walk) => !walk.isDone);
    if (open.length === 0) break;
    if (round > 0) {
      const limit = Math.max(LOOK_AHEAD, 2 * wanted.size);
      for (const oid of await commitsBehind(options, [...wanted], olds, limit)) wanted.add(oid);
    }
    const names = [...wanted].filter((oid) => !found.has(oid));
    const loaded = await loadJudged(options, names);
    names.forEach((oid, at) => found.set(oid, loaded[at] ?? 'missing'));
  }
  return walks.map(({ reason }) => reason);
}

/** One move being followed back from where it goes to where it came from. */
class Walk {
  readonly #move: HandoffMove;
  readonly #place: Place;
  /** Newest first. */
  readonly #chain: HandoffCommit[] = [];
  readonly #others = new Map<Oid, HandoffCommit>();
  #at: Oid | undefined;
  #done = false;
  reason: IllegalReason | undefined;

  constructor(move: HandoffMove) {
    this.#move = move;
    this.#at = move.next;
    this.#place = placeOf(move.path);
  }

  get isDone(): boolean {
    return this.#done;
  }

  /** Goes back as far as what was found reaches; returns what it needs to go on. */
  advance(found: ReadonlyMap<Oid, Found>): Oid[] {
    const { old, next } = this.#move;
    if (old === next) return this.#end(undefined);
    while (this.#at !== undefined && this.#at !== old) {
      const commit = found.get(this.#at);
      // What it came from is wanted in any case.
      if (commit === undefined) return old === undefined || found.has(old) ? [this.#at] : [this.#at, old];
      if (commit === 'missing') return this.#end('not a descendant');
      if (commit === 'other') return this.#end(this.#at === next ? 'no commit' : 'not a descendant');
      const wrong = checkCommit(commit);
      if (wrong !== undefined) return this.#end(wrong);
      if (!namesPlace(commit, this.#place)) return this.#end('names another branch or topic');
      const missing = commit.parents.slice(1).filter((oid) => !this.#knowsOther(oid, found));
      if (missing.length > 0) return missing;
      this.#chain.push(commit);
      this.#at = commit.parents[0];
    }
    return this.#end(this.#judge(old === undefined ? undefined : found.get(old)));
  }

  #knowsOther(oid: Oid, found: ReadonlyMap<Oid, Found>): boolean {
    const other = found.get(oid);
    // One that is no commit stays unknown to the rule, which then refuses.
    if (typeof other === 'object') this.#others.set(oid, other);
    return other !== undefined;
  }

  #judge(old: Found | undefined): IllegalReason | undefined {
    const { next } = this.#move;
    if (this.#move.old !== undefined && typeof old !== 'object') return 'not a descendant';
    const known = typeof old === 'object' ? old : undefined;
    const move = { old: known, next, chain: this.#chain.toReversed(), others: this.#others };
    const verdict = checkMove(move, this.#place);
    return verdict.legal ? undefined : verdict.reason;
  }

  #end(reason: IllegalReason | undefined): Oid[] {
    this.reason = reason;
    this.#done = true;
    return [];
  }
}

function placeOf({ component, topic }: HandoffPath): Place {
  return {
    topic,
    holdsBranch: (name) => {
      const branch = parseBranchName(name);
      return branch !== undefined && encodeBranch(branch) === component;
    },
  };
}
