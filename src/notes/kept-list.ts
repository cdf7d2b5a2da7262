import type { Oid } from '../domain/names.ts';
import { type HandoffPath, PRUNED, placeName, prunedRef } from '../git/namespace.ts';
import { readObjects } from '../git/objects.ts';
import { keptAmong } from '../git/ref-lists.ts';
import { type Ref, listRefNames } from '../git/refs.ts';
import type { InRepository } from '../git/repository.ts';

/**
 * What the list says was kept of a handoff, if that commit is here. An older version of this program prunes without knowing of
 * lists, but remembers that it did.
 *
 * @param refs among which `KEPT_LIST` and what remembers a prune of the handoff are, if there are any
 * @param publicOid the value of its public ref
 */
export async function listedOid(
  { cwd }: InRepository,
  path: HandoffPath,
  refs: readonly Ref[],
  publicOid: Oid | undefined,
): Promise<Oid | undefined> {
  if (refs.some(({ name }) => name === prunedRef(path))) return undefined;
  const oid = (await keptAmong({ cwd }, refs)).listed.get(placeName(path));
  if (oid === undefined || oid === publicOid) return oid;
  const [found] = await readObjects({ cwd }, [{ name: oid, infoOnly: true }]);
  return found?.oid;
}

/**
 * Of listed handoffs that have no ref any more, the places of those that nobody has pruned and whose commits are here. An older
 * version of this program may have pruned thousands: two processes, however many there are.
 */
export async function notPruned(
  { cwd }: InRepository,
  listed: readonly (readonly [place: string, oid: Oid])[],
): Promise<readonly string[]> {
  if (listed.length === 0) return [];
  const pruned = new Set(
    (await listRefNames({ cwd }, [PRUNED])).map(({ name }) => name.slice(PRUNED.length)),
  );
  const left = listed.filter(([place]) => !pruned.has(place));
  const objects = await readObjects(
    { cwd },
    left.map(([, oid]) => ({ name: oid, infoOnly: true })),
  );
  return left.flatMap(([place], at) => (objects[at] === undefined ? [] : [place]));
}
