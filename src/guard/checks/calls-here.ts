import { type FoundRepository, discoverRepository } from '../../git/discover.ts';
import { realPath } from '../../host/disk.ts';
import type { GitVerbCall, ShellEffects } from '../../shell/effects.ts';
import type { TreeCall } from '../call.ts';

/** Returns the git calls of a command that run in the call's worktree. */
export function callsInWorktree(call: TreeCall, { gitCalls }: ShellEffects): GitVerbCall[] {
  return gitCalls.filter((gitCall) => repositoryOf(call, gitCall)?.gitDir === call.tree.gitDir);
}

/** Returns the git calls that run in the call's repository, in any of its worktrees. */
export function callsInRepository(call: TreeCall, { gitCalls }: ShellEffects): GitVerbCall[] {
  return gitCalls.filter((gitCall) => repositoryOf(call, gitCall)?.commonDir === call.tree.commonDir);
}

/** Finds the repository of a git call. If the call's folder is unknown, the client's counts. */
function repositoryOf({ cwd }: TreeCall, gitCall: GitVerbCall): FoundRepository | undefined {
  return discoverRepository(realPath(gitCall.cwd ?? cwd));
}
