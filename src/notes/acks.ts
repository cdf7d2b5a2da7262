import type { Oid } from '../domain/names.ts';
import { Failure } from '../domain/failure.ts';
import { ACKS, type HandoffPath, ackRef } from '../git/namespace.ts';
import { updateRefs } from '../git/ref-updates.ts';
import { type RefValue, listRefNames } from '../git/refs.ts';
import type { InRepository } from '../git/repository.ts';

const MAX_TRIES = 5;

/** What readers have acknowledged: `refs/handoffs-local/acks/<branch>/<topic>/<reader>`. */
type Acks = ReadonlyMap<string, Oid>;

/** Reads the acknowledgements of one handoff. */
export async function readAcks(repository: InRepository, path: HandoffPath): Promise<Acks> {
  return acksFrom(await listRefNames(repository, [ackRef(path, '')]));
}

/** Picks the acknowledgements out of listed refs. */
export function acksFrom(refs: readonly RefValue[]): Acks {
  return new Map(refs.flatMap(({ name, oid }) => (name.startsWith(ACKS) ? [[name, oid]] : [])));
}

/** The commit that a reader acknowledged last. */
export function ackOf(acks: Acks, path: HandoffPath, reader: string): Oid | undefined {
  return acks.get(ackRef(path, reader));
}

/**
 * Moves a reader's acknowledgement to the tip, by compare-and-swap. `tip` is called again at every try, so that an
 * acknowledgement of an older tip never replaces that of a newer one.
 *
 * @throws Failure `lost-race` when others moved it at every try, `environment` when a lock is in the way.
 */
export async function acknowledge(
  repository: InRepository,
  path: HandoffPath,
  reader: string,
  tip: () => Promise<Oid>,
): Promise<{ readonly tip: Oid; readonly changed: boolean }> {
  const ref = ackRef(path, reader);
  let locked: string | undefined;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const old = ackOf(await readAcks(repository, path), path, reader);
    const next = await tip();
    if (old === next) return { tip: next, changed: false };
    const result = await updateRefs(repository, [{ ref, next, old }]);
    if (result.kind === 'done') return { tip: next, changed: true };
    if (result.kind === 'name-conflict')
      throw new Failure('integrity', result.detail, { hint: 'git handoff doctor' });
    locked = result.kind === 'locked' ? result.detail : undefined;
  }
  if (locked !== undefined)
    throw new Failure('environment', `a lock is in the way: ${locked}`, { hint: 'git handoff doctor' });
  throw new Failure('lost-race', 'the acknowledgement changed at every attempt', {
    hint: 'git handoff list --unread',
  });
}
