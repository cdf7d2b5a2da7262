import { dirname } from 'node:path';
import { gitReads } from '../shell/read-only.ts';
import type { ShellEffects } from '../shell/effects.ts';
import { type FoundRepository, discoverRepository } from '../git/discover.ts';
import { linkedWorktrees } from '../git/worktrees.ts';
import { realPath } from '../host/disk.ts';

/** Verbs of git-handoff that change what the session has in a working tree, or leave something in its name. */
const OWN_WRITES = new Set(['ack', 'close', 'commit', 'import', 'rescue', 'stage', 'take', 'write']);

/**
 * The worktrees that a command may change, but for the one that it is called in: by the paths that it names, and by the
 * folders in which it runs git, or a program of which nothing is known. One that it only reads does not count.
 *
 * @param repositories common dirs of those of which a command may take a whole worktree away
 */
export function touchedTrees(
  { paths, gitCalls, handoffCalls, folders }: ShellEffects,
  own: FoundRepository | undefined,
  repositories: readonly string[],
): FoundRepository[] {
  const trees = new Map<string, FoundRepository>();
  const seen = new Set<string>();
  const add = (folder: string | undefined) => {
    if (folder === undefined || seen.has(folder)) return;
    seen.add(folder);
    const found = discoverRepository(realPath(folder));
    if (found !== undefined && found.gitDir !== own?.gitDir) trees.set(found.gitDir, found);
  };
  const removed: string[] = [];
  for (const { path, kind, follows } of paths) {
    const real = realPath(path, follows);
    if (kind === 'remove') removed.push(real);
    // What lies in a `.git` belongs to the working tree around it.
    add(dirname(real.replace(/\/\.git\/.*$/s, '/.git')));
  }
  for (const call of gitCalls) if (!gitReads(call)) add(call.cwd);
  for (const { cwd, verb } of handoffCalls) if (OWN_WRITES.has(verb)) add(cwd);
  for (const folder of folders) add(folder);
  if (removed.length > 0)
    for (const tree of worktreesOf(repositories, own)) if (isBelow(tree, removed)) add(tree);
  return [...trees.values()];
}

/** The main worktrees: one that is removed with all that is linked to it is found by them. */
function worktreesOf(repositories: readonly string[], own: FoundRepository | undefined): string[] {
  const others = repositories.filter((commonDir) => commonDir !== own?.commonDir);
  return others.flatMap((commonDir) => linkedWorktrees(commonDir).map(({ path }) => realPath(path)));
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => `${path}/`.startsWith(folder === '/' ? '/' : `${folder}/`));
}
