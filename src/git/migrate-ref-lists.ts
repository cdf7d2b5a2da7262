import { type RefName, parseOid } from '../domain/names.ts';
import { KEPT, KEPT_LIST, PRUNED, REMOTE, SHOWN, parsePath } from './namespace.ts';
import { lookUpObjects, readObjects } from './objects.ts';
import { listRefNames, listRefs, type Ref, type RefValue, updateRefs } from './refs.ts';
import type { InRepository } from './repository.ts';

/**
 * A development version kept tracking refs and accepted tips in lists, which are blobs with lines `<oid> <branch>/<topic>`
 * (docs/decisions/0053-ref-lists.md). These functions turn each list that they find into refs.
 */

/** Lists names and values of refs like `listRefNames`, and also finds tracking refs and kept tips in lists. */
export const listBookkeeping = (
  repository: InRepository,
  prefixes: readonly string[],
): Promise<readonly RefValue[]> => listMigrated(repository, prefixes, listRefNames);

/** Lists the same refs with their types, like `listRefs`. */
export const listBookkeepingRefs = (
  repository: InRepository,
  prefixes: readonly string[],
): Promise<readonly Ref[]> => listMigrated(repository, prefixes, listRefs);

async function listMigrated<R extends RefValue>(
  repository: InRepository,
  prefixes: readonly string[],
  list: (repository: InRepository, prefixes: readonly string[]) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  const mayHaveLists = prefixes.some((one) => one.startsWith(KEPT) || one.startsWith(REMOTE));
  const refs = await list(repository, mayHaveLists ? [...prefixes, KEPT_LIST, SHOWN] : prefixes);
  const lists = refs.filter(({ name }) => name === KEPT_LIST || name.startsWith(SHOWN));
  if (lists.length === 0) return refs;
  // If nothing can be written, or another process migrates now, the next command tries again.
  await migrate(repository, lists).catch(() => undefined);
  return list(repository, prefixes);
}

/** Turns the entries into refs and deletes the lists, in one transaction. Skips missing commits and deleted handoffs. */
async function migrate(repository: InRepository, lists: readonly RefValue[]): Promise<void> {
  const names = lists.map(({ oid }) => oid);
  const [blobs, refs] = await Promise.all([
    readObjects(repository, names),
    listRefNames(repository, [KEPT, REMOTE, PRUNED]),
  ]);
  const known = new Set<string>(refs.map(({ name }) => name));
  const entries = lists.flatMap(({ name }, at) => {
    const prefix = name === KEPT_LIST ? KEPT : `${REMOTE}${name.slice(SHOWN.length)}/`;
    const lines = (blobs[at]?.content.toString('utf8') ?? '').matchAll(/^([0-9a-f]+) ([^ \n]+)$/gm);
    return [...lines].flatMap(([, value = '', place = '']) => {
      const [oid, ref] = [parseOid(value), prefix + place];
      const counts = parsePath(ref, prefix) !== undefined && !known.has(ref) && !known.has(PRUNED + place);
      return oid !== undefined && counts ? [{ ref: ref as RefName, next: oid, old: undefined }] : [];
    });
  });
  const tips = entries.map(({ next }) => next);
  const commits = await lookUpObjects(repository, tips);
  const made = entries.filter((_, at) => commits[at]?.type === 'commit');
  const deleted = lists.map(({ name, oid }) => ({ ref: name, next: undefined, old: oid }));
  await updateRefs(repository, [...made, ...deleted], { repeatable: true });
}
