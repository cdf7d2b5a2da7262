import { basename, dirname, join, relative, resolve } from 'node:path';
import { escapeLine, Failure, type FailureCode, shellWord } from '../../domain/messages.ts';
import { sourceName } from '../../domain/formats/placement.ts';
import { detectFormat, type Format } from '../../domain/formats/texts.ts';
import { MAX_NOTE_BYTES } from '../../domain/handoff.ts';
import { markerFileName } from '../../domain/marker.ts';
import { type BranchName, type Topic, parseBranchName, parseTopic } from '../../domain/names.ts';
import { hash } from '../../git/hash.ts';
import { linkedWorktrees } from '../../git/worktrees.ts';
import { listRefs } from '../../git/refs.ts';
import { type Repository, topLevel } from '../../git/repository.ts';
import { realPath, filesNamed, kindOf, plainFolder, readPlainFile } from '../../host/disk.ts';
import { homeFolder } from '../../host/folders.ts';
import { memoryFolder } from '../../host/marker-files.ts';
import type { Context } from '../../sessions/caller.ts';

/** A file that may hold a note, before it is read. Each stage of the import adds what it finds out. */
export interface NoteFile {
  readonly format: Format;
  /** The absolute path. */
  readonly path: string;
  /** Whether the program that wrote the file has archived it. */
  readonly archived: boolean;
}

export interface FoundFile extends NoteFile {
  /** The file's name in the commit: the same at every import, and without folders of this machine. */
  readonly importedFrom: string;
  /** The content, without the header if `export` made the file. */
  readonly bytes: Buffer;
  /** Milliseconds since the epoch; decides the order of most notes. */
  readonly mtimeMs: number;
}

/** Why a file is not imported. */
export interface LeftOut {
  /** Set if the file is faulty, rather than just left out; it decides the exit status. */
  readonly code?: FailureCode | undefined;
  readonly why: string;
  readonly hint: string;
}

export interface UnimportedFile extends NoteFile {
  readonly left: LeftOut;
}

