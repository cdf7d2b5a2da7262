import type { Verdict } from '../../agents/dialect.ts';
import type { Snapshot } from '../../domain/ledger/snapshot.ts';
import type { SessionId } from '../../domain/names.ts';
import type { ShellEffects } from '../../shell/effects.ts';
import { discoverRepository } from '../../git/discover.ts';
import { realPath } from '../../host/disk.ts';
import type { Scene } from '../scene.ts';

/**
 * Decides what a command does to what all worktrees of a repository share: the stash, the branches, and the worktrees
 * themselves. This counts for a session that is alone in its worktree, too.
 *
 * @param look the working tree, when it matters
 */
export async function sharedVerbs(
  scene: Scene,
  session: SessionId,
  effects: ShellEffects,
  look: () => Promise<Snapshot | undefined>,
): Promise<Verdict | undefined> {
  const { place: found } = scene;
  if (found === undefined) return undefined;
  const here = effects.gitCalls.filter(
    ({ cwd }) => discoverRepository(realPath(cwd ?? scene.cwd))?.commonDir === found.commonDir,
  );
  if (
    effects.paths.some(({ kind }) => kind === 'remove') ||
    here.some(({ verb }) => verb === 'worktree' || verb === 'clean')
  ) {
    const { refuseWorktreeRemoval, removedWorktrees } = await import('./worktree-refusal.ts');
    const removed = removedWorktrees({ ...effects, gitCalls: here }, found);
    const refusal = await refuseWorktreeRemoval(scene, session, found, removed);
    if (refusal !== undefined) return refusal;
  }
  if (here.some(({ verb }) => BRANCH_VERBS.has(verb))) {
    const { refuseBranchMoves } = await import('./branch-refusal.ts');
    const refusal = await refuseBranchMoves(scene, session, found, here);
    if (refusal !== undefined) return refusal;
  }
  if (!here.some(({ verb }) => verb === 'stash')) return undefined;
  const { refuseForeignStash } = await import('./stash-refusal.ts');
  return refuseForeignStash(scene, session, found, { ...effects, gitCalls: here }, look);
}

const BRANCH_VERBS = new Set(['branch', 'reset', 'switch', 'checkout', 'update-ref']);
