import { type BranchLogEntry, type DefaultBranch, chooseDefault } from '../domain/staleness.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import { readReflogs } from './log.ts';
import { type GitOptions, requireGit, git, askGit, records } from './run.ts';

interface ListedBranch {
  readonly oid: Oid;
  readonly worktree: string | undefined;
}

export interface Branches {
  readonly heads: ReadonlyMap<string, ListedBranch>;
  /** What `refs/remotes/origin/HEAD` points at. */
  readonly origin: string | undefined;
}

const HEADS = 'refs/heads/';
const ORIGIN_HEAD = 'refs/remotes/origin/HEAD';

/** Lists the branches; `with` adds where each branch is checked out. Empty when git fails. */
export async function listBranches(
  options: GitOptions,
  more?: { readonly with: 'worktrees' },
): Promise<Branches> {
  const place = more?.with === 'worktrees' ? '%(worktreepath)' : '';
  const format = `--format=%(refname)%00%(objectname)%00%(symref)%00${place}%00`;
  const text = await lines(['for-each-ref', format, '--', HEADS, ORIGIN_HEAD], options);
  const heads = new Map<string, ListedBranch>();
  let origin: string | undefined;
  for (const [name = '', value = '', symbolic = '', worktree = ''] of records(text, 4)) {
    const ref = name.replace(/^\n/, '');
    const oid = parseOid(value);
    if (ref === ORIGIN_HEAD) origin = symbolic === '' ? undefined : symbolic;
    else if (oid !== undefined) {
      heads.set(ref.slice(HEADS.length), { oid, worktree: worktree === '' ? undefined : worktree });
    }
  }
  return { heads, origin };
}

/** Finds the default branch: the remote's, else the configured one, else one with a usual name; `undefined`: none exists. */
export async function findDefaultBranch(
  options: GitOptions,
  { heads, origin }: Branches,
): Promise<DefaultBranch | undefined> {
  const has = (branch: string) => heads.has(branch);
  if (origin !== undefined) return chooseDefault({ origin, configured: undefined, has });
  const text = await lines(['config', '-z', '--get', 'init.defaultBranch'], options);
  return chooseDefault({ origin, configured: text.split('\0')[0], has });
}

/** Returns the branches whose tips the default branch contains, among them the default branch. */
export async function mergedBranches(
  options: GitOptions,
  { refs }: DefaultBranch,
): Promise<ReadonlySet<string>> {
  const into = refs.map((ref) => `--merged=${ref}`);
  const text = await lines(['for-each-ref', ...into, '--format=%(refname)', '--', HEADS], options);
  return new Set(text.split('\n').map((ref) => ref.slice(HEADS.length)));
}

/** A remote's branch, as of the last fetch. */
interface RemoteBranch {
  /** `origin/x` */
  readonly name: string;
  readonly oid: Oid;
}

/** Returns, for each of these branch names, a remote-tracking branch if there is one. */
export async function remoteBranches(
  options: GitOptions,
  names: readonly string[],
): Promise<ReadonlyMap<string, RemoteBranch>> {
  const patterns = names.map((name) => `refs/remotes/*/${name}`);
  const format = '--format=%(objectname) %(refname:strip=2)';
  const text = await lines(['for-each-ref', format, '--', ...patterns], options);
  const found = text.split('\n').flatMap((line): RemoteBranch[] => {
    const [, value = '', name = ''] = /^(\w+) (.*)$/.exec(line) ?? [];
    const oid = parseOid(value);
    return oid === undefined ? [] : [{ oid, name }];
  });
  return new Map(
    names.flatMap((name) => {
      const remote = found.find((one) => one.name.endsWith(`/${name}`));
      return remote === undefined ? [] : [[name, remote] as const];
    }),
  );
}

const MAX_MERGES = 1000;

/** Reads from the reflogs what moved each of these branches, the newest move first. */
export async function readBranchLogs(
  options: GitOptions,
  branches: readonly string[],
): Promise<ReadonlyMap<string, readonly BranchLogEntry[]>> {
  const refs = branches.map((name) => HEADS + name);
  const moves = new Map(branches.map((name) => [name, [] as BranchLogEntry[]]));
  for (const { ref, oid, message } of await readReflogs(options, refs))
    moves.get(ref.slice(HEADS.length))?.push({ to: oid, message });
  return moves;
}

/** Returns the commits that were merged into the default branch: all but the first parents of its latest merges. */
export async function mergedTips(options: GitOptions, { refs }: DefaultBranch): Promise<ReadonlySet<string>> {
  const args = ['rev-list', '--parents', '--first-parent', '--merges', `--max-count=${MAX_MERGES}`];
  const text = await lines([...args, ...refs, '--'], options);
  return new Set(text.split('\n').flatMap((line) => line.split(' ').slice(2)));
}

const LEFT = 'checkout: moving from ';

/** The branches that were checked out in this working tree, as far as HEAD's reflog goes back. */
export async function formerBranches(options: GitOptions): Promise<ReadonlySet<string>> {
  const moves = await readReflogs(options, ['HEAD'], LEFT);
  return new Set(moves.flatMap(({ message }) => message.slice(LEFT.length).split(' to ')));
}

const RENAMED = 'Branch: renamed refs/heads/';

/** Maps former names of branches to their new ones, from the reflogs; the latest rename of a name counts. */
export async function renamedBranches(options: GitOptions): Promise<ReadonlyMap<string, string>> {
  const renamed = new Map<string, string>();
  for (const { message } of await readReflogs(options, ['--branches'], RENAMED)) {
    if (!message.startsWith(RENAMED)) continue;
    const [old = '', next = ''] = message.slice(RENAMED.length).split(' to refs/heads/');
    if (!renamed.has(old)) renamed.set(old, next);
  }
  return renamed;
}

const lines = async (args: readonly string[], options: GitOptions): Promise<string> =>
  (await askGit(args, options)) ?? '';

/** How many commits of the default branch are searched for a squash merge. */
const MAX_COMMITS = 50;
/** Options that keep the user's settings from changing the text of a diff, or running a program for it. */
const PATCH = [
  ...['--patch', '--no-ext-diff', '--no-textconv', '--no-renames', '--full-index', '--binary', '--unified=3'],
  ...['--src-prefix=a/', '--dst-prefix=b/', '--diff-algorithm=myers', '--ignore-submodules=none'],
];

/**
 * Whether one commit of the default branch brought everything that `tip` has changed since it branched off: a squash
 * merge. Compares patch-ids (git-patch-id(1)), so it misses a merge where the same lines were changed meanwhile.
 */
export async function isSquashed(options: GitOptions, refs: readonly string[], tip: Oid): Promise<boolean> {
  const [ref = ''] = refs;
  const log = ['log', `--max-count=${MAX_COMMITS}`, '--no-merges', '--format=commit %H', '--no-notes'];
  try {
    const [whole, theirs] = await Promise.all([
      requireGit(['diff-tree', ...PATCH, '--merge-base', ref, tip, '--'], options),
      requireGit([...log, ...PATCH, ...refs, `^${tip}`, '--'], options),
    ]);
    const own = Buffer.from(`commit ${tip}\n\n`);
    const input = Buffer.concat([own, whole.stdout, Buffer.from('\n'), theirs.stdout]);
    const ids = await git(['patch-id', '--stable'], { ...options, input });
    const patches = new Map(ids.split('\n').map((line) => [line.split(' ')[1], line.split(' ')[0]]));
    const wanted = patches.get(tip);
    return wanted !== undefined && [...patches].some(([oid, id]) => oid !== tip && id === wanted);
  } catch {
    // git took too long, or the histories are unrelated.
    return false;
  }
}
