import { jsonFields } from './json-fields.ts';
import { type Oid, type SessionId, parseOid, parseSessionId } from './names.ts';
import type { RescueLimits } from './settings.ts';

/** What `rescue.json` says of the uncommitted work that is kept beside it, and how long such work is kept. */

/** A file as it was. */
export interface RescuedFile {
  readonly path: string;
  readonly mode: string;
  readonly bytes: number;
  /** The session whose change it was; `null`: nobody's, or not known. */
  readonly owner: SessionId | null;
  /** Nobody but its owner could read it, which git's mode does not say. */
  readonly isPrivate?: true;
  /** Kept as it was on the disk; the other files are kept as git stores them. */
  readonly isRaw?: true;
}

/** A file that was not kept: bigger than one may be, no time left, not to be read, a repository of its own. */
export interface SkippedFile {
  readonly path: string;
  readonly bytes: number;
  readonly why: 'big' | 'time' | 'unreadable' | 'repository';
}

export interface RescueNote {
  readonly v: 1;
  /** `before`: taken before a command · `seen`: gone without a tool call, as a session's hook last saw it, or as a note carried it. */
  readonly kind: 'before' | 'seen';
  /** The command, as far as it is known; empty for `seen`. */
  readonly command: string;
  /** Who ran it; `null`: not known. */
  readonly session: SessionId | null;
  /** Milliseconds since the epoch: of the command, or of the last look. */
  readonly at: number;
  /** Name of the working tree's folder. */
  readonly worktree: string;
  /** Full name of the branch, or `HEAD`. */
  readonly ref: string;
  readonly head: Oid | null;
  readonly files: readonly RescuedFile[];
  /** Paths that were deleted on the disk and not committed. */
  readonly deleted: readonly string[];
  /** Paths with another content in the index than on the disk and in HEAD; kept below `index/`. */
  readonly staged: readonly string[];
  readonly skipped: readonly SkippedFile[];
}

/** Bytes of all files. */
export function rescuedBytes({ files }: RescueNote): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Reads `rescue.json`; `undefined` when it is of another format or damaged. */
export function parseRescueNote(text: string): RescueNote | undefined {
  const value = jsonFields<keyof RescueNote>(text);
  if (value.v !== 1 || (value.kind !== 'before' && value.kind !== 'seen') || typeof value.at !== 'number')
    return undefined;
  const texts = (list: unknown) => items(list).filter((item) => typeof item === 'string');
  return {
    v: 1,
    kind: value.kind,
    command: typeof value.command === 'string' ? value.command : '',
    session: sessionOf(value.session),
    at: value.at,
    worktree: typeof value.worktree === 'string' ? value.worktree : '',
    ref: typeof value.ref === 'string' ? value.ref : 'HEAD',
    head: typeof value.head === 'string' ? (parseOid(value.head) ?? null) : null,
    files: items(value.files).flatMap(rescuedFile),
    deleted: texts(value.deleted),
    staged: texts(value.staged),
    skipped: items(value.skipped).flatMap(skippedFile),
  };
}

const items = (list: unknown): unknown[] => (Array.isArray(list) ? list : []);
const sessionOf = (id: unknown) => (typeof id === 'string' ? (parseSessionId(id) ?? null) : null);
const REASONS = ['big', 'time', 'unreadable', 'repository'] as const;

function rescuedFile(item: unknown): RescuedFile[] {
  const { path, mode, bytes, owner, isPrivate, isRaw } = (item ?? {}) as Record<string, unknown>;
  if (typeof path !== 'string' || typeof mode !== 'string' || typeof bytes !== 'number') return [];
  const marks = { ...mark('isPrivate', isPrivate), ...mark('isRaw', isRaw) };
  return [{ path, mode, bytes, owner: sessionOf(owner), ...marks }];
}

const mark = <K extends string>(key: K, value: unknown) =>
  (value === true ? { [key]: true } : {}) as Partial<Record<K, true>>;

function skippedFile(item: unknown): SkippedFile[] {
  const { path, bytes, why } = (item ?? {}) as Record<string, unknown>;
  const reason = REASONS.find((one) => one === why);
  return typeof path === 'string' && typeof bytes === 'number' && reason !== undefined
    ? [{ path, bytes, why: reason }]
    : [];
}

/** Something kept, as far as the limits need it. */
export interface Kept {
  readonly number: number;
  readonly at: number;
  readonly bytes: number;
}

/**
 * Which of a worktree's rescues are beyond the limits: too old, too many, or too big together. The newest one always
 * stays.
 *
 * @param now milliseconds since the epoch
 */
export function beyondLimits<T extends Kept>(kept: readonly T[], limits: RescueLimits, now: number): T[] {
  const newestFirst = [...kept].sort((a, b) => b.number - a.number);
  let bytes = 0;
  let full = false;
  return newestFirst.filter((one, place) => {
    bytes += one.bytes;
    full ||= bytes > limits.maxBytes;
    return place > 0 && (full || place >= limits.maxCount || now - one.at > limits.maxAgeMs);
  });
}
