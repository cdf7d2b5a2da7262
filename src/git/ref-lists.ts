import { type Oid, type RefName, parseOid } from '../domain/names.ts';
import { type HandoffPath, KEPT, KEPT_LIST, REMOTE, SHOWN, parsePath, placeName } from './namespace.ts';
import { readObjects } from './objects.ts';
import { type RefUpdate, updateRefs } from './ref-updates.ts';
import { type RefValue, listRefNames } from './refs.ts';
import type { InRepository } from './repository.ts';
import { type GitOptions, git } from './run.ts';

/**
 * Thousands of handoffs that a remote showed at once stand in two lists instead of two refs each, which cost a file each: what
 * the remote showed, and what was accepted of it here. A list is a blob of lines `<oid> <branch>/<topic>`. It keeps no object
 * alive: an entry whose commit is gone counts for nothing. A ref of the same handoff is newer, and wins.
 */

/** A ref, or an entry of a list under the name that its ref would have. */
export interface ListedRef extends RefValue {
  /** The list's ref; `undefined`: it is a ref itself. */
  readonly list: RefValue | undefined;
}

/** Below which prefix the refs would be for which a list stands. */
const prefixOf = (list: RefName) => (list === KEPT_LIST ? KEPT : `${REMOTE}${list.slice(SHOWN.length)}/`);

/** Lists the refs below the prefixes, which include `REMOTE` or a part of it, and what the lists say beside tracking refs. */
export async function listTracking(
  repository: InRepository,
  prefixes: readonly string[],
): Promise<readonly ListedRef[]> {
  const refs = await listRefNames(repository, [...prefixes, SHOWN]);
  const lists = refs.filter(({ name }) => name.startsWith(SHOWN));
  const tracked = refs
    .filter(({ name }) => !name.startsWith(SHOWN))
    .map(({ name, oid }) => ({ name, oid, list: undefined }));
  if (lists.length === 0) return tracked;
  const own = new Set(tracked.map(({ name }) => name));
  const entries = (await readLists(repository, lists)).flat();
  return [...tracked, ...entries.filter(({ name }) => !own.has(name))];
}

/** The accepted tips of handoffs, by the name below the prefix: `<branch>/<topic>`. */
interface Kept {
  readonly refs: ReadonlyMap<string, Oid>;
  /** What the list says; a ref goes before it. */
  readonly listed: ReadonlyMap<string, Oid>;
}

/** Finds what was kept among refs that were listed below `KEPT` and as `KEPT_LIST`. */
export async function keptAmong(options: GitOptions, local: readonly RefValue[]): Promise<Kept> {
  const byPlace = (refs: readonly RefValue[]) =>
    new Map(refs.map(({ name, oid }) => [name.slice(KEPT.length), oid]));
  const lists = local.filter(({ name }) => name === KEPT_LIST);
  return {
    refs: byPlace(local.filter(({ name }) => name.startsWith(KEPT))),
    listed: byPlace((await readLists(options, lists)).flat()),
  };
}

/** What lists say, by list. */
export async function readLists(
  options: GitOptions,
  lists: readonly RefValue[],
): Promise<(readonly ListedRef[])[]> {
  const names = lists.map(({ oid }) => ({ name: oid }));
  const blobs = await readObjects(options, names);
  return lists.map((list, at) => parseList(list, blobs[at]?.content.toString('utf8') ?? ''));
}

function parseList(list: RefValue, text: string): ListedRef[] {
  const prefix = prefixOf(list.name);
  return text.split('\n').flatMap((line) => {
    const [oidText = '', place = '', ...more] = line.split(' ');
    const [oid, name] = [parseOid(oidText), prefix + place];
    if (oid === undefined || more.length > 0 || parsePath(name, prefix) === undefined) return [];
    return [{ name: name as RefName, oid, list }];
  });
}

/** Tries to change a list that others change, too. */
const MAX_TRIES = 5;

/** Adds handoffs to a list; `false`: the list cannot be changed. */
export function addToList(
  repository: InRepository,
  list: RefName,
  added: readonly { readonly path: HandoffPath; readonly oid: Oid }[],
): Promise<boolean> {
  return changeList(repository, list, (entries) => {
    for (const { path, oid } of added) entries.set(placeName(path), oid);
  });
}

/** Takes handoffs out of a list, where there is one; `false`: the list cannot be changed. */
export function takeFromList(
  repository: InRepository,
  list: RefName,
  paths: readonly HandoffPath[],
): Promise<boolean> {
  return changeList(repository, list, (entries) => {
    for (const path of paths) entries.delete(placeName(path));
  });
}

async function changeList(
  repository: InRepository,
  ref: RefName,
  change: (entries: Map<string, Oid>) => void,
): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const lists = (await listRefNames(repository, [ref])).filter(({ name }) => name === ref);
    const entries = new Map(
      (await readLists(repository, lists)).flat().map(({ name, oid }) => [placeIn(ref, name), oid]),
    );
    change(entries);
    const next = await storeList(repository, entries);
    const old = lists[0]?.oid;
    if (next === old) return true;
    const { kind } = await updateRefs(repository, [{ ref, next, old }]);
    if (kind !== 'moved') return kind === 'done';
  }
  return false;
}

const placeIn = (list: RefName, name: RefName) => name.slice(prefixOf(list).length);

/** Stores a list as a blob; `undefined` for an empty one, which needs no ref. */
async function storeList({ cwd }: InRepository, entries: ReadonlyMap<string, Oid>): Promise<Oid | undefined> {
  if (entries.size === 0) return undefined;
  // By name, as a remote tells them: then there is nothing to be put in order.
  const places = [...entries.keys()].sort();
  const input = places.map((place) => `${entries.get(place) ?? ''} ${place}\n`).join('');
  return parseOid((await git(['hash-object', '-w', '--stdin'], { cwd, input })).trim());
}

/** The entries of one handoff in all lists, and the updates that take them out of these. */
export async function findListed(
  repository: InRepository,
  path: HandoffPath,
): Promise<{ readonly entries: readonly ListedRef[]; readonly takeOut: () => Promise<RefUpdate[]> }> {
  const lists = await listRefNames(repository, [SHOWN, KEPT_LIST]);
  const all = await readLists(repository, lists);
  const isOf = ({ name, list }: ListedRef) =>
    list !== undefined && placeIn(list.name, name) === placeName(path);
  const takeOut = lists.flatMap((list, at) => {
    const left = all[at]?.filter((one) => !isOf(one)) ?? [];
    if (left.length === all[at]?.length) return [];
    return [{ list, left: new Map(left.map(({ name, oid }) => [placeIn(list.name, name), oid])) }];
  });
  return {
    entries: all.flat().filter(isOf),
    takeOut: () =>
      Promise.all(
        takeOut.map(async ({ list, left }) => ({
          ref: list.name,
          next: await storeList(repository, left),
          old: list.oid,
        })),
      ),
  };
}
