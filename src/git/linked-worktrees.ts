import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { ListedWorktree } from './worktrees.ts';

/**
 * The main worktree and the linked ones, told from their files (gitrepository-layout(5)) without starting git. A bare
 * repository has no main one.
 */
export function linkedWorktrees(commonDir: string): Pick<ListedWorktree, 'path' | 'gitDir'>[] {
  const main = basename(commonDir) === '.git' ? [{ path: dirname(commonDir), gitDir: commonDir }] : [];
  return [
    ...main,
    ...namesIn(join(commonDir, 'worktrees')).flatMap((name) => {
      const gitDir = join(commonDir, 'worktrees', name);
      const dotGit = textOf(join(gitDir, 'gitdir'));
      return dotGit === undefined ? [] : [{ path: dirname(resolve(gitDir, dotGit)), gitDir }];
    }),
  ];
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
