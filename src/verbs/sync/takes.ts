import { timestamp } from '../../domain/age.ts';
import { firstParentChain, loadCommits } from '../../git/commits.ts';
import type { InRepository } from '../../git/repository.ts';
import type { Difference } from '../../notes/sync/differences.ts';
import type { Folded } from '../../notes/sync/fold.ts';

/** When the handoffs that went forward changed hands by a take there (RFC 3339): the owner here hears of it. */
export async function findTakes(
  repository: InRepository,
  folded: readonly Folded[],
): Promise<ReadonlyMap<Difference, string>> {
  const takes = new Map<Difference, string>();
  for (const { difference, kind } of folded) {
    const { here, there, owner } = difference;
    const former = here?.tip?.trailers?.owner;
    if (kind !== 'forward' || owner === undefined || former === undefined || owner === former) continue;
    const options = { cwd: repository.cwd };
    const steps = await loadCommits(options, await firstParentChain(options, there.oid, here?.tip?.oid));
    const take = steps.find(
      (step) => step?.trailers?.owner === owner && step.trailers.takenFrom !== undefined,
    );
    if (take !== undefined) takes.set(difference, timestamp(take.seconds * 1000));
  }
  return takes;
}
