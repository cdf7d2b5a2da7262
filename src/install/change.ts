import { hash } from '../git/hash.ts';
/** Why a file is ours to change; it decides how our part is found again in a file that was edited since. */
export type FileRole =
  'config' | 'git-hook' | 'exclude' | 'settings' | 'instructions' | 'skill' | 'node' | 'bookkeeping';

/** One file that gets other bytes, comes into being (`before` undefined) or goes (`after` undefined). */
export interface FileChange {
  readonly kind: 'file';
  readonly role: FileRole;
  readonly path: string;
  /** The client whose settings or skill these are. */
  readonly client?: string;
  readonly before: Buffer | undefined;
  readonly after: Buffer | undefined;
  /** Mode of a file that is created; a file that exists keeps its own. */
  readonly mode: number;
}

export interface FolderChange {
  readonly kind: 'folder';
  readonly path: string;
  readonly mode: number;
}

/** A folder that goes: `tree` with all that is in it, else only when it is empty. */
export interface FolderRemoval {
  readonly kind: 'remove-folder';
  readonly path: string;
  readonly tree: boolean;
}

/** One step of a plan. Applying them in order is safe to interrupt anywhere. */
export type Change = FileChange | FolderChange | FolderRemoval;

/** What a file will hold, and what it held before we ever touched it. */
export interface FileReceipt {
  readonly path: string;
  readonly role: FileRole;
  /** The client whose settings these are. */
  readonly client?: string;
  /** False: uninstall removes the file. */
  readonly existed: boolean;
  /** sha256 of the bytes before and after. */
  readonly before: string;
  readonly after: string;
  /** sha256 of what we had put there before: an upgrade that was interrupted has recorded itself already. */
  readonly formerly?: string;
  /** The one stretch that differs: `added` bytes at `at` stand where `removed` (base64) stood. */
  readonly at: number;
  readonly removed: string;
  readonly added: number;
}

/** The hash by which a receipt knows bytes again. */
export function sha256(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}

/** What turns `after` back into `before`, without a copy of the rest of the file (it may hold secrets). */
export function fileReceipt(
  file: { path: string; role: FileRole; client?: string; existed: boolean },
  before: Buffer,
  after: Buffer,
): FileReceipt {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at < most && before[at] === after[at]) at++;
  let tail = 0;
  while (tail < most - at && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return {
    ...file,
    before: sha256(before),
    after: sha256(after),
    at,
    removed: before.subarray(at, before.length - tail).toString('base64'),
    added: after.length - tail - at,
  };
}

/** The bytes before our change, or undefined when the file is not as we left it. */
export function bytesBefore(receipt: FileReceipt, current: Buffer): Buffer | undefined {
  const hash = sha256(current);
  if (hash === receipt.before) return current;
  if (hash !== receipt.after) return undefined;
  const before = Buffer.concat([
    current.subarray(0, receipt.at),
    Buffer.from(receipt.removed, 'base64'),
    current.subarray(receipt.at + receipt.added),
  ]);
  return sha256(before) === receipt.before ? before : undefined;
}
