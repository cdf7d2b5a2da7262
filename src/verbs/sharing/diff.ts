import { type Inseparable, type SessionPart, addParts, isWhole } from '../../changes/session-parts.ts';
import { differsOnDisk, isUsable } from '../../domain/ledger/ownership.ts';
import type { FileState } from '../../domain/ledger/tree-status.ts';
import { type SessionId, peerName, peerNames } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { ObjectBatch } from '../../git/objects.ts';
import { PrivateIndex } from '../../git/private-index.ts';
import { objectFormat } from '../../git/repository.ts';
import { type GitOptions, git, gitFailure, runGit } from '../../git/run.ts';
import { scratchEnvironment, scratchStore } from '../../git/scratch-store.ts';
import type { Context } from '../../sessions/caller.ts';
import { clientsOf } from '../../sessions/records.ts';
import { treePlace } from '../../snapshot/restore.ts';
import type { CommandResult } from '../verb.ts';
import type { SessionDiffShape } from '../shapes.ts';
import {
  type SessionWork,
  UNUSABLE,
  type WorkOptions,
  allParts,
  workOfSession,
  readSessionWork,
  sessionNamed,
} from './session-work.ts';

interface DiffOptions extends WorkOptions {
  /** Whether to show the names of files and the numbers of lines only. */
  readonly stat: boolean;
}

interface DiffValue {
  readonly items: readonly SessionDiffShape[];
}

/**
 * Shows what one session has changed and not committed, as a patch that git-apply(1) takes on HEAD: of a file that
 * others changed, too, only its hunks. A person who names no session gets a patch for each, to apply one after the
 * other, and one for the rest: together they are what differs from HEAD.
 *
 * @throws Failure `not-found` for a session that is not known here
 */
export async function diff(options: DiffOptions, context: Context): Promise<CommandResult<DiffValue>> {
  const scene = await readSessionWork(options, context);
  const { self, judged, notices } = scene;
  const session = options.of === undefined ? self : sessionNamed(options.of, scene);
  const trees = await TreeBuilder.open(scene, context);
  const records = { clients: clientsOf(judged) };
  try {
    const shown: { session: SessionId | null; patch: Buffer }[] = [];
    const failed: Inseparable[] = [];
    const whose =
      session === undefined
        ? await allParts(scene)
        : [{ session, parts: (await workOfSession(scene, session)).parts }];
    for (const one of whose) {
      failed.push(...(await trees.add(one.parts)));
      shown.push({ session: one.session, patch: await trees.patch(options.stat) });
    }
    let unusable = failed.filter(({ why }) => why === 'unusable').map(({ part }) => part.dirty.path);
    if (session === undefined) {
      unusable = await trees.addRest();
      shown.push({ session: null, patch: await trees.patch(options.stat) });
    }
    const some = shown.filter(({ patch }) => patch.length > 0);
    const named = (id: SessionId | null) =>
      id === null ? 'the user, an unknown session, or several at once' : peerName(id, records);
    const bytes = Buffer.concat(
      some.flatMap(({ session: id, patch }) =>
        session === undefined ? [Buffer.from(`# ${escapeLine(named(id))}\n`), patch] : [patch],
      ),
    );
    const items = some.map(({ session: id, patch }) => ({ session: id, ...patchShape(patch) }));
    return {
      value: { items },
      bytes,
      notices: [
        ...notices,
        ...failed.flatMap((one) => apartNotice(one, records, session === undefined)),
        ...unusable.map((path) => `${escapeLine(path)}: ${UNUSABLE}; it is left out`),
      ],
    };
  } finally {
    trees.remove();
  }
}

function patchShape(patch: Buffer): { patch: string } | { patchBase64: string } {
  const text = patch.toString('utf8');
  return Buffer.from(text).equals(patch) ? { patch: text } : { patchBase64: patch.toString('base64') };
}

