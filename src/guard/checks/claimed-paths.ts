import { join } from 'node:path';
import type { SessionId } from '../../domain/names.ts';
import { linkedWorktrees } from '../../git/worktrees.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { readAllLedgers } from '../../changes/ledger.ts';

/**
 * What a command that works through a folder (`find -delete`, `cp -r`) may hit of others, absolute: paths that other
 * sessions have claimed in any worktree, and linked worktrees by their `.git` file.
 */
export function othersPaths(commonDir: string, session: SessionId): string[] {
  const trees = linkedWorktrees(commonDir);
  const tops = new Map(trees.map(({ path, gitDir }) => [knownWorktreeId(gitDir), path]));
  const claimed = readAllLedgers(commonDir).flatMap(({ place, ledger }) => {
    const top = tops.get(place.worktreeId);
    if (top === undefined || ledger.session === session) return [];
    return [...ledger.claims.keys()].map((path) => join(top, path));
  });
  const linked = trees.filter(({ gitDir }) => gitDir !== commonDir).map(({ path }) => join(path, '.git'));
  return [...claimed, ...linked];
}
