import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Oid, isZeroOid, parseOid } from '../domain/names.ts';
import { type GitOptions, gitFailure, runGit } from './run.ts';

/** A worktree of the repository, as git-worktree(1) lists it. */
export interface ListedWorktree {
  readonly path: string;
  /** Its `$GIT_DIR`. */
  readonly gitDir: string;
  /** The branch checked out there, `undefined` when detached or bare. */
  readonly branch: string | undefined;
  /** The commit that HEAD is at; `undefined` on an unborn branch. */
  readonly head: Oid | undefined;
}

/** Lists the main worktree and the linked ones. */
export async function listWorktrees(options: GitOptions): Promise<ListedWorktree[]> {
  const result = await runGit(['worktree', 'list', '--porcelain', '-z'], options);
  if (result.code !== 0) throw gitFailure('worktree', result);
  return result.stdout
    .toString('utf8')
    .split('\0\0')
    .flatMap((block) => {
      const lines = block.split('\0').filter((line) => line !== '');
      const path = lines.find((line) => line.startsWith('worktree '))?.slice('worktree '.length);
      const branch = lines.find((line) => line.startsWith('branch refs/heads/'));
      const head = parseOid(lines.find((line) => line.startsWith('HEAD '))?.slice('HEAD '.length) ?? '');
      if (path === undefined) return [];
      return [
        {
          path,
          gitDir: gitDirOf(path),
          branch: branch?.slice('branch refs/heads/'.length),
          head: head === undefined || isZeroOid(head) ? undefined : head,
        },
      ];
    });
}

/** `.git` is a folder in the main worktree, a file that names the folder in a linked one, absent in a bare repository. */
function gitDirOf(worktree: string): string {
  const dotGit = join(worktree, '.git');
  const stat = statSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) return worktree;
  if (stat.isDirectory()) return dotGit;
  const text = readFileSync(dotGit, 'utf8');
  return resolve(worktree, /^gitdir: (.*?)\n?$/s.exec(text)?.[1] ?? dotGit);
}

/**
 * The main worktree and the linked ones, read from their files (gitrepository-layout(5)) without starting git. A bare
 * repository has no main one.
 */
export function linkedWorktrees(commonDir: string): Pick<ListedWorktree, 'path' | 'gitDir'>[] {
  const main = basename(commonDir) === '.git' ? [{ path: dirname(commonDir), gitDir: commonDir }] : [];
  return [
    ...main,
    // Built without `join`, which for many worktrees takes longer than reading their files.
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
