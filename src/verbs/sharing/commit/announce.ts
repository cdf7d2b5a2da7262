import { readEntries } from '../../../git/private-index.ts';
import { type GitResult, runGit } from '../../../git/run.ts';
import { stagedPaths } from '../../../git/staged.ts';
import { userGit } from '../../../git/user-git.ts';
import { whileLocked } from '../../../git/index-lock.ts';
import type { CommitScene } from './scene.ts';

/** Paths that no index entry announces: `--only` takes what git knows. */
export async function newPaths(scene: CommitScene, whole: readonly string[]): Promise<string[]> {
  const { tree, snapshot } = scene.work;
  const candidates = whole.filter((path) => {
    const dirty = snapshot.dirty.get(path);
    return dirty?.index === null && dirty.disk !== null;
  });
  if (candidates.length === 0) return [];
  const known = await readEntries(tree.top, candidates);
  return candidates.filter((path) => known.get(path) === null);
}

export async function announce(top: string, paths: readonly string[]): Promise<GitResult> {
  if (paths.length === 0) return { code: 0, stdout: Buffer.alloc(0), stderr: '' };
  const args = [
    '--literal-pathspecs',
    'add',
    '--intent-to-add',
    '--pathspec-from-file=-',
    '--pathspec-file-nul',
  ];
  const input = paths.map((path) => `${path}\0`).join('');
  return whileLocked(() => userGit(args, { cwd: top, input, show: 'quiet' }));
}

/** Takes announced paths out again; one that somebody has staged meanwhile stays. */
export async function withdraw(top: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const staged = new Set((await stagedPaths(top)).map(({ path }) => path));
  const input = paths
    .filter((path) => !staged.has(path))
    .map((path) => `${path}\0`)
    .join('');
  const args = ['update-index', '--force-remove', '-z', '--stdin'];
  await whileLocked(() => runGit(args, { cwd: top, input }));
}
