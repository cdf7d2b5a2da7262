import { type Oid, type RefName, parseOid } from '../domain/names.ts';
import { inBatches } from './batches.ts';
import {
  HANDOFFS,
  KEPT,
  KEPT_LIST,
  PRUNED,
  REMOTE,
  SHOWN,
  parsePath,
  parseTrackingRef,
  placeName,
} from './namespace.ts';
import { readObjects } from './objects.ts';
import { type RefUpdate, updateRefs } from './ref-updates.ts';
import { type Ref, type RefValue, listRefNames, listRefs } from './refs.ts';
import type { InRepository } from './repository.ts';

/**
 * A development version kept tracking refs and accepted tips of many handoffs in lists instead of refs: blobs of lines
 * `<oid> <branch>/<topic>` (docs/decisions/0053-ref-lists.md). Whoever lists such refs and finds a list makes refs of its entries.
 */

/** Names and values of refs, as `listRefNames`; the prefixes or names may be those of tracking refs and of what was kept. */
export function listBookkeeping(
  repository: InRepository,
  prefixes: readonly string[],
): Promise<readonly RefValue[]> {
  return listMigrated(repository, prefixes, (all) => listRefNames(repository, all));
}

/** The same with the type of each, as `listRefs`. */
export function listBookkeepingRefs(
  repository: InRepository,
  prefixes: readonly string[],
): Promise<readonly Ref[]> {
  return listMigrated(repository, prefixes, (all) => listRefs(repository, all));
}

async function listMigrated<R extends RefValue>(
  repository: InRepository,
  prefixes: readonly string[],
  list: (prefixes: readonly string[]) => Promise<readonly R[]>,
): Promise<readonly (R | Ref)[]> {
  const withLists = prefixes.flatMap((one) => (one.startsWith(KEPT) ? [one, KEPT_LIST] : [one]));
  const isTracking = prefixes.some((one) => one.startsWith(REMOTE));
  const refs = await list(isTracking ? [...withLists, SHOWN] : withLists);
  if (!refs.some(isList)) return refs;
  const left = await migrate(repository);
  const isWanted = ({ name }: Ref) => prefixes.some((one) => name.startsWith(one.split('*')[0] ?? ''));
  return [...(await list(prefixes)), ...left.filter(isWanted)];
}

/** Whether a ref is such a list. */
export const isList = ({ name }: RefValue): boolean => name === KEPT_LIST || name.startsWith(SHOWN);

/** Tries against others that move the same refs; git itself waits for locks. */
const MAX_TRIES = 5;

/** Refs in one transaction. */
const BATCH = 2500;

/**
 * Makes refs of the entries of all lists, then deletes the lists: a kill in between leaves the lists, and another process that
 * does the same only makes a part of the work needless. Returns the entries of which no ref could be made (a lock, a disk that
 * is read-only), as if they were refs.
 */
async function migrate(repository: InRepository): Promise<readonly Ref[]> {
  for (let tries = 1; ; tries += 1) {
    const { lists, entries } = await readEntries(repository);
    if (lists.length === 0) return [];
    const made = entries.map(({ name, oid }) => ({ ref: name, next: oid, old: undefined }));
    const deleted = lists.map(({ name, oid }) => ({ ref: name, next: undefined, old: oid }));
    const result = await apply(repository, [...made, ...deleted]);
    if (result === 'done') return [];
    const isRace = result === 'moved' || result === 'objects-gone';
    if (!isRace || tries === MAX_TRIES) return entries;
  }
}

async function apply(repository: InRepository, updates: readonly RefUpdate[]): Promise<string> {
  for (const batch of inBatches(updates, BATCH)) {
    // Nothing is synced to the disk: what is lost to a power cut is fetched or judged again.
    const { kind } = await updateRefs(repository, batch, { repeatable: true }).catch(() => ({
      kind: 'failed',
    }));
    if (kind !== 'done') return kind;
  }
  return 'done';
}

interface Lists {
  readonly lists: readonly RefValue[];
  readonly entries: readonly Ref[];
}

/** The lists that are there, and the entries that count. */
async function readEntries(repository: InRepository): Promise<Lists> {
  const prefixes = [HANDOFFS, KEPT, REMOTE, PRUNED, KEPT_LIST, SHOWN];
  const refs = await listRefNames(repository, prefixes);
  const lists = refs.filter(isList);
  const blobs = await readObjects(
    repository,
    lists.map(({ oid }) => ({ name: oid })),
  );
  const names = new Set<string>(refs.map(({ name }) => name));
  const kept: RefValue[] = [];
  const shown: RefValue[] = [];
  for (const [at, { name }] of lists.entries()) {
    const prefix = name === KEPT_LIST ? KEPT : `${REMOTE}${name.slice(SHOWN.length)}/`;
    const listed = parseList(blobs[at]?.content.toString('utf8') ?? '', prefix);
    (name === KEPT_LIST ? kept : shown).push(...listed.filter((one) => !names.has(one.name)));
  }
  const keptPlaces = new Set(kept.map(({ name }) => name.slice(KEPT.length)));
  const isPruned = (place: string) => names.has(PRUNED + place);
  // What a fetch listed and never made a note of is fetched again.
  const isHere = (place: string) =>
    names.has(HANDOFFS + place) || names.has(KEPT + place) || keptPlaces.has(place);
  const counting = [
    ...kept.filter(({ name }) => !isPruned(name.slice(KEPT.length))),
    ...shown.filter(({ name }) => {
      const path = parseTrackingRef(name);
      return path !== undefined && !isPruned(placeName(path)) && isHere(placeName(path));
    }),
  ];
  return { lists, entries: await existing(repository, counting) };
}

function parseList(text: string, prefix: string): RefValue[] {
  return text.split('\n').flatMap((line) => {
    const space = line.indexOf(' ');
    const [oid, name] = [parseOid(line.slice(0, Math.max(space, 0))), prefix + line.slice(space + 1)];
    return oid === undefined || parsePath(name, prefix) === undefined ? [] : [{ name: name as RefName, oid }];
  });
}

/** Those whose commits are here: a list keeps no object alive. */
async function existing(repository: InRepository, entries: readonly RefValue[]): Promise<Ref[]> {
  const oids: readonly Oid[] = [...new Set(entries.map(({ oid }) => oid))];
  const objects = await readObjects(
    repository,
    oids.map((name) => ({ name, infoOnly: true })),
  );
  const commits = new Set(oids.filter((_, at) => objects[at]?.type === 'commit'));
  return entries
    .filter(({ oid }) => commits.has(oid))
    .map(({ name, oid }) => ({ name, oid, type: 'commit', symbolic: false, content: '' }));
}
