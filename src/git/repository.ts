import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BranchName, type Oid, parseBranchName, parseOid } from '../domain/names.ts';
import { Failure } from '../domain/failure.ts';
import { type GitOptions, git, gitFailure, runGit } from './run.ts';

/** What `HEAD` stands for. A branch that has no commit yet (unborn) has no `oid`. */
export interface Head {
  /** The branch, the branch being rebased, or `HEAD` when detached. */
  readonly branch: BranchName;
  readonly oid: Oid | undefined;
}

/** One opened repository: gitrepository-layout(5) words. */
export interface Repository {
  /** Where git commands run; the folder the command was started in. */
  readonly cwd: string;
  /** Absolute; the worktree's own (`$GIT_DIR`). */
  readonly gitDir: string;
  /** Absolute; shared by all worktrees (`$GIT_COMMON_DIR`). */
  readonly commonDir: string;
  readonly bare: boolean;
  readonly insideWorkTree: boolean;
  readonly objectFormat: 'sha1' | 'sha256';
  readonly head: Head;
}

/** Any place inside the repository, for calls that need nothing else of it. */
export type InRepository = Pick<Repository, 'cwd'>;

const DETACHED = 'HEAD' as BranchName;

/**
 * Opens the repository that `cwd` lies in, in one git process (two when `HEAD` is unborn).
 *
 * @throws Failure `environment` when there is none or git refuses it.
 */
export async function openRepository(cwd: string): Promise<Repository> {
  const result = await runGit(
    [
      'rev-parse',
      '--path-format=absolute',
      '--git-dir',
      '--git-common-dir',
      '--show-object-format',
      '--is-bare-repository',
      '--is-inside-work-tree',
      'HEAD',
      '--symbolic-full-name',
      'HEAD',
    ],
    { cwd },
  );
  const lines = result.stdout.toString('utf8').split('\n');
  const formatAt = lines.findIndex((line, at) => at >= 2 && (line === 'sha1' || line === 'sha256'));
  if (formatAt < 0) throw gitFailure('rev-parse', result);
  const { gitDir, commonDir } = await folders(lines.slice(0, formatAt), { cwd });
  const oid = parseOid(lines[formatAt + 3] ?? '');
  const symbolic = oid === undefined ? await unbornHead({ cwd }) : (lines[formatAt + 4] ?? 'HEAD');
  return {
    cwd,
    gitDir,
    commonDir,
    bare: lines[formatAt + 1] === 'true',
    insideWorkTree: lines[formatAt + 2] === 'true',
    objectFormat: lines[formatAt] as Repository['objectFormat'],
    head: { branch: branchOf(symbolic, gitDir), oid },
  };
}

/** A folder name may hold a line feed; then the two paths are asked for one by one. */
async function folders(lines: string[], options: GitOptions): Promise<{ gitDir: string; commonDir: string }> {
  const [gitDir, commonDir] = lines;
  if (lines.length === 2 && gitDir !== undefined && commonDir !== undefined) return { gitDir, commonDir };
  const one = async (flag: string) =>
    (await git(['rev-parse', '--path-format=absolute', flag], options)).replace(/\n$/, '');
  return { gitDir: await one('--git-dir'), commonDir: await one('--git-common-dir') };
}

async function unbornHead(options: GitOptions): Promise<string> {
  const result = await runGit(['symbolic-ref', '-q', 'HEAD'], options);
  return result.code === 0 ? result.stdout.toString('utf8').replace(/\n$/, '') : 'HEAD';
}

function branchOf(symbolic: string, gitDir: string): BranchName {
  const name = symbolic === 'HEAD' ? rebasedBranch(gitDir) : symbolic;
  if (name === undefined || !name.startsWith('refs/heads/')) return DETACHED;
  return parseBranchName(name.slice('refs/heads/'.length)) ?? DETACHED;
}

/** During a rebase `HEAD` is detached; git keeps the branch's name beside the rebase's state. */
function rebasedBranch(gitDir: string): string | undefined {
  for (const state of ['rebase-merge', 'rebase-apply']) {
    try {
      return readFileSync(join(gitDir, state, 'head-name'), 'utf8').trim();
    } catch {
      // Not in that state.
    }
  }
  return undefined;
}

/** The tip of a branch, `undefined` when there is no such branch. */
export async function branchTip(repository: Repository, branch: BranchName): Promise<Oid | undefined> {
  const ref = `refs/heads/${branch}`;
  const result = await runGit(['rev-parse', '--verify', '--quiet', '--end-of-options', ref], {
    cwd: repository.cwd,
  });
  return result.code === 0 ? parseOid(result.stdout.toString('utf8').trim()) : undefined;
}

/** Top folder of the working tree; `undefined` in a bare repository. */
export async function topLevel(repository: Repository): Promise<string | undefined> {
  const result = await runGit(['rev-parse', '--show-toplevel'], { cwd: repository.cwd });
  return result.code === 0 ? result.stdout.toString('utf8').replace(/\n$/, '') : undefined;
}

/** Facts of the working tree that a handoff records. */
export interface WorkTreeFacts {
  readonly upstream: string | undefined;
  /** Count of paths that differ from `HEAD`, untracked ones included (folders count once). */
  readonly dirty: number;
}

/** Reads upstream and dirty count; a bare repository, or one git cannot read the tree of, has none. */
export async function workTreeFacts(cwd: string): Promise<WorkTreeFacts> {
  const result = await runGit(
    ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=normal', '--ignore-submodules=dirty'],
    { cwd },
  );
  if (result.code !== 0) return { upstream: undefined, dirty: 0 };
  let upstream: string | undefined;
  let dirty = 0;
  const entries = result.stdout.toString('utf8').split('\0');
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at] ?? '';
    if (entry.startsWith('# branch.upstream ')) upstream = entry.slice('# branch.upstream '.length);
    else if (/^[12u?] /.test(entry)) dirty++;
    if (entry.startsWith('2 ')) at++; // A rename's former path is an entry of its own.
  }
  return { upstream, dirty };
}

/** Name and e-mail of the committer as git sees them; `email` is undefined when none is configured. */
export interface Committer {
  readonly name: string;
  readonly email: string | undefined;
}

/** Asks git who commits here (`GIT_COMMITTER_IDENT`, git-var(1)). */
export async function committer(cwd: string): Promise<Committer> {
  const result = await runGit(['var', 'GIT_COMMITTER_IDENT'], { cwd });
  const match = /^(.*) <([^<>]*)> \d+ [+-]\d{4}$/.exec(result.stdout.toString('utf8').trim());
  if (result.code !== 0 || match === null) return { name: '', email: undefined };
  const email = (match[2] ?? '').trim();
  return { name: (match[1] ?? '').trim(), email: email === '' ? undefined : email };
}

/** Fails with the way out when git is older than what the store relies on. */
export function requireVersion(text: string): void {
  const match = /(\d+)\.(\d+)/.exec(text);
  const [major, minor] = [Number(match?.[1]), Number(match?.[2])];
  if (major > 2 || (major === 2 && minor >= 39)) return;
  throw new Failure('environment', `git 2.39 or later is needed, this is ${text.trim()}`, {
    hint: 'upgrade git',
  });
}
