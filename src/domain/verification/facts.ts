import type { AutomaticReason } from '../handoff.ts';

/** What a note is checked against. */
type Axis = 'note' | 'branch' | 'head' | 'files' | 'tree' | 'tests' | 'siblings';

/**
 * `ok`: as the note says · `changed`: older than the repository, and still good to continue from · `stale`: not to be
 * followed before somebody has checked · `unknown`: cannot be told.
 */
export type NoteVerdict = 'ok' | 'changed' | 'stale' | 'unknown';

/**
 * What each situation means for a note. One `stale` finding makes the note stale. Commits on top of the note's base do not,
 * because the note's own session commits after writing it. The manual shows this table (STALE NOTES).
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

  'tests-proven': ['tests', 'ok'],
  'tests-failed': ['tests', 'changed'],
  'tests-outdated': ['tests', 'changed'],
  'tests-none': ['tests', 'unknown'],

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
  /** The path or the handoff that the finding is about. */
  readonly subject: string | null;
  /** One plain sentence, safe to show. */
  readonly text: string;
}

/** Builds a finding by its rule. */
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
  /** Neither here nor at a remote, and another person wrote the note: the branch was deleted, or never pushed. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'deleted' };

/** How the default branch contains the branch's work: as its own commits or as one squashed commit. */
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
      /** How many commits only the branch has, and how many only the note's base has. */
      readonly ours: number;
      readonly theirs: number;
      /** Whether branch and base have exactly the same files. */
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
    /** The file exists, and there is nothing to compare it with. */
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

/** A command that the note's session tried; `isHere`: on the tree that is here now (HEAD, or HEAD plus its changes). */
export interface TriedFact {
  readonly command: string;
  readonly status: number;
  readonly isHere: boolean;
}

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
  /** Why the commit at the note's ref is not shown; `undefined`: it is. */
  readonly movedByHand: string | undefined;
  readonly place: BranchPlace;
  readonly merged: Merged | undefined;
  readonly head: HeadRelation;
  readonly files: readonly FileFact[];
  /** How many important files are left unchecked. */
  readonly filesLeft: number;
  readonly tree: TreeFact;
  readonly tried: readonly TriedFact[];
  /** The owner, when it is at work now and is not the reader. */
  readonly liveOwner: string | undefined;
  /** The clients of sessions on record. */
  readonly clients?: ReadonlyMap<string, string>;
  readonly siblings: readonly SiblingFact[];
}

/** A path that a note names: only ever compared with what git knows, never opened. */
export interface NamedPath {
  /** The path as the note has it. */
  readonly text: string;
  /** The path from the top of the working tree; `undefined`: it cannot lie inside. */
  readonly path: string | undefined;
  /** Whether it looks like a path; otherwise it counts only if there is such a file. */
  readonly sure: boolean;
}

export interface NamedPaths {
  readonly paths: readonly NamedPath[];
  /** How many more were named. */
  readonly left: number;
}

/** How many of a note's files are checked. */
export const MAX_FILES = 50;
/** How much of a section is read. Characters. */
const MAX_SECTION = 20_000;
const MAX_PATH = 1000;

const MARKER = /^(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/;
const LINK = /\]\(([^()\s]+)\)/g;

/**
 * Returns the paths of an "important files" section: code spans and links, else the first word of a list item or line.
 *
 * @param top the top of the working tree, for absolute paths; `undefined`: there is none
 */
export function importantPaths(section: string, top?: string): NamedPaths {
  const found = new Map<string, NamedPath>();
  for (const line of section.slice(0, MAX_SECTION).split('\n')) {
    for (const named of namesIn(line.trim(), top)) {
      const key = named.path ?? `\0${named.text}`;
      if (!found.has(key)) found.set(key, named);
    }
  }
  const paths = [...found.values()];
  return { paths: paths.slice(0, MAX_FILES), left: Math.max(0, paths.length - MAX_FILES) };
}

function namesIn(line: string, top: string | undefined): NamedPath[] {
  const item = line.replace(MARKER, '');
  const parts = item.split('`');
  // A span stands between two backticks; a last one alone opens nothing.
  const spans = parts.filter((_, at) => at % 2 === 1 && at < parts.length - 1).map((text) => text.trim());
  const links = [...item.matchAll(LINK)].map(([, target = '']) => target);
  const marked = [...spans, ...links].filter((text) => text !== '' && !text.includes('://'));
  if (marked.length > 0) return marked.map((text) => named(text, top)).filter(isLikely);
  // Prose begins with a word, too: without backticks or a link, only what looks like a path counts.
  const word = (item.split(/[\s|]/).find((part) => part !== '') ?? '').replace(/[,;:*]{1,3}$/, '');
  const plain = named(word.replace(/^\*{1,2}/, ''), top);
  return word !== '' && plain.sure && !word.includes('://') ? [plain] : [];
}

/** Whether a marked text may be a path: with blanks or parentheses it is rather a command or a function. */
function isLikely({ text, sure }: NamedPath): boolean {
  return sure || /^[^\s()]+$/.test(text);
}

const LINE_NUMBER = /(?::\d{1,9}(?:[:-]\d{1,9})?|#L\d{1,9}(?:-L\d{1,9})?)$/;

function named(text: string, top: string | undefined): NamedPath {
  const bare = text.replace(LINE_NUMBER, '');
  return { text, path: pathInside(bare, top), sure: looksLikePath(bare) };
}

function looksLikePath(text: string): boolean {
  const hasEnding = /[^.]\.[A-Za-z0-9_+-]{1,16}$/.test(text);
  if (/[()]/.test(text)) return hasEnding && text.includes('/');
  if (/\s/.test(text)) return hasEnding && !text.startsWith('-');
  if (/[*?]/.test(text)) return false;
  return hasEnding || text.includes('/');
}

/** Returns the path from the top, without `.` and empty parts; `undefined`: it leads out of the tree, or into `.git`. */
function pathInside(text: string, top: string | undefined): string | undefined {
  const relative = top !== undefined && text.startsWith(`${top}/`) ? text.slice(top.length + 1) : text;
  if (relative.startsWith('/') || relative.startsWith('~') || relative.length > MAX_PATH) return undefined;
  // eslint-disable-next-line no-control-regex -- no name that is typed has them, and NUL ends an argument
  if (/[\u0000-\u001f\u007f\\\ufffd]/.test(relative)) return undefined;
  const parts = relative.split('/').filter((part) => part !== '' && part !== '.');
  const isOutside = parts.some((part) => part === '..' || /^\.git[ .]*$/i.test(part));
  return isOutside || parts.length === 0 ? undefined : parts.join('/');
}
