import type { AutomaticReason } from '../handoff.ts';

/** What a note is checked against. */
type Axis = 'note' | 'branch' | 'head' | 'files' | 'tree' | 'siblings';

/**
 * `ok`: as the note says · `changed`: older than the repository, and still good to continue from · `stale`: not to be
 * followed before somebody has checked · `unknown`: cannot be told.
 */
export type NoteVerdict = 'ok' | 'changed' | 'stale' | 'unknown';

/**
 * What each situation means for a note. One that is `stale` makes the note stale; commits on top of it do not, because
 * its own session commits after writing. The manual shows this table (STALE NOTES).
 */
export const RULES = {
  'note-closed': ['note', 'stale'],
  'note-automatic': ['note', 'changed'],
  'note-moved': ['note', 'changed'],

  'branch-here': ['branch', 'ok'],
  'branch-unborn': ['branch', 'ok'],
  'detached-still': ['branch', 'ok'],
  'branch-elsewhere': ['branch', 'changed'],
  'branch-renamed': ['branch', 'changed'],
  'branch-remote': ['branch', 'changed'],
  'detached-then': ['branch', 'changed'],
  'branch-merged': ['branch', 'stale'],
  'branch-squashed': ['branch', 'stale'],
  'branch-absent': ['branch', 'unknown'],
  'branch-deleted': ['branch', 'stale'],

  'head-equal': ['head', 'ok'],
  'head-unborn': ['head', 'ok'],
  'head-ahead': ['head', 'changed'],
  'head-first': ['head', 'changed'],
  'head-reworded': ['head', 'changed'],
  'head-behind': ['head', 'stale'],
  'head-diverged': ['head', 'stale'],
  'head-none': ['head', 'unknown'],
  'base-missing': ['head', 'unknown'],
  'base-shallow': ['head', 'unknown'],

  'file-present': ['files', 'ok'],
  'file-changed': ['files', 'changed'],
  'file-moved': ['files', 'changed'],
  'file-missing': ['files', 'stale'],
  'file-uncompared': ['files', 'unknown'],
  'file-unsafe': ['files', 'unknown'],
  'files-left': ['files', 'unknown'],

  'tree-clean': ['tree', 'ok'],
  'tree-as-then': ['tree', 'ok'],
  'tree-more': ['tree', 'changed'],
  'tree-fewer': ['tree', 'changed'],
  'tree-others': ['tree', 'changed'],
  'tree-operation': ['tree', 'changed'],
  'tree-elsewhere': ['tree', 'unknown'],
  'tree-none': ['tree', 'unknown'],

  'owner-live': ['siblings', 'changed'],
  'sibling-newer': ['siblings', 'changed'],
  'sibling-overlap': ['siblings', 'changed'],
  'sibling-replaces': ['siblings', 'stale'],
} as const satisfies Readonly<Record<string, readonly [Axis, NoteVerdict]>>;

export type FindingCode = keyof typeof RULES;

/** One thing that was checked. */
export interface NoteFinding {
  readonly axis: Axis;
  readonly code: FindingCode;
  readonly verdict: NoteVerdict;
  /** The path or the handoff that it is about. */
  readonly subject: string | null;
  /** One plain sentence, safe to show. */
  readonly text: string;
}

/** A finding by its rule. */
export function finding(code: FindingCode, text: string, subject: string | null = null): NoteFinding {
  const [axis, verdict] = RULES[code];
  return { axis, code, verdict, subject, text };
}

/** Where the branch of a note is now. `current` is the branch that is checked out; `HEAD` when none is. */
export type BranchPlace =
  | { readonly kind: 'here' }
  /** The note was written on a detached HEAD, and HEAD is detached now. */
  | { readonly kind: 'detached-still' }
  | { readonly kind: 'detached-then'; readonly current: string }
  | { readonly kind: 'unborn' }
  | { readonly kind: 'elsewhere'; readonly current: string; readonly worktree: string | undefined }
  | { readonly kind: 'renamed'; readonly to: string; readonly current: string }
  /** Not here, but a remote had it when it was last fetched. */
  | { readonly kind: 'remote'; readonly remote: string }
  /** Neither here nor at a remote, and another person wrote the note: deleted, or not pushed. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'deleted' };

/** How the default branch has the branch's work: by its commits or as one squashed commit. */
export interface Merged {
  readonly into: string;
  readonly squashed: boolean;
}

/** How the branch's tip relates to the commit that the note is about. */
export type HeadRelation =
  | { readonly kind: 'equal' }
  | { readonly kind: 'ahead'; readonly by: number }
  | { readonly kind: 'behind'; readonly by: number }
  | {
      readonly kind: 'diverged';
      /** Commits that only the branch has, and only the note's base. */
      readonly ours: number;
      readonly theirs: number;
      /** Whether both hold the very same files. */
      readonly sameTree: boolean;
    }
  /** The base is not among the objects here. */
  | { readonly kind: 'base-missing' }
  /** The history here is cut off, so that the relation is not known. */
  | { readonly kind: 'base-shallow' }
  /** The note was written before the first commit. */
  | { readonly kind: 'first' }
  | { readonly kind: 'unborn' }
  /** There is no branch to compare with. */
  | { readonly kind: 'none' };

/** A file that the note calls important. */
export interface FileFact {
  /** As the note names it. */
  readonly path: string;
  readonly state:
    | { readonly kind: 'present' }
    | { readonly kind: 'changed'; readonly committed: boolean; readonly uncommitted: boolean }
    | { readonly kind: 'moved'; readonly to: string }
    /** `known`: the note's base has it. */
    | { readonly kind: 'missing'; readonly known: boolean }
    /** It exists, and there is nothing to compare it with. */
    | { readonly kind: 'uncompared' }
    /** Outside of the repository, or no path that git could have: never opened. */
    | { readonly kind: 'unsafe' };
}

export type TreeFact =
  /** A bare repository. */
  | { readonly kind: 'none' }
  /** The note records another working tree, or this one is on another branch. */
  | { readonly kind: 'elsewhere'; readonly worktree: string | null }
  | {
      readonly kind: 'here';
      /** Uncommitted paths now, and when the note was written. */
      readonly now: number;
      readonly then: number;
      /** Other live sessions with uncommitted paths here. */
      readonly others: readonly { readonly session: string; readonly paths: number }[];
      /** The merge, rebase … that is unfinished here. */
      readonly operation: string | undefined;
    };

/** Another open handoff of the branch. */
export interface SiblingFact {
  /** As it is typed. */
  readonly name: string;
  readonly owner: string;
  /** The owner's client, or its name if it is a person. */
  readonly client?: string | undefined;
  readonly personName?: string | undefined;
  readonly newer: boolean;
  /** Whether it is probably the same work, by its topic. */
  readonly overlaps: boolean;
  readonly automatic: boolean;
}

/** Everything that is known of a note and its repository. */
export interface VerificationFacts {
  readonly branch: string;
  readonly closed: boolean;
  readonly automatic: AutomaticReason | undefined;
  /** Why the commit at its ref is not shown; `undefined`: it is. */
  readonly movedByHand: string | undefined;
  readonly place: BranchPlace;
  readonly merged: Merged | undefined;
  readonly head: HeadRelation;
  readonly files: readonly FileFact[];
  /** How many important files are left unchecked. */
  readonly filesLeft: number;
  readonly tree: TreeFact;
  /** The owner, when it is at work now and is not the reader. */
  readonly liveOwner: string | undefined;
  /** The clients of sessions on record. */
  readonly clients?: ReadonlyMap<string, string>;
  readonly siblings: readonly SiblingFact[];
}
