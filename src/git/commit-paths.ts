import type { StagedPath } from '../domain/ledger/mixing.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import { gitFailure, runGit } from './run.ts';
import { RAW_DIFF, parseRaw } from './staged.ts';

/** What one commit made of each path: `head` is what `from` has there, `index` what `to` has. */
export async function changedPaths(cwd: string, from: Oid | null, to: Oid): Promise<StagedPath[]> {
  const trees = from === null ? ['--root', '--no-commit-id', to] : [from, to];
  const result = await runGit(['diff-tree', '-r', ...RAW_DIFF, ...trees, '--'], { cwd });
  if (result.code !== 0) throw gitFailure('diff-tree', result);
  return parseRaw(result.stdout.toString('utf8'));
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
