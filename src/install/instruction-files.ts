import { promises as fs } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { type DiskFile, readBytes } from './disk.ts';
import type { FileReceipt } from './change.ts';
import { blockState } from './instruction-block.ts';

/** The files at the top of a working tree that clients put before every session. */
const INSTRUCTION_FILES = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md'] as const;

/** One of them, as it stands. */
export interface InstructionFacts extends DiskFile {
  readonly name: string;
  /** `path` is that of the file itself, behind links; only a `file` has bytes. */
  readonly kind: 'missing' | 'file' | 'outside' | 'dangling link' | 'other';
}

/** Reads them; a link that leads out of the working tree is not followed. */
export async function readInstructionFiles(topLevel: string): Promise<InstructionFacts[]> {
  const top = await fs.realpath(topLevel);
  return Promise.all(INSTRUCTION_FILES.map((name) => readOne(top, name)));
}

async function readOne(top: string, name: string): Promise<InstructionFacts> {
  const path = join(top, name);
  const facts = (kind: InstructionFacts['kind'], bytes?: Buffer) => ({ name, path, kind, bytes });
  if ((await fs.lstat(path).catch(() => undefined)) === undefined) return facts('missing');
  const real = await fs.realpath(path).catch(() => undefined);
  if (real === undefined) return facts('dangling link');
  const way = relative(top, real);
  if (isAbsolute(way) || /^(?:\.\.|\.git)(?:\/|$)/.test(way)) return facts('outside');
  if (!(await fs.stat(real)).isFile()) return facts('other');
  return { ...facts('file', await readBytes(real)), path: real };
}

/** A file that may hold our block, to be taken out again. */
interface InstructionSuspect extends DiskFile {
  readonly role: 'instructions';
  readonly client: undefined;
  readonly existed: boolean;
  readonly receipt: FileReceipt | undefined;
}

/**
 * The files that a receipt names, and, where one of them has lost its block, those of this working tree, for it may
 * have been moved from one to the other. A recorded path that has become a link or a folder is nothing of ours.
 *
 * @returns none where the receipt names none: a block that came with the project is the project's
 */
export async function instructionSuspects(
  recorded: readonly FileReceipt[],
  topLevel: string | undefined,
): Promise<InstructionSuspect[]> {
  const receipts = recorded.filter((file) => file.role === 'instructions');
  const suspects: InstructionSuspect[] = [];
  for (const receipt of receipts) {
    const { path, existed } = receipt;
    if ((await fs.realpath(path).catch(() => undefined)) !== path || !(await fs.stat(path)).isFile())
      continue;
    suspects.push({
      path,
      bytes: await readBytes(path),
      role: 'instructions',
      client: undefined,
      existed,
      receipt,
    });
  }
  const kept = suspects.filter(({ bytes }) => blockState(bytes?.toString('latin1') ?? '') !== 'none');
  if (kept.length === receipts.length || topLevel === undefined) return suspects;
  for (const { kind, path, bytes } of await readInstructionFiles(topLevel)) {
    if (kind !== 'file' || suspects.some((suspect) => suspect.path === path)) continue;
    suspects.push({
      path,
      bytes,
      role: 'instructions',
      client: undefined,
      existed: true,
      receipt: undefined,
    });
  }
  return suspects;
}
