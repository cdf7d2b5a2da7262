import { promises as fs } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { type FileReceipt, type PlannedFile, type PlannedFiles, type Receipt, planFile } from './changes.ts';
import type { ClientInstaller } from './client.ts';
import { type DiskFile, readBytes } from './disk.ts';
import { contentStart } from './json-text.ts';

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
function suspect(path: string, bytes: Buffer | undefined, receipt: FileReceipt | undefined) {
  const existed = receipt?.existed ?? true;
  return { path, bytes, role: 'instructions' as const, client: undefined, existed, receipt };
}

/**
 * The files that a receipt names and, if one of them has lost its block, the other instruction files, because
 * somebody may have moved the block there. A recorded path that is a link or a folder now is left out.
 *
 * @returns nothing when the receipt names no file: a block that came with the project is the project's
 */
export async function instructionSuspects(
  recorded: readonly FileReceipt[],
  topLevel: string | undefined,
): Promise<ReturnType<typeof suspect>[]> {
  const receipts = recorded.filter((file) => file.role === 'instructions');
  const suspects: ReturnType<typeof suspect>[] = [];
  for (const receipt of receipts) {
    const { path } = receipt;
    if ((await fs.realpath(path).catch(() => undefined)) !== path || !(await fs.stat(path)).isFile())
      continue;
    suspects.push(suspect(path, await readBytes(path), receipt));
  }
  const kept = suspects.filter(({ bytes }) => blockState(bytes?.toString('latin1') ?? '') !== 'none');
  if (kept.length === receipts.length || topLevel === undefined) return suspects;
  for (const { kind, path, bytes } of await readInstructionFiles(topLevel)) {
    if (kind !== 'file' || suspects.some((one) => one.path === path)) continue;
    suspects.push(suspect(path, bytes, undefined));
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

/**
 * The lines that `git handoff init --instructions` puts into a project's instruction files (AGENTS.md and its
 * like). Pure; texts are binary strings (one character a byte), because such a file may hold any bytes.
 */

export const INSTRUCTIONS_START = '<!-- git-handoff:start -->';
export const INSTRUCTIONS_END = '<!-- git-handoff:end -->';

const LINES = [
  INSTRUCTIONS_START,
  '## Handoffs between sessions',
  '',
  '`git handoff` keeps the notes for the next session; do not write them into files. Every verb has `-h`.',
  '',
  '- Continue earlier work: `git handoff list`, then `git handoff boot <topic>` (exit status 1: the note is stale, read why',
  '  before you continue), then `git handoff take <topic>` if its session has ended.',
  '- Before you stop: `git handoff write <topic> --file <file>`, with the headings Goal, Current State, Important Files,',
  '  Next Action, Stop Conditions.',
  "- Commit only your own work: `git handoff commit -m '<message>'`. The owner of each change: `git handoff status`.",
  '- A refusal says what to do instead: do that, never work around it. If work is gone: `git handoff rescue`.',
  INSTRUCTIONS_END,
];

/** Where our block is in a text. */
interface Place {
  readonly start: number;
  /** The offset after the end marker's line, its line end included. */
  readonly end: number;
}

/** Whether a text holds our block; `damaged`: a marker without its counterpart, or more than one block. */
type BlockState = 'none' | 'whole' | 'damaged';

/** Finds out whether a text holds our block. */
export function blockState(text: string): BlockState {
  const starts = markers(text, INSTRUCTIONS_START);
  const ends = markers(text, INSTRUCTIONS_END);
  if (starts.length + ends.length === 0) return 'none';
  return findBlock(text) === undefined ? 'damaged' : 'whole';
}

/**
 * The text with our block: in place of an older block, else at the end after a blank line. The line ends are the
 * text's own, and a missing final one stays missing. A damaged text is returned unchanged.
 */
export function withInstructions(text: string): string {
  const state = blockState(text);
  if (state === 'damaged') return text;
  const place = findBlock(text);
  if (place !== undefined) {
    const lineEnd = /\r?\n$/.exec(text.slice(place.start, place.end))?.[0] ?? '';
    return (
      text.slice(0, place.start) + block(lineEndOf(text.slice(place.start))) + lineEnd + text.slice(place.end)
    );
  }
  const eol = lineEndOf(text);
  if (text.length === contentStart(text)) return text + block(eol) + eol;
  return text.endsWith('\n') ? text + eol + block(eol) + eol : text + eol + eol + block(eol);
}

/** The text without our block and the blank line before it; a damaged text is returned unchanged. */
export function withoutInstructions(text: string): string {
  const place = findBlock(text);
  if (place === undefined) return text;
  const eol = lineEndOf(text.slice(place.start));
  const before = text.slice(0, place.start);
  const after = text.slice(place.end);
  const isOpenEnd = after === '' && !text.endsWith('\n');
  if (isOpenEnd && before.endsWith(eol + eol)) return before.slice(0, -2 * eol.length);
  return (before.endsWith(`\n${eol}`) ? before.slice(0, -eol.length) : before) + after;
}

/** Whether a line that holds nothing else imports that file, as Claude Code and Gemini CLI read it. */
export function importsFile(text: string, name: string): boolean {
  const lines = text
    .slice(contentStart(text))
    .split('\n')
    .map((line) => line.trim());
  return lines.includes(`@${name}`) || lines.includes(`@./${name}`);
}

function block(eol: string): string {
  return LINES.join(eol);
}

/** The one block of a text; undefined when there is none or it is damaged. */
function findBlock(text: string): Place | undefined {
  const [start, anotherStart] = markers(text, INSTRUCTIONS_START);
  const [last, anotherEnd] = markers(text, INSTRUCTIONS_END);
  if (start === undefined || last === undefined || anotherStart !== undefined || anotherEnd !== undefined) {
    return undefined;
  }
  if (last < start) return undefined;
  const lineEnd = text.indexOf('\n', last);
  return { start, end: lineEnd < 0 ? text.length : lineEnd + 1 };
}

/** The offsets of the lines that consist of this marker. */
function markers(text: string, marker: string): number[] {
  const found: number[] = [];
  let from = contentStart(text);
  for (let at = text.indexOf(marker, from); at >= 0; at = text.indexOf(marker, from)) {
    from = at + marker.length;
    const startsLine = at === contentStart(text) || text[at - 1] === '\n';
    const behind = text.indexOf('\n', from);
    if (startsLine && text.slice(from, behind < 0 ? text.length : behind).trim() === '') found.push(at);
  }
  return found;
}

/** The first line end of a text; a line feed where it has none. */
function lineEndOf(text: string): string {
  const at = text.indexOf('\n');
  return at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n';
}
