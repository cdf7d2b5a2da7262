import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BranchName, type Oid, parseBranchName, parseOid } from '../domain/names.ts';
import { Failure } from '../domain/failure.ts';
import { discoverRepository, readHead } from './discover.ts';
import { formatOf } from './hash.ts';
import { type GitOptions, git, gitFailure, runGit } from './run.ts';

/** An opened repository, in the words of gitrepository-layout(5). */
export interface Repository {
  /** Where git commands run; the folder the command was started in. */
  readonly cwd: string;
  /** Absolute; the worktree's own (`$GIT_DIR`). */
  readonly gitDir: string;
  /** Absolute; shared by all worktrees (`$GIT_COMMON_DIR`). */
  readonly commonDir: string;
  /** The branch `HEAD` is on, also an unborn one; the branch being rebased; `HEAD` when detached. */
  readonly branch: BranchName;
}

/** Any place inside the repository, for calls that need nothing else of it. */
export type InRepository = Pick<Repository, 'cwd'>;

const DETACHED = 'HEAD' as BranchName;
/** With any of these set, only git can tell where the repository is (git(1)). */
const LOCATING = ['GIT_DIR', 'GIT_COMMON_DIR', 'GIT_CEILING_DIRECTORIES'];

/**
 * Opens the repository that `cwd` is in. Finds an ordinary repository without starting git; if git does not accept it
 * (safe.directory), git refuses the calls that follow.
 *
 * @throws Failure `environment` when there is none or git refuses it.
 */
export async function openRepository(cwd: string): Promise<Repository> {
  const found = LOCATING.some((name) => process.env[name] !== undefined)
    ? undefined
    : discoverRepository(cwd);
  const head = found === undefined ? undefined : readHead(found.gitDir);
  if (found === undefined || head === undefined) return askForRepository(cwd);
  return { cwd, gitDir: found.gitDir, commonDir: found.commonDir, branch: branchOf(head, found.gitDir) };
}

async function askForRepository(cwd: string): Promise<Repository> {
  const result = await runGit(['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir'], {
    cwd,
  });
  if (result.code !== 0) throw gitFailure('rev-parse', result);
  const lines = result.stdout.toString('utf8').replace(/\n$/, '').split('\n');
  const { gitDir, commonDir } = await folders(lines, { cwd });
  const head = await runGit(['symbolic-ref', '-q', 'HEAD'], { cwd });
  const name = head.code === 0 ? head.stdout.toString('utf8').replace(/\n$/, '') : 'HEAD';
  return { cwd, gitDir, commonDir, branch: branchOf(name, gitDir) };
}

/** The repository's object format: from the width of any known object name, else from git. */
export async function objectFormat(
  repository: InRepository,
  ...known: readonly (Oid | undefined)[]
): Promise<'sha1' | 'sha256'> {
  const oid = known.find((one) => one !== undefined);
  if (oid !== undefined) return formatOf(oid);
  const format = (await git(['rev-parse', '--show-object-format'], { cwd: repository.cwd })).trim();
  return format === 'sha256' ? 'sha256' : 'sha1';
}

/** Splits git's answer into two paths. A folder name may contain a line feed: then it asks git for each path by itself. */
async function folders(lines: string[], options: GitOptions): Promise<{ gitDir: string; commonDir: string }> {
  const [gitDir, commonDir] = lines;
  if (lines.length === 2 && gitDir !== undefined && commonDir !== undefined) return { gitDir, commonDir };
  const one = async (flag: string) =>
    (await git(['rev-parse', '--path-format=absolute', flag], options)).replace(/\n$/, '');
  return { gitDir: await one('--git-dir'), commonDir: await one('--git-common-dir') };
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

/** The commit that a branch (or `HEAD`) points at, `undefined` when there is no such branch or no commit yet. */
export async function branchTip(repository: InRepository, branch: BranchName): Promise<Oid | undefined> {
  const ref = branch === DETACHED ? 'HEAD' : `refs/heads/${branch}`;
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

/** The top folder, found without starting git, unless a variable says where the repository is. */
export async function workTreeTop(repository: Repository): Promise<string | undefined> {
  if (LOCATING.some((name) => process.env[name] !== undefined)) return topLevel(repository);
  return discoverRepository(repository.cwd)?.workTree;
}

/** Facts of the working tree that a handoff records. */
interface WorkTreeFacts {
  /** The commit `HEAD` is at, `undefined` when the branch has none yet. */
  readonly head: Oid | undefined;
  readonly upstream: string | undefined;
  /** Count of paths that differ from `HEAD`, untracked ones included (folders count once). */
  readonly dirty: number;
}

/** Reads these facts in one process; a bare repository has only its `HEAD`. */
export async function workTreeFacts(cwd: string): Promise<WorkTreeFacts> {
  const how = ['--porcelain=v2', '--branch', '-z', '--untracked-files=normal', '--ignore-submodules=dirty'];
  const result = await runGit(['status', ...how], { cwd });
  if (result.code !== 0) return { head: await branchTip({ cwd }, DETACHED), upstream: undefined, dirty: 0 };
  let head: Oid | undefined;
  let upstream: string | undefined;
  let dirty = 0;
  const entries = result.stdout.toString('utf8').split('\0');
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at] ?? '';
    if (entry.startsWith('# branch.oid ')) head = parseOid(entry.slice('# branch.oid '.length));
    else if (entry.startsWith('# branch.upstream ')) upstream = entry.slice('# branch.upstream '.length);
    else if (/^[12u?] /.test(entry)) dirty++;
    if (entry.startsWith('2 ')) at++; // A rename's former path is an entry of its own.
  }
  return { head, upstream, dirty };
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

/** Fails, with a hint, when git is older than the version that we need. */
export function requireVersion(text: string): void {
  const match = /(?<!\d)(\d+)\.(\d+)/.exec(text);
  const [major, minor] = [Number(match?.[1]), Number(match?.[2])];
  if (major > 2 || (major === 2 && minor >= 39)) return;
  throw new Failure('environment', `git 2.39 or later is needed, this is ${text.trim()}`, {
    hint: 'upgrade git',
  });
}
