import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { kindOf } from '../host/disk.ts';
import { type FileChange, type PlannedFiles, type Receipt, planFile } from './changes.ts';
import type { ClientInstaller } from './client.ts';
import { type DiskFile, isInside, readBytes } from './disk.ts';
import { contentStart } from './json-text.ts';

/** The files at the top of a working tree whose text clients give to every session. */
const INSTRUCTION_FILES = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md'] as const;

/** One of the instruction files. `path` is where its symbolic links lead. */
interface InstructionFacts extends DiskFile {
  readonly name: string;
  readonly isMissing: boolean;
  /** Why the file is left as it is. */
  readonly reason: string | undefined;
}

/** Reads the instruction files; a link that leads out of the working tree is not followed. */
export async function readInstructionFiles(topLevel: string): Promise<InstructionFacts[]> {
  const top = await fs.realpath(topLevel);
  return Promise.all(INSTRUCTION_FILES.map((name) => readOne(top, name)));
}

async function readOne(top: string, name: string): Promise<InstructionFacts> {
  const path = join(top, name);
  const kind = kindOf(path);
  const left = (reason: string) => ({ name, path, bytes: undefined, isMissing: false, reason });
  if (kind === 'none') return { name, path, bytes: undefined, isMissing: true, reason: undefined };
  const real = await fs.realpath(path).catch(() => undefined);
  if (real === undefined) return left('because it is a symbolic link that leads nowhere');
  if (!isInWorkingTree(real, top))
    return left('because it is a symbolic link that leads out of the working tree');
  if (kindOf(real) !== 'file') return left('because it is not a file');
  const bytes = await readBytes(real);
  return {
    name,
    path: real,
    bytes,
    isMissing: false,
    reason: reasonToLeave(bytes?.toString('latin1') ?? ''),
  };
}

/** Whether a path lies in a working tree, outside of its `.git`. */
export const isInWorkingTree = (path: string, top: string): boolean =>
  isInside(path, top) && !isInside(path, join(top, '.git'));

function reasonToLeave(text: string): string | undefined {
  if (text.includes('\0')) return 'because it is not UTF-8 text';
  if (findBlock(text) !== 'damaged') return undefined;
  return (
    'because our block is damaged or occurs twice. Remove its lines <!-- git-handoff:… --> and what is between ' +
    'them, then run: git handoff init --instructions'
  );
}

/**
 * Plans our block in a project's instruction files: in those that exist, else in those that the chosen clients read. Pure.
 * A file that cannot be changed safely stays as it is, with a notice.
 */
export function planInstructions(
  facts: readonly InstructionFacts[],
  installers: readonly ClientInstaller[],
  receipt: Receipt,
): PlannedFiles {
  const present = facts.filter(({ isMissing }) => !isMissing);
  const read = installers.map(({ instructionsFile }) => instructionsFile);
  // If no client is chosen: most clients read AGENTS.md.
  const names = read.length === 0 ? ['AGENTS.md'] : read;
  const chosen = present.length > 0 ? present : facts.filter(({ name }) => names.includes(name));
  const notices = chosen.flatMap(({ path, reason }) =>
    reason === undefined ? [] : [`${path}: left as it is, ${reason}`],
  );
  const open = chosen.filter((one) => one.reason === undefined && !isCovered(one, facts));
  // If a file has several names, the first counts.
  const targets = open.filter(({ path }, at) => open.findIndex((other) => other.path === path) === at);
  const [first] = targets;
  if (present.length > 0 && first !== undefined) notices.push(...unreadNotices(facts, installers, first));
  return { files: targets.flatMap((one) => planOne(one, receipt)), notices };
}

function planOne({ path, bytes }: InstructionFacts, receipt: Receipt): FileChange[] {
  const isOurs = receipt.files.some((file) => file.path === path);
  return planFile({
    role: 'instructions',
    path,
    current: bytes,
    receipt,
    mode: 0o644,
    // A block that came with the project is not ours to strip.
    strip: isOurs ? withoutInstructions : (text) => text,
    // Starts from the current text, not from `base`, because the person may have moved the block.
    want: (_, current) => withInstructions(current),
  });
}

