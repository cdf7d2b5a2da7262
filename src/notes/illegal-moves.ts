import { loadCommits } from '../git/commits.ts';
import { handoffRef, keptRef } from '../git/namespace.ts';
import { type TransactionResult, updateRefs } from '../git/ref-updates.ts';
import type { Repository } from '../git/repository.ts';
import { listLost, saveLost } from './lost.ts';
import type { TopicState } from './topic.ts';

/**
 * Keeps the text at a ref that was moved by hand as a lost text, which also records that the move was
 * reported. Returns whether this is the first time.
 */
export async function recordIllegalMove(
  repository: Repository,
  state: TopicState,
  at: number,
): Promise<boolean> {
  const { illegal, keptOid } = state;
  if (illegal === undefined) return false;
  const bad = illegal.bad ?? null;
  const known = await listLost(repository, state.path);
  const isRecorded = known.some(
    ({ details }) =>
      details.kind === 'illegal-move' && (details.bad ?? null) === bad && details.tip === (keptOid ?? null),
  );
  if (isRecorded) return false;
  const [loaded] =
    illegal.bad === undefined
      ? []
      : await loadCommits({ cwd: repository.cwd }, [illegal.bad], { notes: true });
  await saveLost(repository, state.path, loaded?.note ?? Buffer.alloc(0), {
    kind: 'illegal-move',
    session: loaded?.trailers?.owner ?? null,
    at,
    reason: illegal.reason,
    tip: keptOid ?? null,
    bad,
  });
  return true;
}

/** Puts the public ref back to what was kept, from exactly the value that was seen (doctor --fix). */
export async function restoreKeptTip(repository: Repository, state: TopicState): Promise<TransactionResult> {
  return updateRefs(
    repository,
    [{ ref: handoffRef(state.path), next: state.keptOid, old: state.publicOid }],
    {
      reflog: 'handoff: restore',
    },
  );
}

/** Lets `kept` follow a public ref that moved legally without it (a crash between the two, a plain fetch). */
export async function foldTopic(repository: Repository, state: TopicState): Promise<TransactionResult> {
  return updateRefs(repository, [{ ref: keptRef(state.path), next: state.publicOid, old: state.keptOid }]);
}
