import { rmSync } from 'node:fs';
import type { HeadPlace } from '../domain/ledger/tree-status.ts';
import { CommitText } from './commits.ts';
import { readObjects } from './objects.ts';
import { headRef, type Ref, listRefs } from './refs.ts';
import { type BinaryText, runGit, askGit } from './run.ts';
import { randomName } from '../host/disk.ts';
import { copyIndex } from './private-index.ts';

/** Where HEAD is, and its commit, which is `undefined` on an unborn branch. */
export interface HeadState {
  readonly place: HeadPlace;
  readonly commit: CommitText | undefined;
}

/**
 * Reads HEAD and lists refs under some prefixes with their content: one process for both on a branch, two at once when HEAD
 * is detached.
 */
export async function readHeadAndRefs(
  cwd: string,
  gitDir: string,
  prefixes: readonly string[],
  timeoutMs: number,
): Promise<{ readonly head: HeadState; readonly refs: readonly Ref[] }> {
  const ref = headRef(gitDir);
  const options = { content: true, timeoutMs };
  if (ref !== 'HEAD') {
    const listed = await listRefs({ cwd }, [...prefixes, ref], options);
    // Missing when the branch is unborn.
    const tip = listed.find(({ name }) => name === ref);
    return { head: headState(ref, tip, tip?.content), refs: listed.filter((one) => one !== tip) };
  }
  const [refs, [object]] = await Promise.all([
    listRefs({ cwd }, prefixes, options),
    readObjects({ cwd, timeoutMs }, ['HEAD']),
  ]);
  return { head: headState(ref, object, object?.content.toString('latin1')), refs };
}

function headState(
  ref: string,
  tip: Pick<Ref, 'oid' | 'type'> | undefined,
  content: BinaryText = '',
): HeadState {
  const commit = tip?.type === 'commit' ? new CommitText(content) : undefined;
  return { place: { ref, oid: tip?.oid ?? null }, commit };
}

/**
 * Whether git would switch to a branch or commit and keep all uncommitted changes. Changes nothing.
 *
 * @param tree the folder, and the index file to judge by: in a hook of `git commit -a` it is not the worktree's own
 */
export async function canSwitch(
  { cwd, index }: { readonly cwd: string; readonly index: string },
  to: string,
  timeoutMs: number,
): Promise<boolean> {
  const args = ['read-tree', '-n', '-m', '-u', '--exclude-per-directory=.gitignore', 'HEAD', to];
  // read-tree locks even an index that it only reads, and `git commit -a` already holds that lock.
  const copy = `${index}.handoff-${randomName()}`;
  try {
    copyIndex(index, copy);
    const options = { cwd, timeoutMs, env: { GIT_INDEX_FILE: copy } };
    // git switches to no branch that another worktree has checked out.
    const elsewhere = await askGit(['for-each-ref', '--format=%(worktreepath)', to], options);
    if (elsewhere !== undefined && elsewhere !== '') return false;
    // An index that git wrote without looking at the files lacks their times: unless refreshed, it shows each as changed.
    await runGit(['update-index', '-q', '--refresh'], options);
    return (await runGit(args, options)).code === 0;
  } finally {
    rmSync(copy, { force: true });
  }
}
