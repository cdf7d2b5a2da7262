import type { StagedPath } from '../domain/ledger/mixing.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import { type GitOptions, gitFailure, runGit } from './run.ts';
import { RAW_DIFF, parseRaw } from './staged.ts';

/** What one commit made of each path: `head` is what `from` has there, `index` what `to` has. */
export async function changedPaths(cwd: string, from: Oid | null, to: Oid): Promise<StagedPath[]> {
  const trees = from === null ? ['--root', '--no-commit-id', to] : [from, to];
  const result = await runGit(['diff-tree', '-r', ...RAW_DIFF, ...trees, '--'], { cwd });
  if (result.code !== 0) throw gitFailure('diff-tree', result);
  return parseRaw(result.stdout.toString('utf8'));
}

/** The paths that a commit's history has changed since it parted from another one's; none where they have nothing in common. */
export async function changedSince(options: GitOptions, other: Oid, commit: Oid): Promise<string[]> {
  const flags = ['-r', '-z', '--name-only', '--no-renames', '--merge-base'];
  const result = await runGit(['diff-tree', ...flags, other, commit, '--'], options);
  return result.code === 0 ? result.stdout.toString('utf8').split('\0').filter(Boolean) : [];
}

/** A commit's parents, first the one it was made on. */
export async function parentsOf(cwd: string, commit: Oid): Promise<Oid[]> {
  const result = await runGit(['rev-list', '--parents', '--max-count=1', commit, '--'], { cwd });
  if (result.code !== 0) throw gitFailure('rev-list', result);
  return result.stdout
    .toString('utf8')
    .trim()
    .split(' ')
    .slice(1)
    .flatMap((name) => parseOid(name) ?? []);
}

/** The commit that a name stands for; `undefined` when there is none. */
export async function commitNamed(cwd: string, name: string): Promise<Oid | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const result = await runGit(args, { cwd });
  return result.code === 0 ? parseOid(result.stdout.toString('utf8').trim()) : undefined;
}
