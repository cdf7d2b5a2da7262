import { type Inseparable, type SessionPart, addParts, isWhole } from '../../changes/session-parts.ts';
import { differsOnDisk, isUsable } from '../../domain/ledger/ownership.ts';
import type { DirtyPath, FileState } from '../../domain/ledger/tree-status.ts';
import type { Oid } from '../../domain/names.ts';
import { ObjectBatch } from '../../git/objects.ts';
import { indexFileOf, PrivateIndex, scratchEnvironment, scratchStore } from '../../git/scratch.ts';
import { objectFormat } from '../../git/repository.ts';
import { type GitOptions, git, gitFailure, runGit } from '../../git/run.ts';
import type { Context } from '../../sessions/caller.ts';
import type { SessionWork } from './session-work.ts';

/** Builds a tree in a private index. Begins with HEAD's tree, to which the parts of sessions are added one by one. */
export class TreeBuilder {
  readonly #scene: SessionWork;
  readonly #index: PrivateIndex;
  readonly #git: GitOptions;
  /** The tree's content at the paths where it may differ from HEAD's. */
  readonly #states = new Map<string, FileState>();
  #before: Oid;

  private constructor(scene: SessionWork, index: PrivateIndex, git: GitOptions, before: Oid) {
    [this.#scene, this.#index, this.#git, this.#before] = [scene, index, git, before];
  }

  /**
   * Begins with HEAD's tree, and removes the index when `run` is over.
   *
   * @param store where the objects are stored: for an hour (`scratch`), or among the objects of the repository
   */
  static async use<T>(
    scene: SessionWork,
    { env }: Context,
    store: 'scratch' | 'repository',
    run: (trees: TreeBuilder) => Promise<T>,
  ): Promise<T> {
    const { tree, status } = scene.work;
    const scratch = store === 'scratch' ? scratchEnvironment(scratchStore(tree.commonDir)) : {};
    const place = { ...tree, indexFile: indexFileOf(tree, env), env: scratch };
    const index = await PrivateIndex.open(place, status.head.oid);
    const options = { cwd: tree.top, env: index.env };
    try {
      return await run(new TreeBuilder(scene, index, options, await writeTree(options)));
    } finally {
      index.remove();
    }
  }

  /** Adds a session's parts; returns those that cannot be separated from others' changes. */
  async add(parts: readonly SessionPart[]): Promise<readonly Inseparable[]> {
    const { tree } = this.#scene.work;
    const startOf = ({ dirty }: SessionPart) => this.at(dirty);
    const whole = parts.filter((part) => isWhole(part, startOf(part)));
    const { entries, contents, failed } = await addParts(
      tree,
      parts.filter((part) => !whole.includes(part)),
      startOf,
    );
    const batch = new ObjectBatch(await objectFormat(this.#git));
    for (const content of contents.values()) batch.blob(content);
    if (contents.size > 0) await batch.storeMany(this.#git);
    await this.addFromDisk(whole.map(({ dirty }) => dirty));
    await this.#index.set(entries);
    const paths = whole.map(({ dirty }) => dirty.path);
    for (const [path, state] of [...(await this.#index.read(paths)), ...entries])
      this.#states.set(path, state);
    return failed;
  }

  /** Adds all that differs from HEAD on the disk; returns the paths that a patch cannot name. */
  async addRest(): Promise<string[]> {
    const { work, named } = this.#scene;
    const dirty = [...work.status.dirty.values()].filter(differsOnDisk);
    const rest = dirty.filter(({ path }) => named?.has(path) !== false);
    await this.addFromDisk(rest.filter(({ path }) => isUsable(path)));
    return rest.map(({ path }) => path).filter((path) => !isUsable(path));
  }

  /** Returns what was added since the last call or, at the first call, what differs from HEAD. */
  async patch(form: 'patch' | '--stat' | '--numstat'): Promise<Buffer> {
    const [before, after] = [this.#before, await writeTree(this.#git)];
    this.#before = after;
    const whole = ['-p', '--binary', '--full-index', '--src-prefix=a/', '--dst-prefix=b/'];
    const plain = ['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--submodule=short'];
    const result = await runGit(
      ['diff-tree', '-r', ...(form === 'patch' ? whole : [form]), ...plain, before, after],
      this.#git,
    );
    if (result.code !== 0) throw gitFailure('diff-tree', result);
    return result.stdout;
  }

  /** What the tree has at a path. */
  at({ path, head }: DirtyPath): FileState {
    const state = this.#states.get(path);
    return state === undefined ? head : state;
  }

  /** Adds paths as they are on the disk. An ignored file that was removed from the index counts as gone, though it exists. */
  async addFromDisk(dirty: readonly DirtyPath[]): Promise<void> {
    const gone = new Map(dirty.flatMap(({ path, disk }) => (disk === null ? [[path, null]] : [])));
    await this.#index.set(gone);
    const there = dirty.map(({ path }) => path).filter((path) => !gone.has(path));
    await this.#index.takeFromDisk(there, true);
  }

  tree(): Promise<Oid> {
    return writeTree(this.#git);
  }
}

async function writeTree(options: GitOptions): Promise<Oid> {
  return (await git(['write-tree'], options)).trim() as Oid;
}
