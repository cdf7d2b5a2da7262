import type { Snapshot } from '../domain/ledger/snapshot.ts';
import { takeSnapshot } from '../git/work-tree.ts';
import { beforeAnswer } from '../host/io.ts';
import type { Scene } from './scene.ts';

/** The working tree as it is before the command; `undefined` when it cannot be looked at. */
export type Look = () => Promise<Snapshot | undefined>;

/** Looks at the working tree when somebody first asks, and once. Which paths differ is enough: no content is read. */
export function lookOnce({ place, now, budget }: Scene): Look {
  let snapshot: Promise<Snapshot | undefined> | undefined;
  return () => {
    if (place === undefined) return Promise.resolve(undefined);
    const timeoutMs = beforeAnswer(budget);
    snapshot ??= takeSnapshot(place.workTree, { now, timeoutMs, namesOnly: true }).catch(() => undefined);
    return snapshot;
  };
}
