import type { Oid, SessionId } from '../names.ts';

/**
 * How the working tree differs from HEAD at one moment (a status), and what two statuses tell about the time between them:
 * those from before and after a shell command, or a session's start list and a later status.
 */

/** A file's path from the top of the working tree. */
export interface FilePath {
  readonly path: string;
  /** The bytes of a name that is not UTF-8, one character each; `path` has U+FFFD for them. */
  readonly raw?: string | undefined;
}

/** A path that differs from HEAD in the index or on the disk. */
export interface DirtyPath extends FilePath {
  readonly head: FileState;
  readonly index: FileState;
  readonly disk: FileState;
  /** Whether the index has the path because of `git add --intent-to-add`. */
  readonly intended?: true;
  /** Size, times and inode of the file: when they are the same, so is the content. Empty when there is no file. */
  readonly stamp: string;
}

/** What HEAD has at a path, and the content that replaces it on disk or in the index. */
export type Replaced = Pick<DirtyPath, 'head' | 'disk'>;

/** Where HEAD is: the full name of the branch (also unborn), or `HEAD` when detached. */
export interface HeadPlace {
  readonly ref: string;
  readonly oid: Oid | null;
}

export interface TreeStatus {
  readonly head: HeadPlace;
  readonly dirty: ReadonlyMap<string, DirtyPath>;
  /** The time just before git looked, in milliseconds since the epoch. */
  readonly at: number;
}

/** Whether two statuses show the same paths in the same states. */
export function sameDirty(a: TreeStatus, b: TreeStatus): boolean {
  if (a.dirty.size !== b.dirty.size || a.head.oid !== b.head.oid) return false;
  return [...a.dirty].every(([path, one]) => {
    const other = b.dirty.get(path);
    return other !== undefined && other.stamp === one.stamp && JSON.stringify(other) === JSON.stringify(one);
  });
}

/** When a shell command ran, as its session's guard saw it. */
export interface Window {
  readonly session: SessionId;
  readonly id: string;
  readonly from: number;
  /** `undefined` while the command runs. */
  readonly to: number | undefined;
  /** Whether a program that it started in the background may still run. */
  readonly goesOn?: boolean | undefined;
}

/** How long a background program counts as running after its command if nobody reports its end. Milliseconds. */
const GOES_ON_MS = 10 * 60_000;

/** In a longer window, a person or a background program may well have made the change. Milliseconds. */
export const LONG_WINDOW_MS = 60_000;

/** Whether another session's command, or a background program of any session, ran during this window. */
export function overlaps(window: Window, others: readonly Window[]): boolean {
  const end = window.to ?? Infinity;
  return others.some((other) => {
    if (other.session === window.session && (other.goesOn !== true || other.id === window.id)) return false;
    return other.from <= end && endOf(other) >= window.from;
  });
}

function endOf({ to = Infinity, goesOn }: Window): number {
  return goesOn === true ? to + GOES_ON_MS : to;
}

/** A path whose content on the disk has changed. */
export interface WindowChange {
  readonly path: string;
  readonly base: FileState;
  readonly before: FileState;
  readonly after: FileState;
  /** Whether the path differed from HEAD before, because somebody had begun to change it. */
  readonly wasDirty: boolean;
}

/** Returns what changed on the disk, except by HEAD's moves. `was`: what a former HEAD had at paths that were clean then. */
export function changesBetween(
  before: TreeStatus,
  after: TreeStatus,
  was: ReadonlyMap<string, FileState> = new Map(),
): WindowChange[] {
  const changes: WindowChange[] = [];
  for (const [path, now] of after.dirty) {
    const then = before.dirty.get(path);
    if (then === undefined) {
      // The disk is as HEAD has it: only the index differs, by staging or because HEAD moved.
      if (sameState(now.disk, now.head)) continue;
      const then = was.get(path);
      const stood = then === undefined ? now.head : then;
      if (sameState(stood, now.disk)) continue;
      changes.push({ path, base: now.head, before: stood, after: now.disk, wasDirty: false });
    } else if (!sameOnDisk(then, now)) {
      changes.push({ path, base: then.head, before: then.disk, after: now.disk, wasDirty: true });
    }
  }
  return changes;
}

/** Returns paths that were dirty and now are as HEAD has them, while HEAD did not move: discarded, not committed. */
export function discardedBetween(before: TreeStatus, after: TreeStatus): string[] {
  if (before.head.oid !== after.head.oid) return [];
  return [...before.dirty.keys()].filter((path) => !after.dirty.has(path));
}

/** Returns paths whose entry in the index changed between two statuses while HEAD did not move; not those in conflict. */
export function stagedBetween(before: TreeStatus, after: TreeStatus): { path: string; state: FileState }[] {
  if (before.head.oid !== after.head.oid) return [];
  return [...after.dirty.values()].flatMap(({ path, index, head }) => {
    const known = before.dirty.get(path);
    const then = known === undefined ? head : known.index;
    return sameState(then, index) || index?.oid === null ? [] : [{ path, state: index }];
  });
}

/** Whether two statuses saw the same content on the disk. */
export function sameOnDisk(then: DirtyPath, now: DirtyPath): boolean {
  if (then.stamp !== '' && then.stamp === now.stamp) return true;
  if (then.disk === null || now.disk === null) return then.disk === now.disk;
  return sameState(then.disk, now.disk);
}

/** Whether somebody else may have made a change that was seen in this window. */
export function isDoubtful(window: Window, others: readonly Window[]): boolean {
  const length = (window.to ?? window.from) - window.from;
  return length > LONG_WINDOW_MS || overlaps(window, others);
}

/** What is at a path; `null`: nothing. `oid` is `null` if the content was not read (too big, a submodule). */
export type FileState = { readonly mode: string; readonly oid: Oid | null } | null;

/** File times lag behind the clock by up to a tick of the kernel. Milliseconds. */
export const CLOCK_SLACK_MS = 20;

/**
 * How we know of a change. `explicit`: a file tool (or a person) named the path. `named`: a program in a shell command names
 * the path and writes it. `window`: the path differed before and after a shell command. `since-start`: a session that worked
 * alone had changed the path before a second session arrived.
 */
export type Evidence = (typeof EVIDENCE)[number];

/** Weakest first. */
export const EVIDENCE = ['since-start', 'window', 'named', 'explicit'] as const;

/** Ranks evidence: what proves more has a higher rank. */
export function rankOf(evidence: Evidence): number {
  return EVIDENCE.indexOf(evidence);
}

/** Returns which of the two proves more. */
export function strongest(a: Evidence, b: Evidence): Evidence {
  return rankOf(a) >= rankOf(b) ? a : b;
}

/** What a session wanted to do with another session's uncommitted work, when it was refused. */
export const WISHES = ['edit', 'commit', 'discard', 'stash', 'switch'] as const;
export type Wish = (typeof WISHES)[number];

/** Whether two states of a path are the same. Content that was not read is never the same. */
export function sameState(a: FileState, b: FileState): boolean {
  if (a === null || b === null) return a === b;
  return a.oid !== null && a.oid === b.oid && a.mode === b.mode;
}
