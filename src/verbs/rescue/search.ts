import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNamed } from '../../changes/dirty-work.ts';
import { timestamp } from '../../domain/messages.ts';
import { type Oid, shortOid } from '../../domain/names.ts';
import { type Pieces, piecesOf, similarity } from '../../domain/similarity.ts';
import { contentOf } from '../../domain/snapshot.ts';
import { inBatches, twoAtOnce } from '../../git/run.ts';
import { readObjects } from '../../git/objects.ts';
import { hashFiles, readEntries } from '../../git/scratch.ts';
import { openRepository } from '../../git/repository.ts';
import { listTree, pastChanges } from '../../git/staged.ts';
import { type Unreachable, looseSince, readUnreachable } from '../../git/unreachable.ts';
import { lstatOf } from '../../host/disk.ts';
import { isInitialised } from '../../host/folders.ts';
import type { Context } from '../../sessions/caller.ts';
import { readSnapshots } from '../../snapshot/commit.ts';
import type { FoundShape } from '../shapes.ts';
import type { CommandResult } from '../verb.ts';
import { pathFrom, pathHere, requireWorkTree } from '../workspace.ts';

/** The limits of a search: folders to look into, contents without a name to compare, their total bytes, and the bytes of one. */
const MOST_FOLDERS = 300;
const MOST_COMPARED = 5000;
const MOST_BYTES = 64 << 20;
const MAX_CONTENT = 2 << 20;
/** A content without a name is compared with at most this many older versions, and as many lost ones. */
const MOST_VERSIONS = 10;
/** How similar a content without a name must be, in percent: the same as for a rename in git. */
const LEAST_ALIKE = 50;
/** The most contents without a name that are shown when there is nothing to compare them with. */
const MOST_UNKNOWN = 10;
const BATCH = 1000;

export interface SearchValue {
  /** The path, from the top of the working tree. */
  readonly path: string;
  /** The path from the current folder. */
  readonly typed: string;
  readonly items: readonly FoundShape[];
  /** Whether rescues may hold the path, too. */
  readonly mayBeKept: boolean;
}

/** What may contain a path: a commit, or a tree that no commit has. */
interface Source {
  readonly oid: Oid;
  readonly kind: Exclude<FoundShape['kind'], 'blob'>;
  /** Milliseconds since the epoch; `undefined`: not recorded. */
  readonly at: number | undefined;
  readonly subject: string;
}

interface Named {
  readonly path: string;
  readonly blob: Oid;
  readonly source: Source;
}

/** The best source first. Of commits with the same content, the earliest is shown, because it introduced the content. */
const KINDS: readonly Source['kind'][] = ['commit', 'stash', 'index', 'untracked', 'snapshot', 'tree'];

/**
 * Searches for former contents of a path among the objects that no ref, index or stash entry reaches. Writes nothing.
 *
 * @throws Failure `usage` for a path outside of the working tree, `environment` when git cannot look
 */
export async function searchLost(typed: string, { cwd }: Context): Promise<CommandResult<SearchValue>> {
  const repository = await openRepository(cwd);
  const tree = await requireWorkTree(repository);
  const { top } = tree;
  const path = pathHere(typed, cwd, repository, tree);
  const lost = await readUnreachable(top);
  const all = await namedContents(top, path, lost);
  const known = await knownVersions(top, path, [...new Set([path, ...all.map((one) => one.path)])]);
  const named = all.filter((one) => isLost(one, lost, known));
  const isFile = path !== '' && !known.isFolder && named.every((one) => one.path === path);
  const loose = (oid: Oid) => looseSince(repository.commonDir, oid);
  const rest = isFile ? await unnamedContents(top, path, { lost, known, named, loose }) : [];
  const found = [...named.map((one) => foundIn(one, lost, loose)), ...rest];
  const items = found
    .sort(
      (a, b) =>
        rankOf(a) - rankOf(b) || (b.at ?? 0) - (a.at ?? 0) || (b.like?.percent ?? 0) - (a.like?.percent ?? 0),
    )
    .map(({ at, ...one }) => ({ ...one, at: at === undefined ? null : timestamp(at) }));
  const words = pathFrom(cwd, top)(path) || '.';
  const mayBeKept = isInitialised(repository.commonDir);
  // Without `./`, a leading `:/` would mean the top of the working tree.
  return { value: { path, typed: words.startsWith(':') ? `./${words}` : words, items, mayBeKept } };
}

/** A content that was found; its time is in milliseconds since the epoch. */
type Found = Omit<FoundShape, 'at'> & { readonly at: number | undefined };

const rankOf = ({ kind, begins }: Found) =>
  kind === 'tree' || kind === 'blob' ? (begins === null ? 1 : 2) : 0;

