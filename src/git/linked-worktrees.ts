import { readFileSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parseOid } from '../domain/names.ts';
import type { Branches } from './branches.ts';
import { readGitFile, readHead } from './discover.ts';
import type { Repository } from './repository.ts';
import type { ListedWorktree } from './worktrees.ts';

/**
 * The main worktree and the linked ones, told from their files (gitrepository-layout(5)) without starting git. A bare
 * repository has no main one.
 */
export function linkedWorktrees(commonDir: string): Pick<ListedWorktree, 'path' | 'gitDir'>[] {
  const main = basename(commonDir) === '.git' ? [{ path: dirname(commonDir), gitDir: commonDir }] : [];
  return [
    ...main,
    // Put together without `join`: of many worktrees it takes longer than reading them.
    ...namesIn(`${commonDir}/worktrees`).flatMap((name) => {
      const gitDir = `${commonDir}/worktrees/${name}`;
      const dotGit = textOf(`${gitDir}/gitdir`);
      if (dotGit === undefined) return [];
      const isPlain = dotGit.startsWith('/') && dotGit.endsWith('/.git');
      return [
        { path: isPlain ? dotGit.slice(0, -'/.git'.length) : dirname(resolve(gitDir, dotGit)), gitDir },
      ];
    }),
  ];
}

/**
 * What git-worktree(1) lists, without starting git; `undefined` if only git can tell: the main worktree is elsewhere, or HEAD
 * is not a plain file.
 */
export function knownWorktrees(
  { commonDir, gitDir }: Repository,
  { heads }: Branches,
): ListedWorktree[] | undefined {
  const all: ListedWorktree[] = [];
  for (const one of linkedWorktrees(commonDir)) {
    const ref = readHead(one.gitDir);
    if (ref === undefined) return undefined;
    const branch = ref === 'HEAD' ? undefined : ref.slice('refs/heads/'.length);
    const head =
      branch === undefined ? parseOid(readGitFile(`${one.gitDir}/HEAD`).trim()) : heads.get(branch)?.oid;
    // For linked worktrees git stores the real path.
    const path = one.gitDir === commonDir ? realpathSync(one.path) : one.path;
    all.push({ path, gitDir: one.gitDir, branch, head });
  }
  return all.some((one) => one.gitDir === gitDir) ? all : undefined;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').replace(/\n$/, '');
  } catch {
    return undefined;
  }
}
