/**
 * What two lines of work have in common, judged by a merge that was only tried: whether they touch the same files, and
 * whether those would merge.
 */

/** What git says of a tried merge. */
export interface MergeReport {
  readonly isClean: boolean;
  /** Entries that a merge would leave in conflict: stage 1 is the base’s, 2 and 3 are the sides’. */
  readonly unmerged: readonly { readonly path: string; readonly stage: number }[];
  /** What it did or could not do, by the type of message and the paths that it names. */
  readonly messages: readonly { readonly paths: readonly string[]; readonly type: string }[];
}

/**
 * `conflict`: a merge would stop there · `deleted`: one side deleted what the other changed, which stops it, too ·
 * `not-judged`: a program of the user’s merges such files · `same-file`: both changed it, and it merges ·
 * `same-tree`: two sessions changed it in one working tree.
 */
export type OverlapKind = (typeof OVERLAP_KINDS)[number];

/** Worst first. */
const OVERLAP_KINDS = ['conflict', 'deleted', 'not-judged', 'same-tree', 'same-file'] as const;

/** A path on which two sides meet. */
export interface PathOverlap {
  readonly path: string;
  readonly kind: OverlapKind;
  /** Which side deleted it. */
  readonly deletedBy?: 'one' | 'other';
}

/** What one side has changed since a commit that both sides have. */
export interface Extent {
  readonly paths: ReadonlySet<string>;
  /** The folders above them. */
  readonly folders: ReadonlySet<string>;
  /** It deleted some files and added others, which git may take for renames. */
  readonly mayRename: boolean;
}

/** The reach of some changes: each a path, and whether it was added or deleted. */
export function extentOf(
  changes: readonly { readonly path: string; readonly isNew: boolean; readonly isGone: boolean }[],
): Extent {
  const folders = new Set<string>();
  for (const { path } of changes) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      folders.add(path.slice(0, end));
  }
  return {
    paths: new Set(changes.map(({ path }) => path)),
    folders,
    mayRename: changes.some(({ isGone }) => isGone) && changes.some(({ isNew }) => isNew),
  };
}

/**
 * Whether two sets of changes to one commit can overlap. Without renames git merges path by path: a path that only one side
 * changed is that side's, unless a file and a folder have the same name.
 */
export function mayMeet(one: Extent, other: Extent): boolean {
  if (one.paths.size === 0 || other.paths.size === 0) return false;
  if (one.mayRename || other.mayRename) return true;
  const meets = (a: Extent, b: Extent) =>
    [...a.paths].some((path) => b.paths.has(path) || b.folders.has(path));
  return meets(one, other) || meets(other, one);
}

/** The paths that a message of a merged file names. */
export function autoMerged({ messages }: MergeReport): string[] {
  return messages.flatMap(({ paths, type }) => (type === 'Auto-merging' ? paths : []));
}

/**
 * What a tried merge says of each path that both sides changed, the worst first. Changes that are the same on both sides
 * are no overlap.
 *
 * @param isDriven whether a program of the user’s would merge the path
 */
export function overlapsOf(report: MergeReport, isDriven: (path: string) => boolean): PathOverlap[] {
  const overlaps = new Map<string, PathOverlap>();
  for (const path of autoMerged(report)) overlaps.set(path, { path, kind: 'same-file' });
  for (const path of stoppedAt(report)) overlaps.set(path, conflictAt(path, report));
  for (const path of autoMerged(report)) {
    if (isDriven(path)) overlaps.set(path, { path, kind: 'not-judged' });
  }
  const rank = ({ kind }: PathOverlap) => OVERLAP_KINDS.indexOf(kind);
  return [...overlaps.values()].sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1));
}

/** A merge leaves an entry for every conflict but those of whole folders. */
function stoppedAt({ isClean, unmerged, messages }: MergeReport): Set<string> {
  const paths = new Set(unmerged.map(({ path }) => path));
  if (isClean || paths.size > 0) return paths;
  return new Set(messages.flatMap(({ paths, type }) => (type.startsWith('CONFLICT') ? paths : [])));
}

function conflictAt(path: string, { unmerged, messages }: MergeReport): PathOverlap {
  const isDeletion = messages.some(
    (one) => /\((?:modify|rename)\/delete\)/.test(one.type) && one.paths.includes(path),
  );
  if (!isDeletion) return { path, kind: 'conflict' };
  const isThere = (stage: number) => unmerged.some((entry) => entry.path === path && entry.stage === stage);
  return { path, kind: 'deleted', deletedBy: isThere(2) ? 'other' : 'one' };
}

/** Whether a merge would stop there. */
export function stopsMerge({ kind }: Pick<PathOverlap, 'kind'>): boolean {
  return kind === 'conflict' || kind === 'deleted';
}
