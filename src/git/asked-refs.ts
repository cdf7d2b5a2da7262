import { type Oid, parseOid } from '../domain/names.ts';
import { readHead, readGitFile } from './discover.ts';
import { gitEnvironment } from './environment.ts';
import { timeLeft } from '../host/running-call.ts';
import { exactStatOf } from './stat.ts';

/*
 * Refs of a worktree that are read as files, and asked of git where they are none (reftable). Synchronous, for one
 * file is all that most repositories need.
 */

/** Where HEAD is: the full name of a branch (also unborn), or `HEAD` when detached or not to be told. */
export function headRef(gitDir: string): string {
  return readHead(gitDir) ?? askGit(gitDir, ['symbolic-ref', '-q', 'HEAD']) ?? 'HEAD';
}

/** The object that a ref such as `CHERRY_PICK_HEAD` names. */
export function pseudoRef(gitDir: string, name: string): Oid | undefined {
  const text = isReftable(gitDir)
    ? askGit(gitDir, ['rev-parse', '-q', '--verify', '--end-of-options', name])
    : readGitFile(`${gitDir}/${name}`).replace(/\n[^]*/, '');
  return parseOid(text ?? '');
}

/** Whether the refs of this `$GIT_DIR` are kept as tables. */
export function isReftable(gitDir: string): boolean {
  return exactStatOf(`${gitDir}/reftable`)?.isDirectory() === true;
}

function askGit(gitDir: string, args: readonly string[]): string | undefined {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const env = gitEnvironment(process.env);
  const options = { env, encoding: 'utf8', timeout: timeLeft() } as const;
  const done = spawnSync('git', ['--git-dir', gitDir, ...args], options);
  return done.status === 0 ? done.stdout.replace(/\n$/, '') : undefined;
}
