/** What a note is checked against. */
type Axis = 'note' | 'branch' | 'head' | 'files' | 'tree' | 'siblings';

/**
 * `ok`: as the note knew it · `changed`: older than the repository, and still good to go on from · `stale`: not to
 * be followed before somebody has looked · `unknown`: could not be told.
 */
export type NoteVerdict = 'ok' | 'changed' | 'stale' | 'unknown';

/**
 * What each situation means for a note. One that is `stale` makes the note stale; commits on top of it do not, because
 * its own session commits after writing. docs/boot.md shows this table.
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
