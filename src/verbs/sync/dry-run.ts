import type { Oid } from '../../domain/names.ts';
import { decidePush } from '../../domain/sync/outgoing.ts';
import { handoffRef } from '../../git/namespace.ts';
import { type SyncedTopic, readRemoved } from '../../notes/sync/differences.ts';
import type { SyncReport } from './items.ts';
import { type Outgoing, withoutSecrets } from './leaving-notes.ts';
import type { SyncWorld } from './world.ts';

/** Says what a sync would do, as far as it can be told without fetching. */
export async function planOnly(
  world: SyncWorld,
  remote: string,
  topics: readonly SyncedTopic[],
  there: ReadonlyMap<string, Oid>,
  report: SyncReport,
): Promise<void> {
  const { repository, options } = world;
  const removed = await readRemoved(repository);
  const seen = new Map(topics.map((one) => [handoffRef(one.path) as string, one]));
  for (const [ref, oid] of there) {
    const one = seen.get(ref);
    const isKnown = one?.there?.oid === oid || one?.here?.tip?.oid === oid || removed.get(ref) === oid;
    if (!isKnown && options.fetch) report.plan(ref, 'to-fetch', oid);
  }
  if (!options.push) return;
  const outgoing: Outgoing[] = [];
  for (const { path, here, there: tracked } of topics) {
    const tip = here?.tip?.oid;
    const ref = handoffRef(path);
    if (tip === undefined || there.get(ref) === tip) continue;
    const shown = there.get(ref);
    const action = decidePush({ tip, shown, tracked: tracked?.oid, isAhead: true, restore: options.restore });
    if (action === 'push') outgoing.push({ path, tip, old: tracked?.oid });
    else if (action === 'deleted-there') report.plan(ref, 'deleted-there', tip);
    else if (!options.fetch) report.plan(ref, 'behind', tip);
  }
  const leaving = outgoing.length === 0 ? [] : await withoutSecrets(world, remote, outgoing, report);
  for (const { path, tip } of leaving) report.plan(handoffRef(path), 'to-push', tip);
}
