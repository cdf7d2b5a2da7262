import { readFileSync, statSync, mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { type Oid, type RefName, type SessionId, ownerName } from '../domain/names.ts';
import { formatOf, objectName } from '../git/hash.ts';
import { FILES, filesRef } from '../git/namespace.ts';
import { ObjectBatch, type TreeEntry, readObjects, parseTree } from '../git/objects.ts';
import { listRefs, type Ref, type RefUpdate, updateRefs } from '../git/refs.ts';
import { type InRepository, objectFormat } from '../git/repository.ts';
import { basename, dirname } from 'node:path';
import { markerOwner } from '../domain/marker.ts';
import { escapeLine } from '../domain/messages.ts';
import { linkTarget } from '../host/disk.ts';

/**
 * Copies of the handoff files of git-handoff's predecessors. They show changes that no hook could foresee, and serve to undo
 * them. A copy is a tree with `content` (as last seen), `path`, and `found`: the text that the last reported change replaced,
 * or what the file held before it was restored.
 */

const CONTENT = 'content';
const PATH = 'path';
const FOUND = 'found';
/** Larger files are no notes; reading them at every check would cost more than they are worth. Bytes. */
const MAX_BYTES = 1024 * 1024;

interface FileCopy {
  readonly ref: RefName;
  readonly tree: Oid;
  readonly path: string;
  readonly content: Buffer;
  /** The `found` of the copy: `undefined` if no change was reported, empty if the file was gone. */
  readonly found: Oid | undefined;
}

/** The content of a copy's file on the disk; `undefined` when no readable file is there. */
function readOnDisk(path: string): Buffer | undefined {
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

/** Returns the copies whose file no longer has the content that was seen last. `refs` are listed with content. */
export async function changedCopies(
  repository: InRepository,
  refs: readonly Ref[],
  timeoutMs?: number,
): Promise<FileCopy[]> {
  const trees = refs.map(treeOf);
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

/** The object name of a blob of these bytes, in the object format of `like`. */
function blobName(bytes: Uint8Array, like: Oid): string {
  return objectName(formatOf(like), 'blob', bytes);
}

/**
 * Keeps copies of files as they are on the disk. A copy with the same content stays, because it may also have the `found` of
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
  const fresh = files.flatMap((file): NewCopy[] => {
    const copy = copies.find(({ name }) => name === filesRef(file.path));
    const name = copy && treeOf(copy).get(CONTENT);
    if (name !== undefined && blobName(file.content, name) === name) return [];
    return [{ ...file, old: copy?.oid }];
  });
  if (fresh.length > 0) await putCopies({ cwd }, fresh);
}

function treeOf(copy: Ref): ReadonlyMap<string, Oid> {
  return parseTree(Buffer.from(copy.content, 'latin1'), formatOf(copy.oid));
}

/** A copy to store in the place of `old`; `found` is set if a change is being reported. */
interface NewCopy {
  readonly path: string;
  readonly content: Uint8Array;
  readonly found: Uint8Array | undefined;
  readonly old: Oid | undefined;
}

/** Stores copies, each under its own ref. A ref that another process moved meanwhile stays as it is. */
async function putCopies(repository: InRepository, copies: readonly NewCopy[]): Promise<void> {
  const batch = new ObjectBatch(await objectFormat(repository));
  const updates = copies.map(({ path, content, found, old }): RefUpdate => {
    const entries: TreeEntry[] = [
      { name: CONTENT, oid: batch.blob(content) },
      { name: PATH, oid: batch.blob(Buffer.from(path)) },
    ];
    if (found !== undefined) entries.push({ name: FOUND, oid: batch.blob(found) });
    return { ref: filesRef(path), next: batch.tree(entries), old };
  });
  await batch.store({ cwd: repository.cwd });
  for (const update of updates) await updateRefs(repository, [update]);
}

/** Forgets a copy whose file its owner removed. */
export async function forgetCopy(repository: InRepository, copy: FileCopy): Promise<void> {
  await updateRefs(repository, [{ ref: copy.ref, next: undefined, old: copy.tree }]);
}

/**
 * Checks whether handoff files were changed without the guard (by a build script, by a program that names no file) and
 * restores those that lost their owner's mark. `copies` are listed with content. Returns the notices, one for each change.
 */
export async function settleCopies(
  cwd: string,
  copies: readonly Ref[],
  session: SessionId | undefined,
  timeoutMs?: number,
): Promise<string[]> {
  const notices: string[] = [];
  for (const copy of await changedCopies({ cwd }, copies, timeoutMs))
    notices.push(...(await settle(cwd, copy, session)));
  return notices;
}

async function settle(cwd: string, copy: FileCopy, session: SessionId | undefined): Promise<string[]> {
  const disk = readOnDisk(copy.path);
  const there = disk ?? Buffer.alloc(0);
  const before = copy.content.toString('utf8');
  const reportedBefore = copy.found !== undefined && blobName(there, copy.found) === copy.found;
  const decision = decideGuardedChange({ before, now: disk?.toString('utf8'), reportedBefore }, session);
  const { path, ref, tree: old } = copy;
  const put = (content: Uint8Array, found: Uint8Array | undefined) =>
    putCopies({ cwd }, [{ path, content, found, old }]);
  if (decision === 'accept') {
    // If putting the owner's text back failed when the change was reported, only `found` still has that text.
    if (disk === undefined) await forgetCopy({ cwd }, copy);
    else await put(disk, reportedBefore ? copy.content : undefined);
    return [];
  }
  const who = `\`${escapeLine(basename(path))}\` of ${ownerName(markerOwner(before) ?? '')}`;
  if (decision === 'tell') {
    await put(there, copy.content);
    return [
      `${who} was changed without the guard seeing it. Its previous text: git cat-file -p ${ref}:found`,
    ];
  }
  await put(copy.content, there);
  mkdirSync(dirname(path), { recursive: true });
  // If the file is a link now, writing through it would change somebody else's file.
  if (linkTarget(path) !== undefined) unlinkSync(path);
  writeFileSync(path, copy.content);
  const what = disk === undefined ? 'removed' : 'overwritten';
  return [
    `${who} was ${what} without the guard seeing it; its text was put back. What was there: git cat-file -p ${ref}:found`,
  ];
}

/**
 * Decides what to do about a changed file. `session` noticed the change first; `undefined`: a person did. `accept`: the owner
 * changed it, it has no owner, or the same change was reported before, so somebody wants it · `tell`: the file still names its
 * owner · `restore`: the owner's mark or the whole file is gone, so the former text is put back. `change.before` is the content
 * that was seen last; `change.now` is `undefined` if the file is gone.
 */
export function decideGuardedChange(
  change: { readonly before: string; readonly now: string | undefined; readonly reportedBefore: boolean },
  session: SessionId | undefined,
): 'accept' | 'tell' | 'restore' {
  const owner = markerOwner(change.before);
  if (owner === undefined || owner === session || change.reportedBefore) return 'accept';
  return change.now !== undefined && markerOwner(change.now) === owner ? 'tell' : 'restore';
}