function foundIn(
  { path, blob, source }: Named,
  { blobs }: Unreachable,
  loose: (oid: Oid) => number | undefined,
): Found {
  const { oid, kind, subject, at = loose(oid) } = source;
  const bytes = blobs.get(blob) ?? null;
  return { path, which: oid, blob, kind, at, subject, bytes, like: null, begins: null };
}

function sourcesIn({ commits, rootTrees }: Unreachable): Source[] {
  const parts = new Map<Oid, Pick<Source, 'kind' | 'subject'>>();
  for (const [oid, { parents, subject }] of commits) {
    const [base, index, untracked] = parents;
    const staged = index && commits.get(index);
    // Skips what git-stash(1) did not make.
    if (staged?.subject.startsWith('index on ') !== true || staged.parents[0] !== base) continue;
    parts.set(oid, { kind: 'stash', subject }).set(index as Oid, { kind: 'index', subject });
    if (untracked !== undefined) parts.set(untracked, { kind: 'untracked', subject });
  }
  const found = [...commits].map(([oid, { subject, seconds, parents }]): Source => {
    const isSnapshot = parents.length === 0 && subject.startsWith('uncommitted work ');
    const kind = isSnapshot ? 'snapshot' : 'commit';
    return { oid, kind, subject, at: seconds * 1000, ...parts.get(oid) };
  });
  return [
    ...found.sort((a, b) => (a.at ?? 0) - (b.at ?? 0)),
    ...rootTrees.map((oid): Source => ({ oid, kind: 'tree', at: undefined, subject: '' })),
  ];
}

/** Finds the contents that lost commits and trees have at the path or, if the path is a folder, below it. */
async function namedContents(top: string, path: string, lost: Unreachable): Promise<Named[]> {
  const git = { cwd: top };
  const found = new Map<string, Named>();
  const add = (one: Named) => {
    const key = `${one.blob} ${one.path}`;
    const other = found.get(key)?.source;
    if (other === undefined || KINDS.indexOf(one.source.kind) < KINDS.indexOf(other.kind))
      found.set(key, one);
  };
  const folders = new Map<Oid, Source>();
  const sources = sourcesIn(lost);
  for (const part of inBatches(sources, BATCH)) {
    const kept = part.filter(({ kind }) => kind === 'snapshot');
    const names = part.map(({ oid }) => ({ name: `${oid}:${path}`, infoOnly: true }));
    const oids = kept.map(({ oid }) => oid);
    const [objects, snapshots] = await Promise.all([readObjects(git, names), readSnapshots(git, oids)]);
    for (const [at, source] of part.entries()) {
      const { type, oid } = objects[at] ?? {};
      if (source.kind === 'snapshot' || oid === undefined) continue;
      if (type === 'blob') add({ path, blob: oid, source });
      else if (type === 'tree' && !folders.has(oid)) folders.set(oid, source);
    }
    for (const [at, source] of kept.entries())
      for (const item of snapshots[at]?.items ?? []) {
        const blob = contentOf(item)?.oid;
        if (isNamed(item.path, path) && blob !== null && blob !== undefined)
          add({ path: item.path, blob, source });
      }
  }
  await twoAtOnce([...folders].slice(-MOST_FOLDERS), async ([oid, source]) => {
    for (const file of await listTree({ cwd: top }, oid))
      add({ path: path === '' ? file.path : `${path}/${file.path}`, blob: file.oid, source });
  });
  return [...found.values()];
}

interface Known {
  readonly isFolder: boolean;
  /** The contents of each path, the best to compare with first. Each is named after its place ("HEAD's", "the index's"). */
  readonly versions: ReadonlyMap<string, ReadonlyMap<Oid, string>>;
}

/** Reads the paths' versions in HEAD, in the index, on the disk, and in the newest commits of all refs that changed them. */
async function knownVersions(top: string, path: string, paths: readonly string[]): Promise<Known> {
  const below = path === '' ? [] : [path];
  const [atHead, index, disk, past] = await Promise.all([
    listTree({ cwd: top }, 'HEAD', below),
    readEntries(top, paths),
    hashFiles(top, paths, { all: true }),
    pastChanges({ cwd: top }, ['--all'], below),
  ]);
  const versions = new Map<string, Map<Oid, string>>();
  const add = (name: string, oid: Oid | null | undefined, where: string) => {
    const known = versions.get(name) ?? new Map<Oid, string>();
    if (oid !== null && oid !== undefined && !known.has(oid)) versions.set(name, known.set(oid, where));
  };
  for (const { path: name, oid } of atHead) add(name, oid, "HEAD's");
  for (const [name, state] of index) add(name, state?.oid, "the index's");
  for (const [name, oid] of disk) add(name, oid, "the disk's");
  for (const { path: name, index: after, commit } of past) add(name, after?.oid, `${shortOid(commit)}'s`);
  for (const { path: name, head: before, commit } of past) add(name, before?.oid, `${shortOid(commit)}^'s`);
  const isFolder =
    lstatOf(join(top, path))?.isDirectory() === true || [...versions.keys()].some((one) => one !== path);
  return { isFolder, versions };
}

