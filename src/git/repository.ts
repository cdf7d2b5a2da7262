import { join, resolve } from 'node:path';
import { type BranchName, type Oid, type SessionId, parseBranchName, parseOid } from '../domain/names.ts';
import { Failure } from '../domain/messages.ts';
import { readText } from '../host/disk.ts';
import { commonDirOf, discoverRepository, readHead } from './discover.ts';
import { formatOf, hash } from './hash.ts';
import { type GitOptions, git, askGit, askForOid } from './run.ts';

/** An opened repository, in the words of gitrepository-layout(5). */
export interface Repository {
  /** The folder in which we were started, and in which git runs. */
  readonly cwd: string;
  /** Absolute; the worktree's own (`$GIT_DIR`). */
  readonly gitDir: string;
  /** Absolute; shared by all worktrees (`$GIT_COMMON_DIR`). */
  readonly commonDir: string;
  /** The branch that is checked out (even an unborn one) or being rebased; `HEAD` when detached. */
  readonly branch: BranchName;
}

/** A folder inside the repository, for functions that need nothing else. */
export type InRepository = Pick<Repository, 'cwd'>;

const DETACHED = 'HEAD' as BranchName;
/** Whether the environment (git(1)) moves the repository or limits the search: then only git can tell where it is. */
const isLocated = () =>
  ['GIT_DIR', 'GIT_COMMON_DIR', 'GIT_CEILING_DIRECTORIES'].some((name) => process.env[name] !== undefined);

/**
 * Opens the repository that `cwd` is in. Finds an ordinary repository without starting git; if git does not accept it
 * (safe.directory), git refuses the calls that follow.
 *
 * @throws Failure `environment` when there is none or git refuses it.
 */
export async function openRepository(cwd: string): Promise<Repository> {
  const found = isLocated() ? undefined : discoverRepository(cwd);
  const head = found === undefined ? undefined : readHead(found.gitDir);
  if (found === undefined || head === undefined) return askForRepository(cwd);
  return { cwd, gitDir: found.gitDir, commonDir: found.commonDir, branch: branchOf(head, found.gitDir) };
}

async function askForRepository(cwd: string): Promise<Repository> {
  // Asks for one folder only, because its name may contain a line feed.
  const gitDir = (await git(['rev-parse', '--absolute-git-dir'], { cwd })).replace(/\n$/, '');
  const named = process.env['GIT_COMMON_DIR'];
  const commonDir = named === undefined ? commonDirOf(gitDir) : resolve(cwd, named);
  const head = await askGit(['symbolic-ref', '-q', 'HEAD'], { cwd });
  return { cwd, gitDir, commonDir, branch: branchOf(head ?? 'HEAD', gitDir) };
}

/** The repository's object format, judging by the length of a known object name; without one we ask git. */
export async function objectFormat(
  repository: InRepository,
  ...known: readonly (Oid | undefined)[]
): Promise<'sha1' | 'sha256'> {
  const oid = known.find((one) => one !== undefined);
  if (oid !== undefined) return formatOf(oid);
  const format = (await git(['rev-parse', '--show-object-format'], { cwd: repository.cwd })).trim();
  return format === 'sha256' ? 'sha256' : 'sha1';
}

function branchOf(symbolic: string, gitDir: string): BranchName {
  const name = symbolic === 'HEAD' ? rebasedBranch(gitDir) : symbolic;
  if (name === undefined || !name.startsWith('refs/heads/')) return DETACHED;
  return parseBranchName(name.slice('refs/heads/'.length)) ?? DETACHED;
}

/** During a rebase `HEAD` is detached; git keeps the branch's name beside the rebase's state. */
function rebasedBranch(gitDir: string): string | undefined {
  const names = ['rebase-merge', 'rebase-apply'].map((state) => readText(join(gitDir, state, 'head-name')));
  return names.find((name) => name !== '')?.trim();
}