/** What the readers of all formats need to know. */
export interface ImportWorld {
  readonly repository: Repository;
  /** The top of the working tree; `undefined` in a bare repository. */
  readonly top: string | undefined;
  readonly branches: readonly BranchName[];
  /** The value of `--branch`, which overrides what a file says. */
  readonly branch: BranchName | undefined;
  readonly topic: Topic | undefined;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** @throws Failure `usage` for a branch that does not exist, or a bad topic */
export async function openWorld(
  repository: Repository,
  options: { readonly branch: string | undefined; readonly topic: string | undefined },
  context: Context,
): Promise<ImportWorld> {
  const [refs, top] = await Promise.all([listRefs(repository, ['refs/heads/']), topLevel(repository)]);
  const branches = refs.flatMap(({ name }) => parseBranchName(name.slice('refs/heads/'.length)) ?? []);
  if (!branches.includes(repository.branch) && repository.branch !== 'HEAD') branches.push(repository.branch);
  return {
    repository,
    top,
    branches,
    branch: requiredBranch(options.branch, branches),
    topic: requiredTopic(options.topic),
    home: homeFolder(context.env),
    env: context.env,
    now: context.now,
  };
}

function requiredBranch(text: string | undefined, branches: readonly BranchName[]): BranchName | undefined {
  if (text === undefined) return undefined;
  const branch = parseBranchName(text);
  if (branch !== undefined && branches.includes(branch)) return branch;
  const hint = branch === undefined ? 'git branch --list' : `git branch ${shellWord(branch)}`;
  throw new Failure('usage', `there is no branch ${escapeLine(text)}`, { hint });
}

function requiredTopic(text: string | undefined): Topic | undefined {
  if (text === undefined) return undefined;
  const topic = parseTopic(text);
  if (topic !== undefined) return topic;
  throw new Failure('usage', `not a topic: ${escapeLine(JSON.stringify(text))}`, {
    hint: 'name the work in lower-case words joined by "-", for example: --topic auth-refresh',
  });
}

/** Maximum number of files in one import: no project has more notes. */
const MAX_FILES = 2_000;
const ARCHIVE = 'handoff-archive';
const STRUCTURED_FOLDER = join('grimoires', 'loa', 'handoffs');
const isMarkdown = (name: string) => /\.md$/i.test(name);
const isGuardFile = (name: string) => /^handoff-/i.test(name) && isMarkdown(name);
const isIndex = (name: string) => name === 'INDEX.md';

/**
 * Finds the files to import, in order: those under the named paths, or else where other programs keep this project's notes.
 *
 * `places`: the places that were searched, for the error when nothing is found.
 *
 * @throws Failure `usage` for a path that holds nothing to import, or too much.
 */
export function findFiles(paths: readonly string[], from: Format | undefined, world: ImportWorld) {
  const places = paths.length === 0 ? knownPlaces(world) : [];
  const named = paths.map((path) => resolve(world.repository.cwd, path));
  const candidates =
    paths.length === 0
      ? places.flatMap(({ format, path }) =>
          from === undefined || from === format ? inFolder(format, path) : [],
        )
      : named.flatMap((path) => atPath(path, from));
  const unique = [...new Map(candidates.map((one) => [one.path, one])).values()];
  if (unique.length > MAX_FILES) {
    throw new Failure('usage', `${unique.length} files are too many for one import (limit ${MAX_FILES})`, {
      hint: 'git handoff import <path>...',
    });
  }
  const files: FoundFile[] = [];
  const skipped: UnimportedFile[] = [];
  for (const candidate of unique) {
    const read = readPlainFile(candidate.path, MAX_NOTE_BYTES);
    const isNamed = named.includes(candidate.path);
    if (read.kind === 'file') {
      const format = from ?? (isNamed ? formatOf(candidate.path, read.bytes) : candidate.format);
      const importedFrom = sourceName(format, stableName(candidate.path, unique, world));
      const { bytes, mtimeMs } = read;
      files.push({ ...candidate, format, importedFrom, bytes, mtimeMs });
    } else if (read.kind === 'refused') {
      skipped.push(skip(candidate, read.why, isNamed ? 'usage' : undefined));
    }
  }
  return { files, skipped, places: places.map(({ path }) => path) };
}

/** Returns the format of a file that the command line names itself, judging by its content. */
function formatOf(path: string, bytes: Buffer): Format {
  const found = detectFormat(basename(path), textOf(bytes));
  return found === 'markdown' && markerFileName(path) !== undefined ? 'guard' : found;
}

/** Returns the places where other programs keep this project's notes. */
function knownPlaces({ repository, top, home, env }: ImportWorld): { format: Format; path: string }[] {
  const trees = linkedWorktrees(repository.commonDir).map(({ path }) => path);
  const folders = [top, repository.cwd, ...trees].flatMap((path) =>
    path === undefined ? [] : [realPath(memoryFolder(path, home, env))],
  );
  const guard = [...new Set(folders)].map((path) => ({ format: 'guard' as const, path }));
  if (top === undefined) return guard;
  const places = [...guard, { format: 'handover' as const, path: top }];
  const path = join(top, STRUCTURED_FOLDER);
  // No symbolic link is followed to this folder.
  const isPlain = realPath(path) === join(realPath(top), STRUCTURED_FOLDER);
  return isPlain ? [...places, { format: 'structured', path }] : places;
}

function inFolder(format: Format, folder: string): NoteFile[] {
  const all = (some: readonly string[], archived = false) => some.map((path) => ({ format, path, archived }));
  switch (format) {
    case 'guard':
      return [
        ...all(
          filesNamed(folder, (name) => isGuardFile(name) && name !== ARCHIVE),
          basename(folder) === ARCHIVE,
        ),
        ...all(filesNamed(join(folder, ARCHIVE), isMarkdown), true),
      ];
    case 'handover': {
      const inside = basename(folder) === '.handover' ? folder : join(folder, '.handover');
      const top = all([join(dirname(inside), 'handover.md')]);
      // A symbolic link may lead out of the folder: nothing behind it is read.
      if (plainFolder(inside) === undefined) return top;
      const archived = filesNamed(join(inside, 'archive'), isMarkdown);
      return [...top, ...all([join(inside, 'current.md')]), ...all(archived, true)];
    }
    case 'structured':
    case 'markdown':
      return all(filesNamed(folder, (name) => isMarkdown(name) && !isIndex(name)));
  }
}

function atPath(path: string, from: Format | undefined): NoteFile[] {
  const kind = kindOf(path);
  if (kind === 'none' || kind === 'link') {
    const shown = escapeLine(path);
    const why =
      kind === 'none' ? `there is no ${shown}` : `${shown} is a symbolic link, which is not followed`;
    throw new Failure('usage', why, { hint: `ls -ld -- ${shellWord(path)}` });
  }
  if (kind !== 'folder') {
    if (isIndex(basename(path)) && from !== 'markdown') return inFolder('structured', dirname(path));
    const archived = basename(dirname(path)) === ARCHIVE;
    return [{ format: from ?? 'markdown', path, archived }];
  }
  const format = from ?? folderFormat(path);
  if (format !== undefined) return inFolder(format, path);
  throw new Failure('usage', `${escapeLine(path)} is not a folder in a known format`, {
    hint: `git handoff import --from markdown --dry-run -- ${shellWord(path)}`,
  });
}

function folderFormat(path: string): Format | undefined {
  const names = plainFolder(path) ?? [];
  if (names.some(isIndex)) return 'structured';
  if (names.includes('handover.md') || names.includes('.handover')) return 'handover';
  if (basename(path) === '.handover') return 'handover';
  return names.some((name) => isGuardFile(name) || name === ARCHIVE) || basename(path) === ARCHIVE
    ? 'guard'
    : undefined;
}

/**
 * The place that the commit names: the path from the top of the working tree. For a file elsewhere, a hash replaces the
 * folder, whose path is private. An archived file keeps its former place, unless a new file has that place.
 */
function stableName(path: string, all: readonly NoteFile[], { top }: ImportWorld): string {
  const inside = top === undefined ? '..' : relative(top, path);
  if (!inside.startsWith('..')) return inside;
  const [folder, name] = [dirname(path), basename(path)];
  const hashed = (where: string) => hash('sha256', where).slice(0, 8);
  if (basename(folder) !== ARCHIVE) return `${hashed(folder)}/${name}`;
  const former = dirname(folder);
  const renewed = all.some((one) => one.path === join(former, name));
  return `${hashed(former)}/${renewed ? `${ARCHIVE}/` : ''}${name}`;
}

/** Leaves a file out, with the reason. If its id is wrong, the hint is to import it as plain Markdown, which needs none. */
export function skip(file: NoteFile, why: string, code?: FailureCode): UnimportedFile {
  const again = code === 'integrity' ? 'git handoff import --from markdown' : 'ls -ld';
  return { ...file, left: { code, why, hint: `${again} -- ${shellWord(file.path)}` } };
}

/** Decodes UTF-8, replacing what is invalid: only the text's beginning and its headings matter. */
export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