/** Whether a file has no block of ours but imports AGENTS.md, so that a session reads the block there. */
function isCovered(one: InstructionFacts, facts: readonly InstructionFacts[]): boolean {
  const agents = facts.find(({ name }) => name === 'AGENTS.md');
  // An AGENTS.md with a damaged block counts, too: somebody will mend it.
  if (agents?.bytes === undefined || agents.path === one.path) return false;
  const text = one.bytes?.toString('latin1') ?? '';
  return importsFile(text, 'AGENTS.md') && findBlock(text) === 'none';
}

/** Notices for the clients whose own file is missing: they do not read the other clients' files. */
function unreadNotices(
  facts: readonly InstructionFacts[],
  installers: readonly ClientInstaller[],
  written: InstructionFacts,
): string[] {
  const missing = facts.filter(({ isMissing }) => isMissing).map(({ name }) => name);
  return installers
    .filter(({ instructionsFile }) => missing.includes(instructionsFile))
    .map(
      ({ client, instructionsFile: name }) =>
        `${client} reads ${name}, which is not here; to give it the same text: ln -s ${written.name} ${name}`,
    );
}

/**
 * The lines that `git handoff init --instructions` puts into a project's instruction files (AGENTS.md and its like). Pure;
 * texts are binary strings (one character a byte), because such a file may hold any bytes.
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

interface Place {
  readonly start: number;
  /** The offset after the end marker's line end. */
  readonly end: number;
}

/** Finds our block. `damaged`: a marker without its counterpart, or more than one block. */
export function findBlock(text: string): Place | 'none' | 'damaged' {
  const [first, last, ...more] = markerLines(text);
  if (first === undefined) return 'none';
  const isWhole = first.marker === INSTRUCTIONS_START && last?.marker === INSTRUCTIONS_END;
  return isWhole && more.length === 0 ? { start: first.start, end: last.end } : 'damaged';
}

/** The lines that hold nothing but one of our markers. */
function markerLines(text: string): (Place & { readonly marker: string })[] {
  const found = [];
  let start = contentStart(text);
  for (const line of text.slice(start).split(/(?<=\n)/)) {
    const end = start + line.length;
    const marker = line.trimEnd();
    if (marker === INSTRUCTIONS_START || marker === INSTRUCTIONS_END) found.push({ marker, start, end });
    start = end;
  }
  return found;
}

/**
 * The text with our block: in place of an older block, else at the end after a blank line. The block's line ends are like the
 * text's, and no final line end is added to a text without one. A damaged text is returned unchanged.
 */
export function withInstructions(text: string): string {
  const place = findBlock(text);
  if (place === 'damaged') return text;
  const eol = lineEndOf(place === 'none' ? text : text.slice(place.start));
  const block = LINES.join(eol);
  if (place !== 'none') {
    const lineEnd = /\r?\n$/.exec(text.slice(place.start, place.end))?.[0] ?? '';
    return text.slice(0, place.start) + block + lineEnd + text.slice(place.end);
  }
  if (text.length === contentStart(text)) return text + block + eol;
  return text.endsWith('\n') ? text + eol + block + eol : text + eol + eol + block;
}

/** The text without our block and the blank line before it; a damaged text is returned unchanged. */
export function withoutInstructions(text: string): string {
  const place = findBlock(text);
  if (typeof place === 'string') return text;
  const eol = lineEndOf(text.slice(place.start));
  const before = text.slice(0, place.start);
  const after = text.slice(place.end);
  const isOpenEnd = after === '' && !text.endsWith('\n');
  if (isOpenEnd && before.endsWith(eol + eol)) return before.slice(0, -2 * eol.length);
  return (before.endsWith(`\n${eol}`) ? before.slice(0, -eol.length) : before) + after;
}

/** Whether a line of the text only imports that file, in the form that Claude Code and Gemini CLI read. */
export function importsFile(text: string, name: string): boolean {
  const lines = text
    .slice(contentStart(text))
    .split('\n')
    .map((line) => line.trim());
  return lines.includes(`@${name}`) || lines.includes(`@./${name}`);
}

/** The first line end of a text; a line feed where it has none. */
function lineEndOf(text: string): string {
  const at = text.indexOf('\n');
  return at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n';
}