/** The commit that a branch (or `HEAD`) points at, `undefined` when there is no such branch or no commit yet. */
export async function branchTip(repository: InRepository, branch: BranchName): Promise<Oid | undefined> {
  const ref = branch === DETACHED ? 'HEAD' : `refs/heads/${branch}`;
  return askForOid(['rev-parse', '--verify', '--quiet', '--end-of-options', ref], { cwd: repository.cwd });
}

/** Top folder of the working tree; `undefined` in a bare repository. */
export async function topLevel(repository: Repository): Promise<string | undefined> {
  return askGit(['rev-parse', '--show-toplevel'], { cwd: repository.cwd });
}

/** The top folder, found without starting git, unless a variable says where the repository is. */
export async function workTreeTop(repository: Repository): Promise<string | undefined> {
  if (isLocated()) return topLevel(repository);
  return discoverRepository(repository.cwd)?.workTree;
}

/** The working tree compared with HEAD. */
export interface TreeState {
  /** The commit `HEAD` is at, `undefined` when the branch has none yet. */
  readonly head: Oid | undefined;
  readonly upstream: string | undefined;
  /** Count of paths that differ from `HEAD`, untracked ones included (folders count once). */
  readonly dirty: number;
  /** Those paths. */
  readonly paths: readonly string[];
  /** Staged renames, old to new. */
  readonly moved: ReadonlyMap<string, string>;
}

/** Reads the state in one process that takes no lock; `undefined` without a working tree. */
export async function readTreeState(options: GitOptions): Promise<TreeState | undefined> {
  const flags = ['--porcelain=v2', '--branch', '-z', '--no-ahead-behind', '--untracked-files=normal'];
  const output = await askGit(['status', ...flags, '--ignore-submodules=dirty'], options);
  if (output === undefined) return undefined;
  const paths: string[] = [];
  const moved = new Map<string, string>();
  let [head, upstream]: [Oid | undefined, string | undefined] = [undefined, undefined];
  let dirty = 0;
  const records = output.split('\0').values();
  for (const record of records) {
    if (record.startsWith('# branch.oid ')) head = parseOid(record.slice('# branch.oid '.length));
    if (record.startsWith('# branch.upstream ')) upstream = record.slice('# branch.upstream '.length);
    const fields = FIELDS.get(record.slice(0, 2));
    if (fields === undefined) continue;
    const path = record.split(' ').slice(fields).join(' ');
    dirty++;
    paths.push(path.replace(/\/$/, ''));
    if (!record.startsWith('2 ')) continue;
    // A rename's former path is a record of its own.
    const { value: old = '' } = records.next();
    paths.push(old);
    moved.set(old, path);
  }
  return { head, upstream, dirty, paths, moved };
}

/** The number of fields before the path in an entry of each kind (git-status(1), porcelain format version 2). */
const FIELDS = new Map([
  ['1 ', 8],
  ['2 ', 9],
  ['u ', 10],
  ['? ', 1],
]);

/** Reads what a handoff records of the working tree; a bare repository has only its `HEAD`. */
export async function workTreeFacts(cwd: string): Promise<Pick<TreeState, 'head' | 'upstream' | 'dirty'>> {
  const state = await readTreeState({ cwd });
  return state ?? { head: await branchTip({ cwd }, DETACHED), upstream: undefined, dirty: 0 };
}

/** Name and e-mail of the committer as git sees them; `email` is undefined when none is configured. */
export interface Committer {
  readonly name: string;
  readonly email: string | undefined;
}

/** Asks git who commits here (`GIT_COMMITTER_IDENT`, git-var(1)). */
export async function committer(cwd: string): Promise<Committer> {
  const line = (await askGit(['var', 'GIT_COMMITTER_IDENT'], { cwd })) ?? '';
  const [, name = '', email = ''] = /^(.*) <([^<>]*)> \d+ [+-]\d{4}$/.exec(line.trim()) ?? [];
  return { name: name.trim(), email: email.trim() || undefined };
}

/** Returns the id under which a person writes: a hash that hides the e-mail address. */
export function personOf({ email = '' }: Partial<Committer>): SessionId | undefined {
  const address = email.trim().toLowerCase();
  return address === '' ? undefined : (`person-${hash('sha256', address).slice(0, 12)}` as SessionId);
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
