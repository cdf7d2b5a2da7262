import { type FoundRepository, discoverRepository } from '../../../git/discover.ts';
import { realPath } from '../../../host/disk.ts';
import type { GitVerbCall, ShellEffects } from '../../../shell/effects.ts';
import type { TreeReach } from '../../../shell/tree-reach.ts';
import type { TreeCall } from '../../call.ts';
import { reachAt } from '../../checks/reach.ts';
import { removedWorktrees } from '../../checks/worktree-removal.ts';

/** A worktree whose uncommitted work a command may destroy. */
export interface Danger {
  readonly found: FoundRepository;
  readonly command: string;
  /** It removes what git ignores, too. */
  readonly ignored?: TreeReach | undefined;
}

/** The worktrees of this repository that a command may destroy something in, each with the part that does. */
export function dangers(call: TreeCall, effects: ShellEffects): Danger[] {
  const { commonDir } = call.tree;
  const trees = new Map<string, Danger>();
  for (const gitCall of effects.gitCalls) {
    const cwd = gitCall.cwd ?? call.cwd;
    const reach = reachAt(gitCall, cwd, call);
    if (!loses(reach)) continue;
    const found = discoverRepository(realPath(cwd));
    if (found?.commonDir !== commonDir || trees.has(found.gitDir)) continue;
    const ignored = reach?.ignored === false ? undefined : reach;
    trees.set(found.gitDir, { found, command: commandOf(gitCall), ignored });
  }
  for (const { top, gitDir, by } of removedWorktrees(effects, call.tree)) {
    if (trees.has(gitDir)) continue;
    trees.set(gitDir, { found: { workTree: top, gitDir, commonDir }, command: by });
  }
  return [...trees.values()];
}

/** A switch or a stash of named files takes nothing that does not come back. */
function loses(reach: TreeReach | undefined): boolean {
  if (reach === undefined) return false;
  return reach.does === 'destroy' || reach.paths === undefined || reach.unsure;
}

const MAX_COMMAND = 60;

function commandOf({ verb, words }: GitVerbCall): string {
  const text = ['git', verb, ...words.map((word) => word ?? '…')].join(' ');
  return text.length > MAX_COMMAND ? `${text.slice(0, MAX_COMMAND)}…` : text;
}
