import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Oid } from '../domain/names.ts';
import { readObjects } from './objects.ts';
import { type GitOptions, runGit, askForOid, oidsIn } from './run.ts';
import { entries, statOf } from '../host/disk.ts';
import { ensureFolder } from '../host/folders.ts';

/**
 * A folder of objects beside the repository's own (`GIT_OBJECT_DIRECTORY`, git(1)). Contents of uncommitted files go here,
 * so that the repository gets no loose objects and `git gc` has nothing to do. `pruneScratch` deletes the files that
 * nothing refers to any more.
 */
export interface ScratchStore {
  readonly folder: string;
  /** The folder of the repository's own objects, which git reads, too. */
  readonly objects: string;
}

/** Bytes. Bigger contents are hashed, but not stored. */
const MOST_KEPT = 1 << 20;
/** Bytes. Bigger contents are not even read. */
export const MAX_READ = 16 << 20;
/** The most files and bytes that one call reads; the rest is known only by its size and times. */
const MAX_FILES = 500;
const MAX_TOTAL = 16 << 20;

/** The store of a repository; made on first use. */
export function scratchStore(commonDir: string): ScratchStore {
  return { folder: join(commonDir, 'handoff', 'objects'), objects: join(commonDir, 'objects') };
}

/** A private store for contents that must not stay. The caller removes its folder. */
export function ownStore(commonDir: string): ScratchStore {
  return {
    folder: mkdtempSync(join(process.getBuiltinModule('node:os').tmpdir(), 'git-handoff-')),
    objects: join(commonDir, 'objects'),
  };
}

/** Makes the scratch store. Returns variables that make git write to it, and read from it and the repository's store. */
export function scratchEnvironment({ folder, objects }: ScratchStore): Record<string, string> {
  ensureFolder(folder);
  const others = process.env['GIT_ALTERNATE_OBJECT_DIRECTORIES'];
  const own = process.env['GIT_OBJECT_DIRECTORY'] ?? objects;
  // git reads a name in double quotes as a C string: one with a colon needs the quotes.
  const first = /[:"\n]/.test(own) ? JSON.stringify(own) : own;
  const all = others === undefined || others === '' ? [first] : [first, others];
  return { GIT_OBJECT_DIRECTORY: folder, GIT_ALTERNATE_OBJECT_DIRECTORIES: all.join(':') };
}

/**
 * Hashes the contents of files as git would store them (filters applied), and stores them when there is a scratch store. Leaves
 * out files that are gone, too big or not readable, and without `all` those beyond the limits of one call.
 */
export async function hashFiles(
  top: string,
  paths: readonly string[],
  options: { readonly scratch?: ScratchStore; readonly timeoutMs?: number | undefined; readonly all?: true },
): Promise<Map<string, Oid>> {
  const oids = new Map<string, Oid>();
  const kept: string[] = [];
  const named: string[] = [];
  let total = 0;
  for (const path of paths) {
    if (options.all !== true && (kept.length + named.length >= MAX_FILES || total > MAX_TOTAL)) break;
    const stat = statOf(join(top, path));
    // U+FFFD: the name is not UTF-8, so we cannot pass it to git.
    if (stat?.isFile() !== true || stat.size > MAX_READ || path.includes('\ufffd')) continue;
    total += stat.size;
    (stat.size <= MOST_KEPT && options.scratch !== undefined ? kept : named).push(path);
  }
  const { scratch, timeoutMs } = options;
  if (kept.length > 0 && scratch !== undefined)
    await hashNamed(kept, ['-w'], { cwd: top, env: scratchEnvironment(scratch), timeoutMs }, oids);
  await hashNamed(named, [], { cwd: top, timeoutMs }, oids);
  return oids;
}

/** Stores a content as git would store the file at `path`, and returns its object name. */
export async function hashContent(
  top: string,
  path: string,
  content: Buffer,
  scratch: ScratchStore,
  timeoutMs: number,
): Promise<Oid | undefined> {
  const options = { cwd: top, env: scratchEnvironment(scratch), input: content, timeoutMs };
  return askForOid(['hash-object', '-w', '--stdin', `--path=${path}`], options);
}

async function hashNamed(
  paths: readonly string[],
  flags: readonly string[],
  options: GitOptions,
  oids: Map<string, Oid>,
): Promise<void> {
  if (paths.length === 0) return;
  const input = paths.map((path) => `${quoted(path)}\n`).join('');
  const result = await runGit(['hash-object', ...flags, '--stdin-paths'], { ...options, input });
  // git stops at the first file that it cannot read, after it has printed the names of those before.
  const done = oidsIn(result);
  for (const [n, oid] of done.entries()) oids.set(paths[n] ?? '', oid);
  if (result.code !== 0) await hashNamed(paths.slice(done.length + 1), flags, options, oids);
}

/** A path as a line of git's input: a C string if git would not read the path as it is. */
function quoted(path: string): string {
  const escaped = (byte: string) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`;
  return /^"|[\r\n]/.test(path) ? `"${path.replace(/["\\\r\n]/g, escaped)}"` : path;
}

/** Reads contents from the scratch store or the repository; missing ones are `undefined`. */
export async function readContents(
  cwd: string,
  scratch: ScratchStore,
  oids: readonly Oid[],
): Promise<(Buffer | undefined)[]> {
  const found = await readObjects({ cwd, env: scratchEnvironment(scratch) }, oids);
  return found.map((object) => (object?.type === 'blob' ? object.content : undefined));
}

/** Returns the content that has this object name (`null`: an empty content); `undefined` when it was not kept. */
export type ContentReader = (oid: Oid | null) => Buffer | undefined;

/** Reads these contents at once, for a function that looks them up. */
export async function contentReader(
  cwd: string,
  scratch: ScratchStore,
  oids: readonly (Oid | null)[],
): Promise<ContentReader> {
  const names = [...new Set(oids)].filter((oid) => oid !== null);
  const contents = await readContents(cwd, scratch, names);
  const known = new Map(names.map((name, n) => [name, contents[n]]));
  return (oid) => (oid === null ? Buffer.alloc(0) : known.get(oid));
}

/** Removes contents that nothing refers to and that are older than `before` (milliseconds since the epoch). */
export function pruneScratch({ folder }: ScratchStore, used: ReadonlySet<string>, before: number): void {
  for (const name of entries(folder)) {
    const part = join(folder, name);
    if (!/^[0-9a-f]{2}$/.test(name)) continue;
    for (const rest of entries(part)) {
      const file = join(part, rest);
      const age = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
      if (!used.has(name + rest) && age < before) rmSync(file, { force: true });
    }
  }
}
