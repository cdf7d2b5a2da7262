import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { escapeLine, Failure, listed, shellWord } from '../domain/messages.ts';
import { type Oid, shortOid } from '../domain/names.ts';
import { readText, realPath } from '../host/disk.ts';
import { tryTree } from '../host/folders.ts';
import { copyIndex } from './scratch.ts';
import { discoverRepository } from './discover.ts';
import { indexEntries } from './staged.ts';
import { connecting } from './environment.ts';
import { type GitOptions, runGit, git } from './run.ts';

/** git settings that make a checkout write every file that differs, and no other. */
const WHOLE = ['core.sparseCheckout=false', 'core.trustctime=true', 'core.checkStat=default'].flatMap(
  (setting) => ['-c', setting],
);

/**
 * Makes the worktree hold exactly this tree, with HEAD at this commit: writes only files that differ, and removes all that are
 * not in the tree, even ignored ones. Folders of submodules are empty. The caller holds the lock of `try`.
 *
 * @param cwd the working tree whose settings count
 * @throws Failure `environment` for a full disk, or a file there that cannot be removed
 */
export async function prepareTryTree(
  cwd: string,
  commonDir: string,
  { head, tree }: { readonly head: Oid; readonly tree: Oid },
): Promise<{ readonly top: string; readonly submodules: readonly string[] }> {
  const top = tryTree(commonDir);
  const gitDir = (await healthyGitDir(top, commonDir)) ?? (await addWorktree(cwd, top, commonDir, head));
  // An index of our own: the command may have done anything with the worktree's.
  const index = join(gitDir, 'handoff-index');
  for (const file of [`${index}.lock`, join(gitDir, 'index.lock'), join(gitDir, 'HEAD.lock')])
    rmSync(file, { force: true });
  const options = {
    cwd: top,
    env: { ...connecting(false), GIT_DIR: gitDir, GIT_WORK_TREE: top, GIT_INDEX_FILE: index },
  };
  await git(['update-ref', '--no-deref', 'HEAD', head], options);
  await git([...WHOLE, 'read-tree', '--reset', '-u', tree], options);
  await clean(top, options);
  // We may be able to replace another user's index, but not to write to it.
  rmSync(join(gitDir, 'index'), { force: true });
  copyIndex(index, join(gitDir, 'index'));
  const entries = await indexEntries(options, '--stage');
  const links = entries.flatMap(({ path, state }) => (state?.mode === '160000' ? [path] : []));
  for (const path of links)
    for (const name of readdirSync(join(top, path)))
      rmSync(join(top, path, name), { recursive: true, force: true });
  return { top, submodules: links };
}

/** The git dir of the worktree, if both point at each other: in a clone that was copied or moved, they do not. */
async function healthyGitDir(top: string, commonDir: string): Promise<string | undefined> {
  const found = discoverRepository(top);
  if (found?.workTree !== top || realPath(found.commonDir) !== realPath(commonDir)) return undefined;
  const back = readText(join(found.gitDir, 'gitdir')).replace(/\n$/, '');
  return realPath(back) === realPath(join(top, '.git')) ? found.gitDir : undefined;
}

async function addWorktree(cwd: string, top: string, commonDir: string, head: Oid): Promise<string> {
  rmSync(top, { recursive: true, force: true });
  // Twice `--force`: git may still know a worktree that was here.
  await git(['worktree', 'add', '--force', '--force', '--detach', '--no-checkout', '--', top, head], { cwd });
  const gitDir = await healthyGitDir(top, commonDir);
  if (gitDir !== undefined) return gitDir;
  throw new Failure('internal', `git made no worktree of ${escapeLine(top)} at ${shortOid(head)}`);
}

async function clean(top: string, options: GitOptions): Promise<void> {
  const result = await runGit(['clean', '-ffdxq'], options);
  if (result.code === 0) return;
  const [first = ''] = result.stderr.trim().split('\n');
  throw new Failure('environment', `cannot remove what an earlier run left: ${escapeLine(first)}`, {
    hint: `chmod -R u+rwX ${shellWord(top)}`,
  });
}

/** Says that submodules are not there. */
export const submodulesNotice = (paths: readonly string[]): string =>
  `submodules are empty in the tried tree: ${listed(paths.map(escapeLine))}`;
