import { readFileSync, statSync } from 'node:fs';
import type { Oid, RefName } from '../domain/names.ts';
import { formatOf, objectName } from '../git/hash.ts';
import { FILES, filesRef } from '../git/namespace.ts';
import { ObjectBatch, type TreeEntry } from '../git/object-batch.ts';
import { readObjects, parseTree } from '../git/objects.ts';
import { type RefUpdate, updateRefs } from '../git/ref-updates.ts';
import { type Ref, listRefs } from '../git/refs.ts';
import { type InRepository, objectFormat } from '../git/repository.ts';

/**
 * Copies of the predecessors' handoff files, so that a change that no hook could foresee can be
 * noticed and undone. A copy is a tree: `content` as last seen, `path`, and `found`, the other text
 * of the change that was reported last: what it replaced, or what was there before the file was restored.
 */

const CONTENT = 'content';
const PATH = 'path';
const FOUND = 'found';
/** Larger files are no notes; reading them at every check would cost more than they are worth. Bytes. */
const MAX_BYTES = 1024 * 1024;

export interface FileCopy {
  readonly ref: RefName;
  readonly tree: Oid;
  readonly path: string;
  readonly content: Buffer;
  /** The other text of the change that was reported last; `undefined` if none was, empty for a file that was gone. */
  readonly found: Oid | undefined;
}

/** The content of a copy's file on the disk; `undefined` when no readable file is there. */
export function readOnDisk(path: string): Buffer | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Lists all copies, without reading their contents. */
export function listCopies(repository: InRepository, timeoutMs?: number): Promise<Ref[]> {
  return listRefs(repository, [FILES], { content: true, timeoutMs });
}

/** Returns those of these copies (listed with content) whose file no longer has the content that was seen last. */
export async function changedCopies(
  repository: InRepository,
  refs: readonly Ref[],
  timeoutMs?: number,
): Promise<FileCopy[]> {
  const trees = refs.map((ref) => parseTree(Buffer.from(ref.content, 'latin1'), formatOf(ref.oid)));
  const paths = await readObjects(
    { cwd: repository.cwd, timeoutMs },
    refs.map((ref) => ({ name: `${ref.oid}:${PATH}` })),
  );
  const changed = refs.flatMap((ref, at) => {
    const path = paths[at]?.content.toString('utf8');
    const content = trees[at]?.get(CONTENT);
    if (path === undefined || content === undefined) return [];
    const disk = readOnDisk(path);
    return disk !== undefined && blobName(disk, content) === content
      ? []
      : [{ ref, path, content, tree: trees[at] }];
  });
  const contents = await readObjects(
    { cwd: repository.cwd, timeoutMs },
    changed.map(({ content }) => ({ name: content })),
  );
  return changed.map(({ ref, path, tree }, at) => ({
    ref: ref.name,
    tree: ref.oid,
    path,
    content: contents[at]?.content ?? Buffer.alloc(0),
    found: tree?.get(FOUND),
  }));
}

/** The name that git gives a blob of these bytes, in the object format of another name. */
export function blobName(bytes: Uint8Array, like: Oid): string {
  return objectName(formatOf(like), 'blob', bytes);
}

/**
 * Keeps copies of files as they are on the disk. A copy with that content stays: it may also hold the former text of
 * a change that was reported a moment ago.
 */
export async function rememberFiles(cwd: string, paths: readonly string[]): Promise<void> {
  const files = paths.flatMap((path) => {
    const content = readOnDisk(path);
    return content === undefined ? [] : [{ path, content, found: undefined }];
  });
  if (files.length === 0) return;
  const copies = await listRefs(
    { cwd },
    files.map(({ path }) => filesRef(path)),
    { content: true },
  );
  const seen = new Map(copies.map((copy) => [copy.name, contentName(copy)]));
  const fresh = files.filter(({ path, content }) => {
    const name = seen.get(filesRef(path));
    return name === undefined || blobName(content, name) !== name;
  });
  if (fresh.length > 0) await putCopies({ cwd }, fresh);
}

function contentName(copy: Ref): Oid | undefined {
  return parseTree(Buffer.from(copy.content, 'latin1'), formatOf(copy.oid)).get(CONTENT);
}

/** A copy to store; `found` is the other text of a change that is being reported. */
interface NewCopy {
  readonly path: string;
  readonly content: Uint8Array;
  readonly found: Uint8Array | undefined;
}

/** Stores copies, each under its own ref. A ref that another process moved meanwhile stays as it is. */
export async function putCopies(repository: InRepository, copies: readonly NewCopy[]): Promise<void> {
  const batch = new ObjectBatch(await objectFormat(repository));
  const trees = copies.map(({ path, content, found }) => {
    const entries: TreeEntry[] = [
      { name: CONTENT, oid: batch.blob(content) },
      { name: PATH, oid: batch.blob(Buffer.from(path)) },
    ];
    if (found !== undefined) entries.push({ name: FOUND, oid: batch.blob(found) });
    return { ref: filesRef(path), next: batch.tree(entries) };
  });
  const known = await listRefs(
    repository,
    trees.map(({ ref }) => ref),
  );
  const old = new Map(known.map((ref) => [ref.name, ref.oid]));
  const updates: RefUpdate[] = trees.flatMap(({ ref, next }) =>
    old.get(ref) === next ? [] : [{ ref, next, old: old.get(ref) }],
  );
  if (updates.length === 0) return;
  await batch.store({ cwd: repository.cwd });
  for (const update of updates) await updateRefs(repository, [update]);
}

/** Forgets a copy whose file its owner removed. */
export async function forgetCopy(repository: InRepository, copy: FileCopy): Promise<void> {
  await updateRefs(repository, [{ ref: copy.ref, next: undefined, old: copy.tree }]);
}
