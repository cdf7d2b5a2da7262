import { promises as fs } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { type FileReceipt, type PlannedFile, type PlannedFiles, type Receipt, planFile } from './changes.ts';
import type { ClientInstaller } from './client.ts';
import { type DiskFile, readBytes } from './disk.ts';
import { blockState, importsFile, withInstructions, withoutInstructions } from './instruction-block.ts';

/** The files at the top of a working tree whose text clients give to every session. */
const INSTRUCTION_FILES = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md'] as const;

/** One of the instruction files, as it is on the disk. */
interface InstructionFacts extends DiskFile {
  readonly name: string;
  /** Only a `file` has bytes; its `path` is that of the file itself, with links followed. */
  readonly kind: 'missing' | 'file' | 'outside' | 'dangling link' | 'other';
}

/** Reads the instruction files; a link that leads out of the working tree is not followed. */
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

/** A file that may hold our block, which uninstall takes out. */
interface InstructionSuspect extends DiskFile {
  readonly role: 'instructions';
  readonly client: undefined;
  readonly existed: boolean;
  readonly receipt: FileReceipt | undefined;
}

/**
 * The files that a receipt names and, if one of them has lost its block, the others of this working tree, because
 * somebody may have moved the block. A recorded path that is a link or a folder now is left out.
 *
 * @returns none when the receipt names none: a block that came with the project is the project's
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

/**
 * Plans our block in a project's instruction files: in those that exist, else in those that the chosen clients
 * read. Pure. A file that cannot be changed safely is left as it is, with a notice.
 */
export function planInstructions(
  facts: readonly InstructionFacts[],
  installers: readonly ClientInstaller[],
  receipt: Receipt,
): PlannedFiles {
  const present = facts.filter(({ kind }) => kind !== 'missing');
  const read = new Set(installers.map(({ instructionsFile }) => instructionsFile));
  // Without installers the clients are unknown: AGENTS.md is the file that most of them read.
  if (installers.length === 0) read.add('AGENTS.md');
  const chosen = present.length > 0 ? present : facts.filter(({ name }) => read.has(name));
  const files: PlannedFile[] = [];
  const notices: string[] = [];
  const targets = new Map<string, InstructionFacts>();
  for (const one of chosen) {
    const reason = reasonToLeave(one);
    if (reason !== undefined) notices.push(`${one.path}: left as it is, ${reason}`);
    else if (!isCovered(one, facts) && !targets.has(one.path)) targets.set(one.path, one);
  }
  for (const one of targets.values()) {
    const planned = planOne(one, receipt);
    if (planned !== undefined) files.push(planned);
  }
  const [first] = targets.values();
  if (present.length > 0 && first !== undefined) notices.push(...unreadNotices(facts, installers, first));
  return { files, notices };
}

function planOne({ path, bytes }: InstructionFacts, receipt: Receipt): PlannedFile | undefined {
  const prior = receipt.files.find((file) => file.path === path);
  return planFile({
    role: 'instructions',
    path,
    current: bytes,
    prior,
    mode: 0o644,
    // A block that came with the project is not ours to strip.
    strip: prior === undefined ? (text) => text : withoutInstructions,
    // The current text counts: the person may have moved the block.
    want: (_, current) => withInstructions(current),
  });
}

function reasonToLeave({ kind, bytes }: InstructionFacts): string | undefined {
  if (kind === 'outside') return 'because it is a symbolic link that leads out of the working tree';
  if (kind === 'dangling link') return 'because it is a symbolic link that leads nowhere';
  if (kind === 'other') return 'because it is not a file';
  const text = bytes?.toString('latin1') ?? '';
  if (text.includes('\0')) return 'because it is not UTF-8 text';
  if (blockState(text) !== 'damaged') return undefined;
  return (
    'because our block is damaged or occurs twice. Remove its lines <!-- git-handoff:… --> and what is between ' +
    'them, then run: git handoff init --instructions'
  );
}

/** Whether a file without our block imports AGENTS.md: a session that reads the file reads AGENTS.md, too. */
function isCovered(one: InstructionFacts, facts: readonly InstructionFacts[]): boolean {
  const agents = facts.find(({ name }) => name === 'AGENTS.md');
  if (agents?.kind !== 'file' || agents.path === one.path) return false;
  const text = one.bytes?.toString('latin1') ?? '';
  return importsFile(text, 'AGENTS.md') && blockState(text) === 'none';
}

/** Notices for the clients whose own file is missing: they do not read the other clients' files. */
function unreadNotices(
  facts: readonly InstructionFacts[],
  installers: readonly ClientInstaller[],
  written: InstructionFacts,
): string[] {
  const missing = facts.filter(({ kind }) => kind === 'missing').map(({ name }) => name);
  return installers.flatMap(({ client, instructionsFile: name }) =>
    missing.includes(name)
      ? [
          `${client} reads ${name}, which is not here; to give it the same text: ln -s ${written.name} ${name}`,
        ]
      : [],
  );
}
