import { promises as fs } from 'node:fs';
import { Failure } from '../domain/messages.ts';
import { hash } from '../git/hash.ts';
import { type DiskFile, diskFailure, placeFile, readBytes } from './disk.ts';
import { NEW_HOOK } from './hook-block.ts';
import { contentStart } from './json-text.ts';

/** The kind of a file that we change. It decides how our part is found again if somebody has edited the file. */
export type FileRole =
  'config' | 'git-hook' | 'exclude' | 'settings' | 'instructions' | 'skill' | 'node' | 'bookkeeping';

/** A file to change, to create (`before` undefined) or to remove (`after` undefined). */
export interface FileChange {
  readonly kind: 'file';
  readonly role: FileRole;
  readonly path: string;
  readonly client?: string;
  readonly before: Buffer | undefined;
  readonly after: Buffer | undefined;
  /** The mode of a new file; an existing file keeps its own. */
  readonly mode: number;
  /** What `init` records of the change, so that it can be undone. */
  readonly receipt?: FileReceipt;
}

interface FolderChange {
  readonly kind: 'folder';
  readonly path: string;
  readonly mode: number;
}

/** A folder to remove: with all its contents if `tree`, else only if it is empty. */
interface FolderRemoval {
  readonly kind: 'remove-folder';
  readonly path: string;
  readonly tree: boolean;
}

/** One step of a plan. If the steps are applied in order, an interruption anywhere does no harm. */
export type Change = FileChange | FolderChange | FolderRemoval;

/** What a file will hold, and what it held before we ever touched it. */
export interface FileReceipt {
  readonly path: string;
  readonly role: FileRole;
  /** The client whose settings these are. */
  readonly client?: string;
  /** Whether the file was there before `init`; if not, `uninstall` removes it. */
  readonly existed: boolean;
  /** sha256 of the bytes before and after. */
  readonly before: string;
  readonly after: string;
  /** sha256 of the bytes that an earlier `init` put there: after an interrupted upgrade the file still holds them. */
  readonly formerly?: string;
  /** The one range that differs: at offset `at`, `added` bytes took the place of `removed` (base64). */
  readonly at: number;
  readonly removed: string;
  readonly added: number;
}

/** Records what turns `after` back into `before`. The rest of the file is not copied: it may hold secrets. */
export function fileReceipt(
  file: { path: string; role: FileRole; client?: string; existed: boolean },
  before: Buffer,
  after: Buffer,
): FileReceipt {
  const { head, tail } = sameEnds(before, after);
  return {
    ...file,
    before: hash('sha256', before),
    after: hash('sha256', after),
    at: head,
    removed: before.subarray(head, before.length - tail).toString('base64'),
    added: after.length - tail - head,
  };
}

/** How many elements two lists have in common at their beginnings, and then at their ends. */
export function sameEnds<T>(before: ArrayLike<T>, after: ArrayLike<T>): { head: number; tail: number } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return { head, tail };
}

/** The bytes before our change; undefined if somebody has edited the file since. */
export function bytesBefore(receipt: FileReceipt, current: Buffer): Buffer | undefined {
  const found = hash('sha256', current);
  if (found === receipt.before) return current;
  if (found !== receipt.after) return undefined;
  const before = Buffer.concat([
    current.subarray(0, receipt.at),
    Buffer.from(receipt.removed, 'base64'),
    current.subarray(receipt.at + receipt.added),
  ]);
  return hash('sha256', before) === receipt.before ? before : undefined;
}

/** What `init` did in one place (a repository, or the user's folders), so that it can be undone. */
export interface Receipt {
  readonly v: 1;
  /** Folders that we made, outermost first. */
  readonly folders: readonly string[];
  readonly files: readonly FileReceipt[];
  /** The values of `handoff.enabled` before `init`; needed if somebody has edited the config file since. */
  readonly enabledBefore?: readonly string[];
}

export const NO_RECEIPT: Receipt = { v: 1, folders: [], files: [] };

/**
 * Reads a receipt; a missing file counts as an empty receipt.
 *
 * @throws Failure `integrity` when it is damaged or of a later version: guessing could lose bytes
 */
export function parseReceipt(bytes: Buffer | undefined, path: string): Receipt {
  if (bytes === undefined) return NO_RECEIPT;
  try {
    const receipt = JSON.parse(bytes.toString('utf8')) as Omit<Receipt, 'v'> & { v: unknown };
    if (receipt.v === 1 && Array.isArray(receipt.files) && Array.isArray(receipt.folders))
      return { ...receipt, v: 1 };
  } catch {
    // The failure below reports it.
  }
  throw new Failure('integrity', `${path} cannot be read: it is damaged or of a later version`, {
    hint: 'upgrade git-handoff, or move that file away and run the command again',
  });
}

/** The content of a receipt's file. */
export function formatReceipt(receipt: Receipt): Buffer {
  return Buffer.from(JSON.stringify(receipt, null, 2) + '\n', 'utf8');
}

/** Adds files and folders to a receipt; a file replaces the one with the same path. */
export function mergeReceipt(
  receipt: Receipt,
  files: readonly FileReceipt[],
  folders: readonly string[],
): Receipt {
  const paths = new Set(files.map((file) => file.path));
  return {
    ...receipt,
    folders: [...new Set([...receipt.folders, ...folders])],
    files: [...receipt.files.filter((file) => !paths.has(file.path)), ...files],
  };
}

