import { Failure } from '../domain/failure.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import type { ObjectBatch, TreeEntry } from './object-batch.ts';
import { readObjects } from './objects.ts';
import { type BinaryText, utf8 } from './output.ts';
import type { GitOptions } from './run.ts';

/** Reads the raw bytes of a tree object: `<mode> <name>NUL<binary oid>` entries. */
function treeEntries(content: Buffer, format: 'sha1' | 'sha256'): Required<TreeEntry>[] {
  const width = format === 'sha1' ? 20 : 32;
  const entries: Required<TreeEntry>[] = [];
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(32, at);
    const end = content.indexOf(0, space);
    if (space < 0 || end < 0) break;
    const oid = parseOid(content.toString('hex', end + 1, end + 1 + width));
    const mode = content.toString('latin1', at, space);
    if (oid !== undefined) entries.push({ name: content.toString('latin1', space + 1, end), oid, mode });
    at = end + 1 + width;
  }
  return entries;
}

/** The objects that a tree names, by their names in it. */
export function parseTree(content: Buffer, format: 'sha1' | 'sha256'): ReadonlyMap<string, Oid> {
  return new Map(treeEntries(content, format).map(({ name, oid }) => [utf8(name), oid]));
}

const FOLDER = '40000';

/** What a tree shall have at a path; `null`: nothing. */
export interface TreeChange {
  readonly path: BinaryText;
  readonly state: { readonly mode: string; readonly oid: Oid } | null;
}

/** A folder on the way to a change. */
interface Folder {
  /** Its tree; `undefined`: it is new. */
  readonly tree: Oid | undefined;
  readonly changes: readonly TreeChange[];
  readonly entries: Map<BinaryText, TreeEntry>;
  readonly below: Map<BinaryText, Folder>;
}

/**
 * Builds trees that differ from the trees of commits at some paths, in a batch that the caller stores. Reads only the folders
 * above a change, nearly always in one process.
 *
 * @returns the names of the new trees, in the order of `wanted`; `undefined` for a commit that is missing
 * @throws Failure `environment` when a tree on the way is missing
 */
export async function changeTrees(
  options: GitOptions,
  format: 'sha1' | 'sha256',
  batch: ObjectBatch,
  wanted: readonly { readonly commit: Oid; readonly changes: readonly TreeChange[] }[],
): Promise<(Oid | undefined)[]> {
  const names = [...new Set(wanted.flatMap(namesOnTheWay))];
  const read = await readObjects(
    options,
    names.map((name) => ({ name })),
  );
  const found = new Map(names.map((name, n) => [name, read[n]]));
  const contents = new Map(read.flatMap((tree) => (tree === undefined ? [] : [[tree.oid, tree.content]])));
  const roots = wanted.map(({ commit, changes }) => {
    const tree = found.get(rootOf(commit))?.oid;
    return tree === undefined ? undefined : folder(tree, changes);
  });
  let level = roots.flatMap((root) => root ?? []);
  while (level.length > 0) {
    await readFolders(options, format, level, contents);
    level = level.flatMap(({ below }) => [...below.values()]);
  }
  return roots.map((root) => (root === undefined ? undefined : (writeFolder(batch, root) ?? batch.tree([]))));
}

const rootOf = (commit: Oid) => `${commit}^{tree}`;

/** The folders to read: by path, except those whose names cannot be sent to git as a line. */
function namesOnTheWay({
  commit,
  changes,
}: {
  readonly commit: Oid;
  readonly changes: readonly TreeChange[];
}): string[] {
  const folders = new Set<BinaryText>();
  for (const { path } of changes) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      folders.add(path.slice(0, end));
  }
  const named = [...folders].filter((name) => !name.includes('\n'));
  return [rootOf(commit), ...named.map((name) => `${commit}:${utf8(name)}`)];
}

const folder = (tree: Oid | undefined, changes: readonly TreeChange[]): Folder => ({
  tree,
  changes,
  entries: new Map(),
  below: new Map(),
});

async function readFolders(
  options: GitOptions,
  format: 'sha1' | 'sha256',
  folders: readonly Folder[],
  contents: Map<Oid, Buffer>,
): Promise<void> {
  const missing = folders.flatMap(({ tree }) => (tree === undefined || contents.has(tree) ? [] : [tree]));
  const read = await readObjects(
    options,
    missing.map((name) => ({ name })),
  );
  for (const tree of read) if (tree !== undefined) contents.set(tree.oid, tree.content);
  for (const { tree, changes, entries, below } of folders) {
    const content = tree === undefined ? Buffer.alloc(0) : contents.get(tree);
    // As an empty folder it would seem to have been emptied.
    if (content === undefined) {
      throw new Failure('environment', `the tree ${tree ?? ''} is missing`, {
        hint: 'git fsck --connectivity-only',
      });
    }
    for (const entry of treeEntries(content, format)) entries.set(entry.name, entry);
    const deeper = new Map<BinaryText, TreeChange[]>();
    for (const { path, state } of changes) {
      const slash = path.indexOf('/');
      if (slash < 0) continue;
      const name = path.slice(0, slash);
      const list = deeper.get(name) ?? [];
      list.push({ path: path.slice(slash + 1), state });
      deeper.set(name, list);
    }
    for (const [name, list] of deeper) {
      const entry = entries.get(name);
      below.set(name, folder(entry?.mode === FOLDER ? entry.oid : undefined, list));
    }
  }
}

/** The name of the changed tree; `undefined` when nothing is left in it. */
function writeFolder(batch: ObjectBatch, { changes, entries, below }: Folder): Oid | undefined {
  for (const { path, state } of changes) {
    if (path.includes('/')) continue;
    if (state === null) entries.delete(path);
    else entries.set(path, { name: path, ...state });
  }
  for (const [name, inner] of below) {
    const oid = writeFolder(batch, inner);
    if (oid !== undefined) entries.set(name, { name, oid, mode: FOLDER });
    // A file may have taken the place of the folder.
    else if (entries.get(name)?.mode === FOLDER) entries.delete(name);
  }
  return entries.size === 0 ? undefined : batch.tree([...entries.values()]);
}
