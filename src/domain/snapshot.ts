import { MAX_PATH, foldedName, type Oid, type SessionId, parseOid, parseSessionId } from './names.ts';
import { jsonFields } from './journal/events.ts';
import type { FilePath, FileState } from './ledger/tree-status.ts';
import type { RescueLimits } from './settings.ts';
import { counted } from './messages.ts';

/**
 * A snapshot: uncommitted content, as a commit without parents. Its tree holds `work.json` and the contents as numbered
 * blobs, so that git never writes to the paths of a working tree. A note may carry a snapshot; a rescue keeps one. Pure.
 */

export const SNAPSHOT_FILE = 'work.json';
const VERSION = 1;
/** The most paths that a snapshot from elsewhere may have. */
export const MAX_PATHS = 5000;
/** Each path has up to four blobs: HEAD's, the index's, the working tree's, and the file's own bytes. */
export const MAX_BLOBS = 4 * MAX_PATHS;

/** A path that differs from HEAD, with its state in HEAD, in the index, and on the disk (as `git add` would store it). */
export interface SnapshotItem extends FilePath {
  readonly base: FileState;
  readonly index: FileState;
  readonly disk: FileState;
  /** The file's own bytes, if a checkout might not restore them; the same blob as `disk` if no filter changed them. */
  readonly own?: Oid | undefined;
  /** What `git handoff undo` left there, if that is not HEAD's content: others' part of the change. */
  readonly left?: FileState | undefined;
  /** Added by `git add --intent-to-add`. */
  readonly intended?: true | undefined;
  /** The session that made the change; left out: nobody, not known, or whoever took the snapshot. */
  readonly owner?: SessionId | undefined;
  /** Whether only the file's owner could read it, which git's modes do not say. */
  readonly isPrivate?: boolean | undefined;
  readonly bytes?: number | undefined;
}

/** A file whose content the snapshot lacks: it was too big, unreadable or a repository of its own, or time ran out. */
export interface SkippedFile {
  readonly path: string;
  readonly bytes: number;
  readonly why: (typeof WHY_SKIPPED)[number];
}

const WHY_SKIPPED = ['big', 'time', 'unreadable', 'repository'] as const;

const KINDS = ['before', 'seen', 'undone', 'stop'] as const;

/** Why a snapshot was taken. */
export interface SnapshotReason {
  /**
   * `before`: taken before a command · `seen`: work that went away without a tool call, as a hook last saw it or a note carried
   * it · `undone`: taken before `git handoff undo`; a restore also brings back deletions and staged changes · `stop`: taken at
   * the end of a session's turn, before anything is lost.
   */
  readonly kind: (typeof KINDS)[number];
  /** The command, as far as it is known. */
  readonly command: string;
  /** The session that ran the command; `null`: not known. */
  readonly session: SessionId | null;
  /** When the command ran, or the work was last seen; milliseconds since the epoch. */
  readonly at: number;
  /** Name of the working tree's folder. */
  readonly worktree: string;
  /** Full name of the branch, or `HEAD`. */
  readonly ref: string;
  readonly skipped: readonly SkippedFile[];
}

/** What `work.json` holds. */
export interface Snapshot {
  /** HEAD when the snapshot was taken; `null` on an unborn branch. */
  readonly base: Oid | null;
  readonly items: readonly SnapshotItem[];
  /** `undefined`: a note carries the snapshot. */
  readonly reason?: SnapshotReason | undefined;
}

/** Returns `work.json`, which refers to blobs by number, and the blobs in the order of their numbers. */
export function formatSnapshot({ base, items, reason }: Snapshot): { text: string; blobs: readonly Oid[] } {
  const numbers = new Map<Oid, number>();
  const numberOf = (oid: Oid) => {
    const number = numbers.get(oid) ?? numbers.size;
    numbers.set(oid, number);
    return number;
  };
  const pair = (state: FileState) =>
    state === null || state.oid === null ? null : [state.mode, numberOf(state.oid)];
  // In `work.json`, `raw` is the blob of a file's own bytes, and `name` is the path's raw name.
  const listed = items.map(({ path, raw, base: head, index, disk, own, left, ...marks }) => ({
    path,
    base: pair(head),
    index: pair(index),
    disk: pair(disk),
    raw: own && numberOf(own),
    left: left === undefined ? undefined : pair(left),
    name: raw,
    ...marks,
  }));
  const text = `${JSON.stringify({ version: VERSION, base, items: listed, reason })}\n`;
  return { text, blobs: [...numbers.keys()] };
}

/**
 * Reads `work.json`, and trusts nothing in it. A returned text says what is wrong with the file. `blobs`: in the order of their
 * numbers. `isOwn`: this clone took the snapshot, so its size is not limited, and every path is accepted.
 */
