import type { HandoffCommit } from '../handoff.ts';
import type { Oid } from '../names.ts';

/** Commits looked at for all merges of one move; whoever needs more has not made them by hand. */
const MAX_LOOKS = 2_000_000;

/**
 * Tells merges of two lines from those of a line with its own past: whoever owned the handoff long ago would own it
 * again by such a one, without a take.
 */
export class MergedLines {
  #looks = 0;
  readonly #known: ReadonlyMap<Oid, HandoffCommit>;
  readonly #added: ReadonlySet<Oid>;
  readonly #old: Oid | undefined;

  /** `known`: every commit that is told of · `added`: those that the move adds to the history of `old`. */
  constructor(known: ReadonlyMap<Oid, HandoffCommit>, added: ReadonlySet<Oid>, old: Oid | undefined) {
    this.#known = known;
    this.#added = added;
    this.#old = old;
  }

  /** Whether neither parent is in the other's history. */
  areTwo([first, second]: readonly Oid[]): boolean {
    if (first === undefined || second === undefined) return false;
    return !this.#isBehind(second, first) && !this.#isBehind(first, second);
  }

  #isBehind(oid: Oid, tip: Oid): boolean {
    const todo = [tip];
    const seen = new Set<Oid>();
    for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
      if (at === oid || ++this.#looks > MAX_LOOKS) return true;
      if (seen.has(at)) continue;
      seen.add(at);
      // What is not added is in the history of `old`: that is what "added" means.
      if (at === this.#old && !this.#added.has(oid)) return true;
      todo.push(...(this.#known.get(at)?.parents ?? []));
    }
    return false;
  }
}