/** Says that a path is left out because the changes there cannot be told apart. */
function apartNotice(
  { part, why }: Inseparable,
  records: { readonly clients: ReadonlyMap<string, string> },
  isAll: boolean,
): string[] {
  if (why === 'unusable') return [];
  const { dirty, mine, others } = part;
  const whose = peerNames(
    mine.map(({ session }) => session),
    records,
  );
  const beside =
    others.length === 0
      ? 'others'
      : peerNames(
          others.map(({ session }) => session),
          records,
        );
  const cannot =
    why === 'overlap'
      ? `overlap or touch those of ${beside}`
      : `cannot be told from those of ${beside} (not text, or too large)`;
  const where = isAll ? 'they are in the last part' : 'the file is left out';
  return [`${escapeLine(dirty.path)}: the changes of ${whose} ${cannot}; ${where}`];
}

/** Builds trees that begin with HEAD's and gain one session's part after the other, in an index of its own. */
class TreeBuilder {
  readonly #scene: SessionWork;
  readonly #index: PrivateIndex;
  readonly #git: GitOptions;
  /** What the tree has where that is no longer HEAD's content. */
  readonly #states = new Map<string, FileState>();
  #before: string;

  private constructor(scene: SessionWork, index: PrivateIndex, git: GitOptions, before: string) {
    [this.#scene, this.#index, this.#git, this.#before] = [scene, index, git, before];
  }

  static async open(scene: SessionWork, { env }: Context): Promise<TreeBuilder> {
    const { tree, status } = scene.work;
    const scratch = scratchEnvironment(scratchStore(tree.commonDir));
    const place = treePlace(tree, tree.top, env);
    const index = await PrivateIndex.open({ ...place, env: scratch }, status.head.oid);
    const options = { cwd: tree.top, env: index.env };
    return new TreeBuilder(scene, index, options, await writeTree(options));
  }

  /** Adds a session's part; returns what of it cannot be told from others' changes. */
  async add(parts: readonly SessionPart[]): Promise<readonly Inseparable[]> {
    const { tree } = this.#scene.work;
    const startOf = ({ dirty }: SessionPart) => this.#states.get(dirty.path) ?? dirty.head;
    const whole = parts.filter((part) => isWhole(part, startOf(part)));
    const { entries, contents, failed } = await addParts(
      tree,
      parts.filter((part) => !whole.includes(part)),
      startOf,
    );
    const batch = new ObjectBatch(await objectFormat(this.#git));
    for (const content of contents.values()) batch.blob(content);
    if (contents.size > 0) await batch.storeMany(this.#git);
    const paths = whole.map(({ dirty }) => dirty.path);
    await this.#index.takeFromDisk(paths, true);
    await this.#index.set(entries);
    for (const [path, state] of [...(await this.#index.read(paths)), ...entries])
      this.#states.set(path, state);
    return failed;
  }

  /** Adds all that differs from HEAD on the disk; returns what a patch cannot name. */
  async addRest(): Promise<string[]> {
    const { work, named } = this.#scene;
    const dirty = [...work.status.dirty.values()].filter(differsOnDisk).map(({ path }) => path);
    const rest = dirty.filter((path) => named?.has(path) !== false);
    await this.#index.takeFromDisk(rest.filter(isUsable), true);
    return rest.filter((path) => !isUsable(path));
  }

  /** The patch from the tree of the last call, or HEAD's, to what was added since. */
  async patch(stat: boolean): Promise<Buffer> {
    const [before, after] = [this.#before, await writeTree(this.#git)];
    this.#before = after;
    const form = stat ? ['--stat'] : ['-p', '--binary', '--full-index', '--src-prefix=a/', '--dst-prefix=b/'];
    const plain = ['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--submodule=short'];
    const result = await runGit(['diff-tree', '-r', ...form, ...plain, before, after], this.#git);
    if (result.code !== 0) throw gitFailure('diff-tree', result);
    return result.stdout;
  }

  remove(): void {
    this.#index.remove();
  }
}

async function writeTree(options: GitOptions): Promise<string> {
  return (await git(['write-tree'], options)).trim();
}
