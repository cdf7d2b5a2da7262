import { copyFileSync, mkdtempSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FileState } from '../domain/ledger/tree-status.ts';
import type { Oid } from '../domain/names.ts';
import { entries, randomName, statOf } from '../host/disk.ts';
import { ensureFolder } from '../host/folders.ts';
import { readObjects } from './objects.ts';
import { objectFormat } from './repository.ts';
import { askForOid, git, gitFailure, type GitOptions, type GitResult, oidsIn, runGit } from './run.ts';
import { indexEntries } from './staged.ts';
import { isLocked, userGit } from './user-git.ts';

/** The index that git uses in a worktree. */
export const indexFileOf = (
  { top, gitDir }: Pick<IndexPlace, 'top' | 'gitDir'>,
  env: Readonly<Record<string, string | undefined>>,
): string => resolve(top, env['GIT_INDEX_FILE'] ?? join(gitDir, 'index'));

/** What an index is to hold at each path; `null`: no entry. */
type IndexEntries = ReadonlyMap<string, FileState>;

interface IndexPlace {
  readonly top: string;
  readonly gitDir: string;
  /** The path of the worktree's index. */
  readonly indexFile: string;
  /** Further variables, which say where new objects go. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Reading files must not run the user's file system monitor or hooks, as a commit would. */
const NO_PROGRAMS = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

/** A temporary index of our own, beside the worktree's, to make one commit or to read files once. */
export class PrivateIndex {
  readonly #top: string;
  readonly #file: string;
  readonly #more: Readonly<Record<string, string>>;

  private constructor({ top, gitDir, env = {} }: Omit<IndexPlace, 'indexFile'>) {
    this.#top = top;
    // A process in another container may have the same pid.
    this.#file = join(gitDir, `handoff-index.${process.pid}.${randomName()}`);
    this.#more = env;
  }

  /**
   * Makes an index with the tree of `base`, or with nothing. It starts as a copy of the worktree's index, which knows the
   * files' times: without them git would read every file again.
   */
  static async open(place: IndexPlace, base: Oid | null): Promise<PrivateIndex> {
    return PrivateIndex.copy(place).#readTree(base === null ? ['--empty'] : ['--reset', base]);
  }

  /**
   * Makes an index with the tree of `base` and none of the worktree's index flags, so that git reads every file that it is
   * given, even one marked with `git update-index --assume-unchanged`.
   */
  static async fresh(place: Omit<IndexPlace, 'indexFile'>, base: Oid | null): Promise<PrivateIndex> {
    const index = new PrivateIndex(place);
    index.remove();
    return index.#readTree(base === null ? ['--empty'] : [base]);
  }

  async #readTree(args: readonly string[]): Promise<this> {
    try {
      await git(['read-tree', ...args], { cwd: this.#top, env: this.env });
      return this;
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** Makes a copy of the worktree's index. */
  static copy(place: IndexPlace): PrivateIndex {
    const index = new PrivateIndex(place);
    index.remove();
    try {
      copyIndex(place.indexFile, index.#file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    return index;
  }

  /** The variables that make git use this index. */
  get env(): Record<string, string> {
    return { ...this.#more, GIT_INDEX_FILE: this.#file };
  }

  /**
   * Adds exactly these paths as they are on the disk; a folder does not stand for its files. `replaces`: whether a file may
   * replace a folder in the index, or the other way round.
   */
  async takeFromDisk(paths: readonly string[], replaces = false): Promise<void> {
    if (paths.length === 0) return;
    const how = replaces ? ['--replace'] : [];
    const args = [...NO_PROGRAMS, 'update-index', '--add', '--remove', ...how, '-z', '--stdin'];
    const input = paths.map((path) => `${path}\0`).join('');
    // This runs the filters that the user's configuration names.
    const result = await userGit(args, { cwd: this.#top, env: this.env, input, show: 'quiet' });
    if (result.code !== 0) throw gitFailure('update-index', result);
  }

  async set(entries: IndexEntries): Promise<void> {
    if (entries.size === 0) return;
    const result = await setEntries(this.#top, entries, this.env);
    if (result.code !== 0) throw gitFailure('update-index', result);
  }

  async read(paths: readonly string[]): Promise<Map<string, FileState>> {
    return readEntries(this.#top, paths, this.env);
  }

  remove(): void {
    for (const file of [this.#file, `${this.#file}.lock`]) rmSync(file, { force: true });
  }
}

/**
 * Copies an index and its mtime. git reads a file again if it may have changed in the second in which the index was written. If
 * the copy were younger, git would take such a file for unchanged, because its size may be the same.
 */
export function copyIndex(from: string, to: string): void {
  const second = Math.floor(statSync(from).mtimeMs / 1000);
  copyFileSync(from, to);
  utimesSync(to, second, second);
}

/** Sets entries of the worktree's index, or of the one that `env` names; all or none. The caller checks the exit code. */
export async function setEntries(top: string, entries: IndexEntries, env: Record<string, string> = {}) {
  const known = [...entries.values()].flatMap((state) => state?.oid ?? []);
  const nothing = '0'.repeat((await objectFormat({ cwd: top }, known[0])) === 'sha256' ? 64 : 40);
  // Deletions come first: a folder may take the place of a file.
  const sorted = [...entries].sort(([, a], [, b]) => Number(a !== null) - Number(b !== null));
  const lines = sorted.map(([path, state]) => `${state?.mode ?? 0} ${state?.oid ?? nothing}\t${path}\0`);
  return runGit(['update-index', '-z', '--index-info'], { cwd: top, input: lines.join(''), env });
}

/** Returns what an index holds at these paths; an intended addition (`git add -N`) has an empty content there. */
export async function readEntries(
  top: string,
  paths: readonly string[],
  env: Record<string, string> = {},
): Promise<Map<string, FileState>> {
  const wanted = new Set(paths);
  const entries = await indexEntries({ cwd: top, env }, '--stage');
  const found = entries.filter(({ path }) => wanted.has(path));
  return new Map([
    ...paths.map((path) => [path, null] as const),
    ...found.map(({ path, state }) => [path, state] as const),
  ]);
}

/** How long we wait for the index's lock, in milliseconds; git itself does not wait for it. */
const PATIENCE_MS = 30_000;
const SHORTEST_MS = 20;
const LONGEST_MS = 400;

/** Runs a command that needs the index's lock, and repeats it while another git holds the lock; returns the last result. */
export async function whileLocked(run: () => Promise<GitResult>): Promise<GitResult> {
  const end = Date.now() + PATIENCE_MS;
  for (let longest = SHORTEST_MS; ; longest = Math.min(longest * 1.5, LONGEST_MS)) {
    const result = await run();
    if (!isLocked(result) || Date.now() > end) return result;
    await pause(SHORTEST_MS + Math.random() * longest);
  }
}

/** The most attempts of an operation that starts over whenever another commit comes first. */
const MOST_TRIES = 5;

/** Repeats an attempt from the beginning while HEAD moves during it. */
export async function whileMoved<T>(attempt: () => Promise<T | 'moved'>): Promise<T | 'moved'> {
  for (let tries = 1; ; tries++) {
    const result = await attempt();
    if (result !== 'moved' || tries === MOST_TRIES) return result;
    await pause(SHORTEST_MS + Math.random() * LONGEST_MS);
  }
}

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

/** A private store in a temporary folder, which the caller removes. */
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
  // A name with a colon needs double quotes, in which git reads it as a C string.
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

/** Reads all of these contents, and returns a function that looks them up. */
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
