import type { RecordedState } from '../../domain/handoff.ts';
import type { TreeFact } from '../../domain/verification/facts.ts';
import type { SessionId } from '../../domain/names.ts';
import type { TreeState } from '../../git/named-files.ts';
import { unfinishedOperation } from '../../git/operations.ts';
import type { Repository } from '../../git/repository.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { readLedgers } from '../../changes/ledger.ts';
import { worktreeName } from '../../sessions/caller.ts';

/** The working tree against what the note recorded of it. */
export function treeFact(
  repository: Repository,
  state: TreeState | undefined,
  recorded: RecordedState | undefined,
  onDisk: boolean,
  foreign: ReadonlySet<SessionId>,
): TreeFact {
  if (state === undefined) return { kind: 'none' };
  const worktree = recorded?.worktree ?? null;
  const here = worktreeName(repository) ?? null;
  if (!onDisk || recorded === undefined || worktree !== here) {
    return { kind: 'elsewhere', worktree: worktree === here ? null : worktree };
  }
  return {
    kind: 'here',
    now: state.dirty,
    then: recorded.dirty,
    others: foreignWork(repository, state, foreign),
    operation: unfinishedOperation(repository.gitDir)?.name,
  };
}

/** How many of the dirty paths other live sessions have changed, by the ledger as it stands. */
function foreignWork(
  { gitDir, commonDir }: Repository,
  { paths }: TreeState,
  foreign: ReadonlySet<SessionId>,
): { session: SessionId; paths: number }[] {
  const worktreeId = knownWorktreeId(gitDir);
  if (worktreeId === undefined || foreign.size === 0) return [];
  const isDirty = (path: string) => paths.some((one) => path === one || path.startsWith(`${one}/`));
  return readLedgers({ commonDir, worktreeId })
    .filter(({ session }) => foreign.has(session))
    .map(({ session, claims }) => ({ session, paths: [...claims.keys()].filter(isDirty).length }))
    .filter(({ paths: count }) => count > 0);
}
