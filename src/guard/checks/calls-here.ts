import { type FoundRepository, discoverRepository } from '../../git/discover.ts';
import { realPath } from '../../host/disk.ts';
import type { GitVerbCall, ShellEffects } from '../../shell/effects.ts';
import type { TreeCall } from '../call.ts';

/** The git calls of a command that run in the worktree of a call. */
export function callsInWorktree(call: TreeCall, { gitCalls }: ShellEffects): GitVerbCall[] {
  return gitCalls.filter((gitCall) => repositoryOf(call, gitCall)?.gitDir === call.tree.gitDir);
}

/** Those that run in its repository, in whatever worktree. */
export function callsInRepository(call: TreeCall, { gitCalls }: ShellEffects): GitVerbCall[] {
  return gitCalls.filter((gitCall) => repositoryOf(call, gitCall)?.commonDir === call.tree.commonDir);
}

/** A folder that is not known counts as the client's. */
function repositoryOf({ cwd }: TreeCall, gitCall: GitVerbCall): FoundRepository | undefined {
  return discoverRepository(realPath(gitCall.cwd ?? cwd));
}
