import { type Oid, parseOid } from '../domain/names.ts';
import {
  type HandoffPath,
  REMOTE,
  SHOWN,
  decodeRemote,
  parseTrackingRef,
  shownRef,
  trackingRef,
} from './namespace.ts';
import { readObjects } from './objects.ts';
import { type RefUpdate, updateRefs } from './ref-updates.ts';
import { type RefValue, listRefNames } from './refs.ts';
import type { InRepository } from './repository.ts';
import { git } from './run.ts';

/**
 * Thousands of handoffs that a remote showed at once stand in one list instead of a tracking ref each, which costs a file
 * each: a blob of lines `<oid> <branch>/<topic>`. It keeps no object alive: an entry without a handoff here, or whose commit is
 * gone, counts for nothing. A tracking ref of the same handoff is newer, and wins.
 */

/** A tracking ref, or an entry of a list under the name that its tracking ref would have. */
export interface Tracked extends RefValue {
  /** The list's ref; `undefined`: it is a ref itself. */
  readonly list: RefValue | undefined;
}

/** Lists the refs below the prefixes, which include `REMOTE` or a part of it, and what the lists say beside tracking refs. */
export async function listTracking(
  repository: InRepository,
  prefixes: readonly string[],
): Promise<readonly Tracked[]> {
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

/** What lists say, by list. */
export async function readLists(
  repository: InRepository,
  lists: readonly RefValue[],
): Promise<(readonly Tracked[])[]> {
  const blobs = await readObjects(
    { cwd: repository.cwd },
    lists.map(({ oid }) => ({ name: oid })),
  );
  return lists.map((list, at) => parseList(list, blobs[at]?.content.toString('utf8') ?? ''));
}

function parseList(list: RefValue, text: string): Tracked[] {
  const prefix = `${REMOTE}${list.name.slice(SHOWN.length)}/`;
  return text.split('\n').flatMap((line) => {
    const [oidText = '', place = '', ...more] = line.split(' ');
    const [oid, path] = [parseOid(oidText), parseTrackingRef(prefix + place)];
    if (oid === undefined || path === undefined || more.length > 0) return [];
    return [{ name: trackingRef(path.remote, path), oid, list }];
  });
}

/** Tries to change a list that others change, too. */
const MAX_TRIES = 5;

/** Lists what a remote showed; `false`: the list cannot be changed. */
export async function addShown(
  repository: InRepository,
  remote: string,
  shown: readonly { readonly path: HandoffPath; readonly oid: Oid }[],
): Promise<boolean> {
  const ref = shownRef(remote);
  const added = new Map(shown.map(({ path, oid }) => [trackingRef(remote, path), oid]));
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const lists = (await listRefNames(repository, [ref])).filter(({ name }) => name === ref);
    const former = (await readLists(repository, lists)).flat();
    const all = new Map([...former.map(({ name, oid }) => [name, oid] as const), ...added]);
    const next = await storeList(repository, ref, all);
    const { kind } = await updateRefs(repository, [{ ref, next, old: lists[0]?.oid }]);
    if (kind !== 'moved') return kind === 'done';
  }
  return false;
}

async function storeList(
  { cwd }: InRepository,
  ref: RefValue['name'],
  entries: ReadonlyMap<string, Oid>,
): Promise<Oid | undefined> {
  const prefix = `${REMOTE}${ref.slice(SHOWN.length)}/`;
  // By name, as a remote tells them: then there is nothing to be put in order.
  const names = [...entries.keys()].sort();
  const lines = names.map((name) => `${entries.get(name) ?? ''} ${name.slice(prefix.length)}\n`);
  return parseOid((await git(['hash-object', '-w', '--stdin'], { cwd, input: lines.join('') })).trim());
}

/** The entries of one handoff in all lists, and the updates that take them out of these. */
export async function findListed(
  repository: InRepository,
  path: HandoffPath,
): Promise<{ readonly entries: readonly Tracked[]; readonly takeOut: () => Promise<RefUpdate[]> }> {
  const lists = await listRefNames(repository, [SHOWN]);
  const all = await readLists(repository, lists);
  const isOf = ({ name, list }: Tracked) =>
    name === trackingRef(decodeRemote(list?.name.slice(SHOWN.length) ?? ''), path);
  const takeOut = lists.flatMap((list, at) => {
    const left = all[at]?.filter((one) => !isOf(one)) ?? [];
    if (left.length === all[at]?.length) return [];
    return [{ list, left: new Map(left.map(({ name, oid }) => [name, oid])) }];
  });
  return {
    entries: all.flat().filter(isOf),
    takeOut: () =>
      Promise.all(
        takeOut.map(async ({ list, left }) => ({
          ref: list.name,
          next: left.size === 0 ? undefined : await storeList(repository, list.name, left),
          old: list.oid,
        })),
      ),
  };
}
