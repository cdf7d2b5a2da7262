import { type FileState, sameState } from '../domain/ledger/tree-status.ts';
import type { Oid } from '../domain/names.ts';
import { TextMerger } from '../git/merge-file.ts';
import { type ObjectBatch, readObjects } from '../git/objects.ts';
import type { GitOptions } from '../git/run.ts';

interface ThreeStates {
  /** The common ancestor. */
  readonly base: FileState;
  readonly ours: FileState;
  readonly theirs: FileState;
}

/** `marked`: both sides changed the same lines, and the content has conflict markers. */
type MergedState =
  { readonly kind: 'merged' | 'marked'; readonly state: FileState } | { readonly kind: 'conflict' };

/** Merges the states of paths as git-merge-file(1) does. New contents go into a batch, which the caller stores. */
export class StateMerger {
  readonly #git: GitOptions;
  readonly #batch: ObjectBatch;
  readonly #names: readonly string[];
  readonly #known: Map<Oid, Buffer>;
  #texts: TextMerger | undefined;

  /** `names`: what conflict markers call our side, the base and their side. `known`: contents that are not stored yet. */
  constructor(
    options: GitOptions,
    batch: ObjectBatch,
    names: readonly string[] = [],
    known: ReadonlyMap<Oid, Buffer> = new Map(),
  ) {
    this.#git = options;
    this.#known = new Map(known);
    this.#batch = batch;
    this.#names = names;
  }

  async merge({ base, ours, theirs }: ThreeStates): Promise<MergedState> {
    if (sameState(theirs, base) || sameState(theirs, ours)) return { kind: 'merged', state: ours };
    if (sameState(ours, base)) return { kind: 'merged', state: theirs };
    const [from, left, right] = [base, ours, theirs].map(oidOfFile);
    if (ours === null || theirs === null || left === undefined || right === undefined)
      return { kind: 'conflict' };
    const mode = ours.mode === base?.mode ? theirs.mode : ours.mode;
    const contents = await this.#read([from, left, right]);
    if (contents === undefined) return { kind: 'conflict' };
    const [before, mine, other] = contents;
    this.#texts ??= new TextMerger();
    const merged = await this.#texts.apply(mine, before, other, this.#names);
    if (merged.kind === 'binary') return { kind: 'conflict' };
    const kind = merged.kind === 'merged' ? 'merged' : 'marked';
    return { kind, state: { mode, oid: this.#keep(merged.content) } };
  }

  #keep(content: Buffer): Oid {
    const oid = this.#batch.blob(content);
    this.#known.set(oid, content);
    return oid;
  }

  close(): void {
    this.#texts?.close();
  }

  /** Reads the three contents; `undefined` when an object is missing. A missing base counts as empty. */
  async #read(oids: readonly (Oid | undefined)[]): Promise<[Buffer, Buffer, Buffer] | undefined> {
    const stored = oids.flatMap((oid) => (oid === undefined || this.#known.has(oid) ? [] : [oid]));
    const read = await readObjects(this.#git, stored);
    const contents = new Map([...this.#known, ...stored.map((oid, at) => [oid, read[at]?.content] as const)]);
    const [base, ours, theirs] = oids.map((oid) => (oid === undefined ? Buffer.alloc(0) : contents.get(oid)));
    return base === undefined || ours === undefined || theirs === undefined
      ? undefined
      : [base, ours, theirs];
  }
}

/** Returns the blob of a regular file. Links are never merged by line. */
export function oidOfFile(state: FileState): Oid | undefined {
  return state?.mode.startsWith('100') === true && state.oid !== null ? state.oid : undefined;
}