export function parseSnapshot(text: string, blobs: readonly Oid[], isOwn = false): Snapshot | string {
  const fields = jsonFields<'version' | 'base' | 'items' | 'reason'>(text);
  if (fields.version !== VERSION) return `unknown format of ${SNAPSHOT_FILE}`;
  const base = fields.base === null ? null : parseOid(textOf(fields.base));
  if (base === undefined || !Array.isArray(fields.items)) return DAMAGED;
  if (!isOwn && fields.items.length > MAX_PATHS) return `more than ${MAX_PATHS} paths`;
  const items: SnapshotItem[] = [];
  const names = new Set<string>();
  for (const one of fields.items) {
    const item = parseItem(one, blobs, isOwn);
    if (typeof item === 'string') return item;
    const key = item.raw ?? item.path;
    if (names.has(key)) return `a path that is there twice: ${JSON.stringify(item.path)}`;
    names.add(key);
    items.push(item);
  }
  return { base, items, reason: parseReason(fields.reason) };
}

const DAMAGED = `${SNAPSHOT_FILE} is damaged`;

function parseItem(value: unknown, blobs: readonly Oid[], isOwn: boolean): SnapshotItem | string {
  if (typeof value !== 'object' || value === null) return DAMAGED;
  const { path, name, raw, intended, ...rest } = value as Record<string, unknown>;
  if (typeof path !== 'string' || !(isOwn || isWorkPath(path)))
    return `not a path: ${JSON.stringify(path ?? null)}`;
  const [base, index, disk, left] = [rest['base'], rest['index'], rest['disk'], rest['left'] ?? null].map(
    (state) => parseState(state, blobs),
  );
  if (base === undefined || index === undefined || disk === undefined || left === undefined) return DAMAGED;
  const own = raw === undefined ? undefined : blobAt(raw, blobs);
  if (raw !== undefined && (own === undefined || disk === null)) return DAMAGED;
  return {
    path,
    raw: isOwn && typeof name === 'string' ? name : undefined,
    base,
    index,
    disk,
    own,
    left: (isOwn ? left : null) ?? undefined,
    intended: intended === true && index === null ? intended : undefined,
    ...marksOf(rest),
  };
}

function marksOf({ owner, isPrivate, bytes }: Record<string, unknown>) {
  return {
    owner: sessionOf(owner) ?? undefined,
    isPrivate: isPrivate === true || undefined,
    bytes: typeof bytes === 'number' ? bytes : undefined,
  };
}

const MODES = ['100644', '100755', '120000'];

function parseState(value: unknown, blobs: readonly Oid[]): FileState | undefined {
  if (value === null) return null;
  if (!Array.isArray(value)) return undefined;
  const [mode, number] = value as unknown[];
  const oid = blobAt(number, blobs);
  return typeof mode === 'string' && MODES.includes(mode) && oid !== undefined ? { mode, oid } : undefined;
}

const blobAt = (number: unknown, blobs: readonly Oid[]) =>
  typeof number === 'number' ? blobs[number] : undefined;

function parseReason(value: unknown): SnapshotReason | undefined {
  const { kind, command, session, at, worktree, ref, skipped } = (value ?? {}) as Record<string, unknown>;
  const known = KINDS.find((one) => one === kind);
  if (known === undefined || typeof at !== 'number') return undefined;
  return {
    kind: known,
    command: textOf(command),
    session: sessionOf(session),
    at,
    worktree: textOf(worktree),
    ref: textOf(ref) || 'HEAD',
    skipped: listOf(skipped).flatMap(skippedFile),
  };
}

const listOf = (list: unknown): unknown[] => (Array.isArray(list) ? list : []);
const textOf = (text: unknown) => (typeof text === 'string' ? text : '');
const sessionOf = (id: unknown) => parseSessionId(textOf(id)) ?? null;

function skippedFile(item: unknown): SkippedFile[] {
  const { path, bytes, why } = (item ?? {}) as Record<string, unknown>;
  const reason = WHY_SKIPPED.find((one) => one === why);
  return typeof path === 'string' && typeof bytes === 'number' && reason !== undefined
    ? [{ path, bytes, why: reason }]
    : [];
}

/** Whether a path from elsewhere can be in a working tree. git, which knows the file system, checks it later. */
function isWorkPath(path: string): boolean {
  // Half a surrogate pair would be written as another name.
  if (path.length > MAX_PATH || /[\0\p{Surrogate}]/u.test(path)) return false;
  return path.split('/').every((part) => part !== '' && !['.', '..', '.git'].includes(partName(part)));
}

/** Returns a part of a path as Windows, the least strict system, sees it: up to a colon, without final dots and spaces. */
function partName(part: string): string {
  if (part === '.' || part === '..') return part;
  const [name = ''] = foldedName(part).split(':');
  let end = name.length;
  while (end > 0 && '. '.includes(name[end - 1] ?? 'x')) end--;
  return name.slice(0, end);
}

/** A rescue by version 0.1.0 or older, before its contents have been found: its states have modes, but no blobs. */
interface NotedRescue extends Snapshot {
  readonly items: readonly (SnapshotItem & { readonly isRaw?: true })[];
  readonly reason: SnapshotReason;
}