/** Whether a content is lost. A content that other paths have, too, such as an empty one, is lost only if its path is gone. */
function isLost({ path, blob }: Named, { blobs }: Unreachable, { versions }: Known): boolean {
  return versions.get(path)?.has(blob) !== true && (blobs.has(blob) || !versions.has(path));
}

interface Around {
  readonly lost: Unreachable;
  readonly known: Known;
  readonly named: readonly Named[];
  readonly loose: (oid: Oid) => number | undefined;
}

/** Finds staged contents that are in no tree. If the path has versions, a content must be like one of them. */
async function unnamedContents(
  top: string,
  path: string,
  { lost: { blobs, named: inTrees }, known, named, loose }: Around,
): Promise<Found[]> {
  const versions = await readVersions(top, path, known, named);
  const others = known.versions.get(path);
  const isNear = (bytes: number) =>
    versions.length === 0 ||
    versions.some(({ pieces }) => 2 * Math.min(bytes, pieces.bytes) >= Math.max(bytes, pieces.bytes));
  const unnamed = [...blobs]
    .filter(([, bytes]) => bytes > 0 && bytes <= MAX_CONTENT && isNear(bytes))
    .filter(([oid]) => !inTrees.has(oid) && others?.has(oid) !== true)
    .map(([oid, bytes]) => ({ oid, bytes, at: loose(oid) }))
    .sort((a, b) => (b.at ?? 0) - (a.at ?? 0))
    .slice(0, versions.length === 0 ? MOST_UNKNOWN : MOST_COMPARED);
  const found: Found[] = [];
  let read = 0;
  for (let at = 0, next = 0; at < unnamed.length && read < MOST_BYTES; at = next) {
    const most = read + MAX_CONTENT;
    while (next < unnamed.length && read < most) read += unnamed[next++]?.bytes ?? 0;
    const part = unnamed.slice(at, next);
    const names = part.map(({ oid }) => ({ name: oid }));
    const objects = await readObjects({ cwd: top }, names);
    for (const [n, { oid, bytes, at: time }] of part.entries()) {
      const { content } = objects[n] ?? {};
      const like = content && likest(piecesOf(content), versions);
      if (content === undefined || (versions.length > 0 && (like?.percent ?? 0) < LEAST_ALIKE)) continue;
      const begins = versions.length > 0 ? null : firstLine(content);
      const what = { path, which: oid, blob: oid, kind: 'blob', at: time, subject: '' } as const;
      found.push({ ...what, bytes, like: like ?? null, begins });
    }
  }
  return found;
}

const MAX_LINE = 60;

function firstLine(content: Buffer): string {
  const text = content.subarray(0, 1000).toString('utf8');
  return text.includes('\0') ? '(not text)' : (/\S.*/.exec(text)?.[0] ?? '').slice(0, MAX_LINE);
}

interface Version {
  readonly name: string;
  readonly pieces: Pieces;
}

/** Reads the versions of a path to compare with: from HEAD, the index, the disk, the history, and lost commits and trees. */
async function readVersions(
  top: string,
  path: string,
  { versions }: Known,
  named: readonly Named[],
): Promise<Version[]> {
  const lost = named
    .slice(-MOST_VERSIONS)
    .map(({ blob, source }) => [blob, `${shortOid(source.oid)}'s`] as const);
  const names = new Map([...[...(versions.get(path) ?? [])].slice(0, MOST_VERSIONS), ...lost]);
  const requests = [...names.keys()].map((name) => ({ name, mostBytes: MAX_CONTENT }));
  const objects = await readObjects({ cwd: top }, requests);
  const found = [...names.values()].flatMap((name, at): Version[] => {
    const { content, size = 0 } = objects[at] ?? {};
    return content?.length === size ? [{ name, pieces: piecesOf(content) }] : [];
  });
  // git may not have stored the content that is on the disk.
  const file = join(top, path);
  const stat = lstatOf(file);
  const isOnDisk = stat?.isFile() === true && stat.size <= MAX_CONTENT;
  return isOnDisk ? [...found, { name: "the disk's", pieces: piecesOf(readFileSync(file)) }] : found;
}

function likest(pieces: Pieces, versions: readonly Version[]): FoundShape['like'] {
  let best: FoundShape['like'] = null;
  for (const version of versions) {
    const percent = similarity(pieces, version.pieces);
    if (percent > (best?.percent ?? 0)) best = { percent, what: version.name };
  }
  return best;
}
