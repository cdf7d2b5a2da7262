import { copyFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FileState } from '../domain/ledger/tree-status.ts';
import type { Oid } from '../domain/names.ts';
import { type GitResult, runGit, git, gitFailure } from './run.ts';
import { objectFormat } from './repository.ts';
import { indexEntries } from './staged.ts';
import { userGit, isLocked } from './user-git.ts';
import { randomName } from '../host/disk.ts';

/** The index that git uses in a worktree. */
export const indexFileOf = (
  { top, gitDir }: Pick<IndexPlace, 'top' | 'gitDir'>,
  env: Readonly<Record<string, string | undefined>>,
): string => resolve(top, env['GIT_INDEX_FILE'] ?? join(gitDir, 'index'));

/** What an index is to hold at each path; `null`: no entry. */
type IndexEntries = ReadonlyMap<string, FileState>;

/** The worktree of a private index. */
interface IndexPlace {
  readonly top: string;
  readonly gitDir: string;
  /** The path of the worktree's index. */
  readonly indexFile: string;
  /** Further variables, which say where new objects go. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Reading files is no commit: it does not run the user's file system monitor or hooks. */
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
   * Adds exactly these paths as they are on the disk: a folder's name does not stand for its files.
   *
   * @param replaces whether a file may replace a folder in the index, and a folder a file
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

  /** Returns what the index holds at these paths. */
  async read(paths: readonly string[]): Promise<Map<string, FileState>> {
    return readEntries(this.#top, paths, this.env);
  }

  remove(): void {
    for (const file of [this.#file, `${this.#file}.lock`]) rmSync(file, { force: true });
  }
}

/**
 * Copies an index with its time. git reads a file again if it may have changed in the second in which the index was
 * written. With a younger index it would take such a file for unchanged, because its size may be the same.
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

/** How long we retry, in milliseconds: git itself fails at once when another git holds the index's lock. */
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

/** The most attempts of an operation that starts over when another commit came first. */
const MOST_TRIES = 5;

/** Repeats an attempt from the beginning while HEAD moves during it. */
export async function whileMoved<T>(attempt: () => Promise<T | 'moved'>): Promise<T | 'moved'> {
  for (let tries = 1; ; tries++) {
    const result = await attempt();
    if (result !== 'moved' || tries === MOST_TRIES) return result;
    await pause(SHORTEST_MS + Math.random() * LONGEST_MS);
  }
}