/** A file that a plan may change. Texts are binary strings (one character per byte). */
interface FileGoal {
  readonly role: FileRole;
  readonly path: string;
  readonly client?: string;
  readonly current: Buffer | undefined;
  readonly receipt: Receipt;
  readonly mode: number;
  /** Takes our part out of a text that somebody has edited since we wrote it. */
  readonly strip: (text: string) => string;
  /** Returns the wanted text. `base` is the current text without our part. */
  readonly want: (base: string, current: string) => string;
}

/** Changed files, and what a person must know or do by hand. */
export interface PlannedFiles {
  readonly files: readonly FileChange[];
  readonly notices: readonly string[];
}

/** Plans the change of a file; empty if the file is already as wanted. Pure. */
export function planFile(goal: FileGoal): FileChange[] {
  const { role, path, client, current, mode } = goal;
  const prior = goal.receipt.files.find((file) => file.path === path);
  const base = current === undefined ? Buffer.alloc(0) : withoutUs(current, prior, goal.strip);
  const text = goal.want(base.toString('latin1'), current?.toString('latin1') ?? '');
  const after = Buffer.from(text, 'latin1');
  if (current !== undefined && after.equals(current)) return [];
  const file = { path, role, ...(client === undefined ? {} : { client }) };
  const existed = current !== undefined && (prior?.existed ?? true);
  const formerly = role === 'skill' && current !== undefined ? { formerly: hash('sha256', current) } : {};
  const receipt = { ...fileReceipt({ ...file, existed }, base, after), ...formerly };
  return [{ kind: 'file', ...file, before: current, after, mode, receipt }];
}

/** The file without our part: its exact former bytes if nobody has edited it since, or else what `strip` returns. */
function withoutUs(
  current: Buffer,
  receipt: FileReceipt | undefined,
  strip: (text: string) => string,
): Buffer {
  const exact = receipt && bytesBefore(receipt, current);
  return exact ?? Buffer.from(strip(current.toString('latin1')), 'latin1');
}

export interface Suspect extends DiskFile {
  readonly role: FileRole;
  readonly client: string | undefined;
  readonly existed: boolean;
  readonly receipt: FileReceipt | undefined;
}

/** Plans to take our part out of a file. Empty when there is nothing to do. Pure. */
export function unplanFile(
  { path, role, bytes: current, existed, receipt }: Suspect,
  strip: (text: string) => string,
): FileChange[] {
  if (current === undefined) return [];
  const before = withoutUs(current, receipt, strip);
  if (before.equals(current)) return [];
  const gone = !existed && isNothing(before.toString('latin1'));
  return [{ kind: 'file', role, path, before: current, after: gone ? undefined : before, mode: 0o644 }];
}

/** Settings that hold nothing, or only the version that some clients require. */
const EMPTY_SETTINGS = /^\{\s*(?:"version":\s*\d{1,9}\s*)?\}$/;

/** Whether nobody else has written into a file that we made. `text` is the file without our part. */
function isNothing(text: string): boolean {
  const content = text.slice(contentStart(text)).trim();
  return content === '' || content === NEW_HOOK.trim() || EMPTY_SETTINGS.test(content);
}

/**
 * Carries out a plan in its order. If a step fails, undoes the steps before it. The removal of a folder cannot be undone,
 * so a plan removes folders last.
 *
 * @throws Failure `environment` naming the path that could not be changed
 */
export async function applyChanges(changes: readonly Change[]): Promise<void> {
  const undoing: Change[] = [];
  try {
    for (const change of changes) undoing.unshift(...(await applyOne(change)));
  } catch (error) {
    for (const undo of undoing) await applyOne(undo).catch(() => undefined);
    throw error;
  }
}

async function applyOne(change: Change): Promise<Change[]> {
  try {
    if (change.kind === 'file') return await changeFile(change);
    return change.kind === 'folder' ? await makeFolder(change) : await removeFolder(change);
  } catch (error) {
    throw diskFailure(change.kind === 'remove-folder' ? 'remove' : 'write', change.path, error);
  }
}

async function changeFile(change: FileChange): Promise<Change[]> {
  const { path, role, before, after } = change;
  const current = await readBytes(path);
  if (same(current, after)) return [];
  if (!same(current, before)) {
    throw new Failure('environment', `${path} was changed by someone else in the meantime`, {
      hint: 'run the command again',
    });
  }
  const mode = current === undefined ? change.mode : (await fs.stat(path)).mode & 0o7777;
  // git locks its config file by creating `config.lock`; so do we.
  if (after !== undefined) placeFile(path, after, mode, role === 'config');
  else await fs.rm(path, { force: true });
  return [{ ...change, before: after, after: before, mode }];
}

function same(left: Buffer | undefined, right: Buffer | undefined): boolean {
  return left === undefined || right === undefined ? left === right : left.equals(right);
}

async function makeFolder({ path, mode }: FolderChange): Promise<Change[]> {
  const made = await fs.mkdir(path, { recursive: true, mode });
  return made === undefined ? [] : [{ kind: 'remove-folder', path, tree: false }];
}

/** Removes a folder. Without `tree`, a folder that is not empty stays. */
async function removeFolder({ path, tree }: FolderRemoval): Promise<Change[]> {
  if (tree) await fs.rm(path, { recursive: true, force: true });
  else await fs.rmdir(path).catch(() => undefined);
  return [];
}
