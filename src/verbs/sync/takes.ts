import { timestamp } from '../../domain/age.ts';
import type { SessionId } from '../../domain/names.ts';
import { firstParentChain, loadCommits } from '../../git/commits.ts';
import type { InRepository } from '../../git/repository.ts';
import type { Difference } from '../../notes/sync/differences.ts';
import type { Folded } from '../../notes/sync/fold.ts';

/** How a handoff came to another owner at the remote. */
export interface Take {
  readonly by: SessionId;
  readonly from: SessionId;
  /** RFC 3339. */
  readonly at: string;
}

/** Which of the handoffs that went forward have changed hands by a take there: its owner here is to know. */
export async function findTakes(
  repository: InRepository,
  folded: readonly Folded[],
): Promise<ReadonlyMap<Difference, Take>> {
  const takes = new Map<Difference, Take>();
  for (const { difference, kind } of folded) {
    const { here, there, owner } = difference;
    const former = here?.tip?.trailers?.owner;
    if (kind !== 'forward' || owner === undefined || former === undefined || owner === former) continue;
    const options = { cwd: repository.cwd };
    const steps = await loadCommits(options, await firstParentChain(options, there.oid, here?.tip?.oid));
    const take = steps.find(
      (step) => step?.trailers?.owner === owner && step.trailers.takenFrom !== undefined,
    );
    const from = take?.trailers?.takenFrom;
    if (take === undefined || from === undefined) continue;
    takes.set(difference, { by: owner, from, at: timestamp(take.seconds * 1000) });
  }
  return takes;
}