/** Reads the `rescue.json` that versions up to 0.1.0 wrote beside a tree of files; `undefined` when it is damaged. */
export function parseRescueNote(text: string): NotedRescue | undefined {
  const value = jsonFields<'v' | 'kind' | 'head' | 'files' | 'deleted' | 'staged'>(text);
  const reason = parseReason(value);
  if (value.v !== 1 || reason === undefined) return undefined;
  const some = { mode: '100644', oid: null };
  const names = (list: unknown) => listOf(list).filter((path) => typeof path === 'string');
  const staged = new Set(names(value.staged));
  const files = listOf(value.files).flatMap((item): NotedRescue['items'] => {
    const fields = (item ?? {}) as Record<string, unknown>;
    const { path, mode, bytes, isRaw } = fields;
    if (typeof path !== 'string' || typeof mode !== 'string' || typeof bytes !== 'number') return [];
    const index = staged.has(path) ? some : null;
    const raw = isRaw === true || reason.kind === 'before' ? { isRaw: true as const } : {};
    return [{ path, base: null, index, disk: { mode, oid: null }, ...marksOf(fields), ...raw }];
  });
  const deleted = names(value.deleted).map((path) => ({ path, base: some, index: null, disk: null }));
  return { base: parseOid(textOf(value.head)) ?? null, items: [...files, ...deleted], reason };
}

/** Returns what a restore brings back: the file as it was, or what was only staged; `null`: nothing, it was deleted. */
export function contentOf({ base, index, disk }: SnapshotItem): FileState {
  return disk ?? (index?.oid === base?.oid ? null : index);
}

/** Whether the index had a content that neither the file nor HEAD had. */
export function isOnlyStaged({ base, index, disk }: Pick<SnapshotItem, 'base' | 'index' | 'disk'>): boolean {
  return index !== null && (index.oid === null || (index.oid !== base?.oid && index.oid !== disk?.oid));
}

/** Returns every blob of a snapshot, with the first path that has it. */
export function pathsOfBlobs(items: readonly SnapshotItem[]): ReadonlyMap<Oid, string> {
  const paths = new Map<Oid, string>();
  for (const { path, base, index, disk, own } of items)
    for (const oid of [base?.oid, index?.oid, disk?.oid, own].flatMap((one) => one ?? []))
      if (!paths.has(oid)) paths.set(oid, path);
  return paths;
}

export function bytesOf({ items }: Snapshot): number {
  return items.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
}

/** What the limits need to know of a kept rescue. */
interface Kept {
  readonly number: number;
  readonly at: number;
  readonly bytes: number;
}

/** Returns a worktree's rescues that are too old, too many or too big together; never the newest. `now`: ms since the epoch. */
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

/** Uncommitted work that a note carries: how much it is, and which of its files somebody must look at first. Pure. */

/** Folders whose files make programs run or instruct agents: git's, clients', editors'. */
const MOVING_FOLDER =
  /^(?:\.git.*|git~\d.*|\.(?:claude|codex|gemini|qwen|copilot|opencode|cursor|agents|husky|vscode|idea|devcontainer))$/;

/** Names of other files that make programs run or instruct agents, in any folder. */
const MOVING_FILE =
  /^(?:agents(?:\.override)?\.md|claude(?:\.local)?\.md|(?:gemini|qwen)\.md|opencode\.jsonc?|\.mcp\.json|\.(?:cursor|windsurf|cline)rules|\.envrc|\.npmrc|\.yarnrc\.yml|\.pre-commit-config\.yaml|lefthook\.yml)$/;

/**
 * Whether a file can make programs run or instruct agents: clients' settings and instructions, git's own files, hooks. This is
 * a caution for work from elsewhere, not a security boundary: it does not cover build scripts, for example. `hooks`: the folder
 * of the git hooks relative to the top, if it is in the working tree.
 */
export function isMoving(path: string, hooks: string | undefined): boolean {
  const parts = path.split('/').map(partName);
  if (hooks !== undefined && foldedName(`${path}/`).startsWith(foldedName(`${hooks}/`))) return true;
  return parts.some((part) => MOVING_FOLDER.test(part)) || MOVING_FILE.test(parts.at(-1) ?? '');
}

/** How much work a note carries. A trailer states it, so that it is known before the work is fetched. */
export interface WorkSize {
  readonly paths: number;
  readonly bytes: number;
}

/** The value of the trailer `Handoff-Work-Size`. */
export function formatWorkSize({ paths, bytes }: WorkSize): string {
  return `${paths} ${bytes}`;
}

/** Reads the value of that trailer. */
export function parseWorkSize(value: string | undefined): WorkSize | undefined {
  const [, paths, bytes] = /^(\d{1,6}) (\d{1,15})$/.exec(value ?? '') ?? [];
  return paths === undefined ? undefined : { paths: Number(paths), bytes: Number(bytes) };
}

/** `12 paths, 34 KiB`. */
export function workSizeText({ paths, bytes }: WorkSize): string {
  const size = bytes < 1024 ? counted(bytes, 'byte') : `${Math.ceil(bytes / 1024)} KiB`;
  return `${counted(paths, 'path')}, ${size}`;
}
