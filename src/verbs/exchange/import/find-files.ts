import { basename, dirname, join, relative, resolve } from 'node:path';
import { Failure } from '../../../domain/failure.ts';
import { detectFormat, type Format } from '../../../domain/formats/detect.ts';
import { MAX_NOTE_BYTES } from '../../../domain/handoff.ts';
import { markerFileName } from '../../../domain/marker.ts';
import { escapeLine, shellWord } from '../../../domain/surfacing.ts';
import { hash } from '../../../git/hash.ts';
import { linkedWorktrees } from '../../../git/linked-worktrees.ts';
import { realPath } from '../../../host/disk.ts';
import { memoryFolder } from '../../../host/marker-files.ts';
import { filesNamed, kindOf, plainFolder, readPlainFile } from '../../../host/plain-files.ts';
import { type FoundFile, type ImportWorld, type UnimportedFile, skip, textOf } from './draft.ts';

/** What lies at the places that were looked at. */
export interface Findings {
  readonly files: readonly FoundFile[];
  readonly skipped: readonly UnimportedFile[];
  /** For the message that there is nothing. */
  readonly places: readonly string[];
}

/** A file before it is read. */
interface Candidate {
  readonly format: Format;
  readonly path: string;
  readonly archived: boolean;
}

/** More is not somebody's notes. */
const MAX_FILES = 2_000;
const ARCHIVE = 'handoff-archive';
const STRUCTURED_FOLDER = join('grimoires', 'loa', 'handoffs');
const isMarkdown = (name: string) => /\.md$/i.test(name);
const isGuardFile = (name: string) => /^handoff-/i.test(name) && isMarkdown(name);
const isIndex = (name: string) => name === 'INDEX.md';

/**
 * Finds the files to import: those below the paths that were named, else those at the predecessors' places for this
 * project, in their order.
 *
 * @throws Failure `usage` for a path that holds nothing that could be imported, or too much.
 */
export function findFiles(paths: readonly string[], from: Format | undefined, world: ImportWorld): Findings {
  const places = paths.length === 0 ? knownPlaces(world) : [];
  const candidates =
    paths.length === 0
      ? places.flatMap(({ format, path }) =>
          from === undefined || from === format ? inFolder(format, path) : [],
        )
      : paths.flatMap((path) => named(resolve(world.repository.cwd, path), from));
  const unique = [...new Map(candidates.map((one) => [one.path, one])).values()];
  if (unique.length > MAX_FILES) {
    throw new Failure('usage', `${unique.length} files are too many for one import, at most ${MAX_FILES}`, {
      hint: 'git handoff import <path>...',
    });
  }
  const files: FoundFile[] = [];
  const skipped: UnimportedFile[] = [];
  for (const candidate of unique) {
    const read = readPlainFile(candidate.path, MAX_NOTE_BYTES);
    if (read.kind === 'file') {
      const format =
        from ?? (paths.length === 0 ? candidate.format : settle(candidate, read.bytes, paths, world));
      files.push({ ...read, ...candidate, format, place: placeOf(candidate, unique, world) });
    } else if (read.kind === 'refused') {
      const named_ = paths.some((path) => resolve(world.repository.cwd, path) === candidate.path);
      skipped.push(skip(candidate, read.why, named_ ? 'usage' : undefined));
    }
  }
  return { files, skipped, places: places.map(({ path }) => path) };
}

/** A file that was named itself is what stands in it; one of a folder is what the folder is. */
function settle(candidate: Candidate, bytes: Buffer, paths: readonly string[], world: ImportWorld): Format {
  const isNamed = paths.some((path) => resolve(world.repository.cwd, path) === candidate.path);
  if (!isNamed) return candidate.format;
  const found = detectFormat(basename(candidate.path), textOf(bytes));
  return found === 'markdown' && markerFileName(candidate.path) !== undefined ? 'guard' : found;
}

/** Where the predecessors keep the notes of this project. */
function knownPlaces({ repository, top, home, env }: ImportWorld): { format: Format; path: string }[] {
  const trees = linkedWorktrees(repository.commonDir).map(({ path }) => path);
  const folders = [top, repository.cwd, ...trees].flatMap((path) =>
    path === undefined ? [] : [realPath(memoryFolder(path, home, env))],
  );
  const guard = [...new Set(folders)].map((path) => ({ format: 'guard' as const, path }));
  if (top === undefined) return guard;
  return [
    ...guard,
    { format: 'handover', path: top },
    // Nor does a link on the way there lead anywhere.
    ...[join(top, STRUCTURED_FOLDER)]
      .filter((path) => realPath(path) === join(realPath(top), STRUCTURED_FOLDER))
      .map((path) => ({ format: 'structured' as const, path })),
  ];
}

function inFolder(format: Format, folder: string): Candidate[] {
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
      // `.handover` as a link leads out of the folder: nothing below it is looked at.
      if (plainFolder(inside) === undefined) return top;
      const archived = filesNamed(join(inside, 'archive'), isMarkdown);
      return [...top, ...all([join(inside, 'current.md')]), ...all(archived, true)];
    }
    case 'structured':
    case 'markdown':
      return all(filesNamed(folder, (name) => isMarkdown(name) && !isIndex(name)));
  }
}

function named(path: string, from: Format | undefined): Candidate[] {
  const kind = kindOf(path);
  if (kind === 'none') {
    throw new Failure('usage', `there is no ${escapeLine(path)}`, { hint: `ls -ld -- ${shellWord(path)}` });
  }
  if (kind === 'link') {
    throw new Failure('usage', `${escapeLine(path)} is a symbolic link, which is not followed`, {
      hint: `ls -ld -- ${shellWord(path)}`,
    });
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
 * How a commit names a file: by its way from the top of the working tree, else by a hash of its folder (which is
 * nobody's business elsewhere) and its name. Putting a file into the archive does not make it another one, as long as no
 * new one of that name stands in the folder.
 */
function placeOf({ path }: Candidate, all: readonly Candidate[], { top }: ImportWorld): string {
  const inside = top === undefined ? '..' : relative(top, path);
  if (!inside.startsWith('..')) return inside;
  const [folder, name] = [dirname(path), basename(path)];
  const hashed = (where: string) => hash('sha256', where).slice(0, 8);
  if (basename(folder) !== ARCHIVE) return `${hashed(folder)}/${name}`;
  const former = dirname(folder);
  const renewed = all.some((one) => one.path === join(former, name));
  return `${hashed(former)}/${renewed ? `${ARCHIVE}/` : ''}${name}`;
}
