import { foldedName } from './folded-name.ts';
import { jsonFields } from './json-fields.ts';
import { type Oid, parseOid } from './names.ts';

/**
 * Work: the uncommitted changes that a note carries, as a commit without parents. Its tree holds `work.json` and numbered
 * blobs, so that no entry is a path of a working tree. Pure.
 */

export const WORK_FILE = 'work.json';
const WORK_VERSION = 1;
/** The most paths that a note may carry. */
export const MAX_WORK_PATHS = 5000;
/** Each path has up to four blobs: HEAD's, the index's, the working tree's, and the raw bytes of the file. */
export const MAX_WORK_BLOBS = 4 * MAX_WORK_PATHS;
/** The most bytes of `work.json`. */
export const MAX_WORK_FILE_BYTES = 8 * 1024 * 1024;
const MAX_PATH_LENGTH = 4096;

/** The state of a path: git's mode of a file or a link, and the number of its blob. `null`: there is nothing. */
export type WorkState = { readonly mode: string; readonly blob: number } | null;

/** A changed path. Blobs are in index form, as `git add` stores them. */
export interface WorkItem {
  readonly path: string;
  /** What HEAD had there. */
  readonly base: WorkState;
  readonly index: WorkState;
  readonly disk: WorkState;
  /** The blob of the file's raw bytes, if a checkout would not restore them. */
  readonly raw?: number;
  /** Added by `git add --intent-to-add`. */
  readonly intended?: true;
}

/** What `work.json` holds. */
export interface Work {
  /** HEAD when the work was packed; `null` on an unborn branch. */
  readonly base: Oid | null;
  readonly items: readonly WorkItem[];
}

/** Writes `work.json`. A state is a pair of mode and number. */
export function formatWork({ base, items }: Work): string {
  const pair = (state: WorkState) => (state === null ? null : [state.mode, state.blob]);
  const listed = items.map(({ path, base, index, disk, raw, intended }) => ({
    path,
    base: pair(base),
    index: pair(index),
    disk: pair(disk),
    ...(raw === undefined ? {} : { raw }),
    ...(intended === undefined ? {} : { intended }),
  }));
  return `${JSON.stringify({ version: WORK_VERSION, base, items: listed })}\n`;
}

/** Reads `work.json` of a commit with `blobs` blobs. Nothing in it is trusted; a text says what is wrong with it. */
export function parseWork(text: string, blobs: number): Work | string {
  const fields = jsonFields<'version' | 'base' | 'items'>(text);
  if (fields.version !== WORK_VERSION) return 'unknown format of work.json';
  const base = fields.base === null ? null : parseOid(typeof fields.base === 'string' ? fields.base : '');
  if (base === undefined || !Array.isArray(fields.items)) return 'work.json is damaged';
  if (fields.items.length > MAX_WORK_PATHS) return `more than ${MAX_WORK_PATHS} paths`;
  const items: WorkItem[] = [];
  const names = new Set<string>();
  for (const one of fields.items) {
    const item = parseItem(one, blobs);
    if (typeof item === 'string') return item;
    if (names.has(item.path)) return `a path that is there twice: ${JSON.stringify(item.path)}`;
    names.add(item.path);
    items.push(item);
  }
  return { base, items };
}

function parseItem(value: unknown, blobs: number): WorkItem | string {
  if (typeof value !== 'object' || value === null) return 'work.json is damaged';
  const { path, raw, intended, ...states } = value as Record<string, unknown>;
  if (typeof path !== 'string' || !isWorkPath(path)) return `not a path: ${JSON.stringify(path ?? null)}`;
  const [base, index, disk] = [states['base'], states['index'], states['disk']].map((state) =>
    parseState(state, blobs),
  );
  if (base === undefined || index === undefined || disk === undefined) return 'work.json is damaged';
  if (raw !== undefined && (!isNumber(raw, blobs) || disk === null)) return 'work.json is damaged';
  return {
    path,
    base,
    index,
    disk,
    ...(raw === undefined ? {} : { raw }),
    ...(intended === true && index === null ? { intended } : {}),
  };
}

const MODES = ['100644', '100755', '120000'];

function parseState(value: unknown, blobs: number): WorkState | undefined {
  if (value === null) return null;
  if (!Array.isArray(value)) return undefined;
  const [mode, blob] = value as unknown[];
  return typeof mode === 'string' && MODES.includes(mode) && isNumber(blob, blobs)
    ? { mode, blob }
    : undefined;
}

const isNumber = (value: unknown, below: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < below;

/** Whether a path can be one of a working tree. git's own check, which knows the file system, comes later. */
function isWorkPath(path: string): boolean {
  // Half a surrogate pair would be written as another name.
  if (path.length > MAX_PATH_LENGTH || /[\0\p{Surrogate}]/u.test(path)) return false;
  return path.split('/').every((part) => part !== '' && !['.', '..', '.git'].includes(partName(part)));
}

/** A part of a path as the least strict file system sees it: Windows drops what follows a colon, and dots and spaces at the end. */
function partName(part: string): string {
  if (part === '.' || part === '..') return part;
  const [name = ''] = foldedName(part).split(':');
  let end = name.length;
  while (end > 0 && '. '.includes(name[end - 1] ?? 'x')) end--;
  return name.slice(0, end);
}

/** Folders whose files make programs run or instruct agents. */
const MOVING_FOLDERS = [
  '.claude',
  '.codex',
  '.gemini',
  '.qwen',
  '.copilot',
  '.opencode',
  '.cursor',
  '.agents',
  '.husky',
  '.vscode',
  '.idea',
  '.devcontainer',
];

/** Names of such files, in any folder. */
const MOVING_FILES = [
  'agents.md',
  'agents.override.md',
  'claude.md',
  'claude.local.md',
  'gemini.md',
  'qwen.md',
  'opencode.json',
  'opencode.jsonc',
  '.mcp.json',
  '.cursorrules',
  '.windsurfrules',
  '.clinerules',
  '.envrc',
  '.npmrc',
  '.yarnrc.yml',
  '.pre-commit-config.yaml',
  'lefthook.yml',
];

/**
 * Whether a file can make programs run or instruct agents: clients' settings and instructions, git's own files, hooks. This
 * is a caution for work from elsewhere, not a security boundary: it does not cover build scripts, for example.
 *
 * @param hooks the folder of the git hooks relative to the top, if it is in the working tree
 */
export function isMoving(path: string, hooks: string | undefined): boolean {
  const parts = path.split('/').map(partName);
  if (hooks !== undefined && foldedName(`${path}/`).startsWith(foldedName(`${hooks}/`))) return true;
  return (
    parts.some((part) => part.startsWith('.git') || /^git~\d/.test(part) || MOVING_FOLDERS.includes(part)) ||
    MOVING_FILES.includes(parts.at(-1) ?? '')
  );
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

/** Reads that trailer. */
export function parseWorkSize(value: string | undefined): WorkSize | undefined {
  const [, paths, bytes] = /^(\d{1,6}) (\d{1,15})$/.exec(value ?? '') ?? [];
  return paths === undefined ? undefined : { paths: Number(paths), bytes: Number(bytes) };
}

/** `12 paths, 34 KiB`. */
export function workSizeText({ paths, bytes }: WorkSize): string {
  const size = bytes < 1024 ? counted(bytes, 'byte') : `${Math.ceil(bytes / 1024)} KiB`;
  return `${counted(paths, 'path')}, ${size}`;
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
