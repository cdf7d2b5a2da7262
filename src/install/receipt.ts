import { Failure } from '../domain/failure.ts';
import type { FileReceipt } from './change.ts';

/** What `init` did in one place (a repository, or the user's folders), so that it can be undone. */
export interface Receipt {
  readonly v: 1;
  /** Folders that we made, outermost first. */
  readonly folders: readonly string[];
  readonly files: readonly FileReceipt[];
  /** Values of `handoff.enabled` before us, for a config file that was edited since. */
  readonly enabledBefore?: readonly string[];
}

export const NO_RECEIPT: Receipt = { v: 1, folders: [], files: [] };

/**
 * Reads a receipt; a missing file is an empty one.
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
    // Told below.
  }
  throw new Failure('integrity', `${path} cannot be read: it is damaged or of a later version`, {
    hint: 'upgrade git-handoff, or move that file away and run the command again',
  });
}

/** A receipt as its file holds it. */
export function formatReceipt(receipt: Receipt): Buffer {
  return Buffer.from(JSON.stringify(receipt, null, 2) + '\n', 'utf8');
}

/** The receipt with these files and folders recorded on top; a file is known by its path. */
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
