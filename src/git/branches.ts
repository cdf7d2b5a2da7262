import { type BranchLogEntry, type DefaultBranch, chooseDefault } from '../domain/staleness.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import { processAge } from '../host/io.ts';
import { records, runGit, gitFailure } from './run.ts';

interface ListedBranch {
  readonly oid: Oid;
  readonly worktree: string | undefined;
}

/** The local branches. */
export interface Branches {
  readonly heads: ReadonlyMap<string, ListedBranch>;
  /** What `refs/remotes/origin/HEAD` points at. */
  readonly origin: string | undefined;
}

/** The time limit of each git process, in milliseconds. */
export interface Limits {
  readonly timeoutMs: number;
}

const HEADS = 'refs/heads/';
const ORIGIN_HEAD = 'refs/remotes/origin/HEAD';

/** Lists the branches; `with` adds where each branch is checked out. Empty when git fails. */
export async function listBranches(
  cwd: string,
  { timeoutMs, with: more }: Limits & { readonly with?: 'worktrees' },
): Promise<Branches> {
  const place = more === 'worktrees' ? '%(worktreepath)' : '';
  const format = `--format=%(refname)%00%(objectname)%00%(symref)%00${place}%00`;
  return parseBranches(await lines(['for-each-ref', format, '--', HEADS, ORIGIN_HEAD], cwd, timeoutMs));
}

/** Parses `<name>NUL<oid>NUL<symref>NUL<worktree>NULLF` records of `refs/heads/` and `refs/remotes/origin/HEAD`. */
function parseBranches(text: string): Branches {
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

/** Finds the default branch; `undefined` when no branch has a name that a default branch could have. */
export async function findDefaultBranch(
  cwd: string,
  { heads, origin }: Branches,
  { timeoutMs }: Limits,
): Promise<DefaultBranch | undefined> {
  const has = (branch: string) => heads.has(branch);
  if (origin !== undefined) return chooseDefault({ origin, configured: undefined, has });
  const text = await lines(['config', '-z', '--get', 'init.defaultBranch'], cwd, timeoutMs);
  return chooseDefault({ origin, configured: text.split('\0')[0], has });
}

/** Returns the branches whose tips the default branch contains, itself included. */
export async function mergedBranches(
  cwd: string,
  { refs }: DefaultBranch,
  { timeoutMs }: Limits,
): Promise<ReadonlySet<string>> {
  const into = refs.map((ref) => `--merged=${ref}`);
  const text = await lines(['for-each-ref', ...into, '--format=%(refname)', '--', HEADS], cwd, timeoutMs);
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
  cwd: string,
  names: readonly string[],
  { timeoutMs }: Limits,
): Promise<ReadonlyMap<string, RemoteBranch>> {
  const patterns = names.map((name) => `refs/remotes/*/${name}`);
  const format = '--format=%(objectname) %(refname)';
  const text = await lines(['for-each-ref', format, '--', ...patterns], cwd, timeoutMs);
  const found = text.split('\n').flatMap((line): RemoteBranch[] => {
    const space = line.indexOf(' ');
    const oid = parseOid(line.slice(0, Math.max(space, 0)));
    return oid === undefined ? [] : [{ oid, name: line.slice(space + 1 + 'refs/remotes/'.length) }];
  });
  return new Map(
    names.flatMap((name) => {
      const remote = found.find((one) => one.name.endsWith(`/${name}`));
      return remote === undefined ? [] : [[name, remote] as const];
    }),
  );
}

/** The most reflog entries that one call reads. */
const MAX_MOVES = 2000;
/** The most merges of the default branch that are examined. */
const MAX_MERGES = 1000;

/** Reads from the reflogs what moved each of these branches, newest first. */
export async function readBranchLogs(
  cwd: string,
  branches: readonly string[],
  { timeoutMs }: Limits,
): Promise<ReadonlyMap<string, readonly BranchLogEntry[]>> {
  const args = ['log', '--walk-reflogs', `--max-count=${MAX_MOVES}`, '-z', '--format=%gD%x09%H%x09%gs'];
  const text = await lines([...args, ...branches.map((name) => HEADS + name), '--'], cwd, timeoutMs);
  const moves = new Map<string, BranchLogEntry[]>();
  for (const record of text.split('\0')) {
    const [selector = '', oid = '', ...message] = record.split('\t');
    const name = selector.slice(HEADS.length, selector.lastIndexOf('@{'));
    const to = parseOid(oid);
    if (to === undefined) continue;
    const move = { to, message: message.join('\t') };
    const known = moves.get(name);
    if (known === undefined) moves.set(name, [move]);
    else known.push(move);
  }
  return moves;
}

/** Returns the commits that were merged into the default branch: all but the first parents of its latest merges. */
export async function mergedTips(
  cwd: string,
  { refs }: DefaultBranch,
  { timeoutMs }: Limits,
): Promise<ReadonlySet<string>> {
  const args = ['rev-list', '--parents', '--first-parent', '--merges', `--max-count=${MAX_MERGES}`];
  const text = await lines([...args, ...refs, '--'], cwd, timeoutMs);
  return new Set(text.split('\n').flatMap((line) => line.split(' ').slice(2)));
}

const LEFT = 'checkout: moving from ';

/** The branches that were checked out in this working tree, as far as HEAD's reflog goes back. */
export async function formerBranches(cwd: string, { timeoutMs }: Limits): Promise<ReadonlySet<string>> {
  const search = ['--fixed-strings', `--grep-reflog=${LEFT}`, `--max-count=${MAX_MOVES}`];
  const text = await lines(
    ['log', '--walk-reflogs', ...search, '-z', '--format=%gs', 'HEAD', '--'],
    cwd,
    timeoutMs,
  );
  return new Set(text.split('\0').flatMap((message) => message.slice(LEFT.length).split(' to ')));
}

const RENAMED = 'Branch: renamed refs/heads/';

/** Maps former names of branches to their new ones, from the reflogs; the latest rename of a name counts. */
export async function renamedBranches(
  cwd: string,
  { timeoutMs }: Limits,
): Promise<ReadonlyMap<string, string>> {
  const search = ['--fixed-strings', `--grep-reflog=${RENAMED}`, `--max-count=${MAX_MOVES}`];
  const text = await lines(
    ['log', '--walk-reflogs', ...search, '-z', '--format=%gs', '--branches', '--'],
    cwd,
    timeoutMs,
  );
  const renamed = new Map<string, string>();
  for (const message of text.split('\0')) {
    if (!message.startsWith(RENAMED)) continue;
    const [old = '', next = ''] = message.slice(RENAMED.length).split(' to refs/heads/');
    if (!renamed.has(old)) renamed.set(old, next.trimEnd());
  }
  return renamed;
}

/** Returns what git prints; an empty text when git fails. */
async function lines(args: readonly string[], cwd: string, timeoutMs: number): Promise<string> {
  const result = await runGit(args, { cwd, timeoutMs });
  return result.code === 0 ? result.stdout.toString('utf8') : '';
}

/** The most commits of the default branch that are compared. */
const MAX_COMMITS = 50;
/** Options that fix everything that could change the text of a diff or run a program for it. */
const PATCH = [
  '--patch',
  '--no-ext-diff',
  '--no-textconv',
  '--no-renames',
  '--full-index',
  '--binary',
  '--unified=3',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--diff-algorithm=myers',
  '--ignore-submodules=none',
];

/**
 * Whether one commit of the default branch brought everything that `tip` has changed since it branched off: a squash
 * merge. It compares patch-ids (git-patch-id(1)), so it misses a merge where the same lines were changed meanwhile.
 */
export async function isSquashed(
  cwd: string,
  refs: readonly string[],
  tip: Oid,
  { timeoutMs }: Limits,
): Promise<boolean> {
  const end = processAge() + timeoutMs;
  const options = () => ({ cwd, timeoutMs: Math.max(1, Math.ceil(end - processAge())) });
  const [ref = ''] = refs;
  const log = ['log', `--max-count=${MAX_COMMITS}`, '--no-merges', '--format=commit %H', '--no-notes'];
  try {
    const [whole, theirs] = await Promise.all([
      runGit(['diff-tree', ...PATCH, '--merge-base', ref, tip, '--'], options()),
      runGit([...log, ...PATCH, ...refs, `^${tip}`, '--'], options()),
    ]);
    if (whole.code !== 0 || theirs.code !== 0 || whole.stdout.length === 0) return false;
    const input = Buffer.concat([
      Buffer.from(`commit ${tip}\n\n`),
      whole.stdout,
      Buffer.from('\n'),
      theirs.stdout,
    ]);
    const ids = await runGit(['patch-id', '--stable'], { ...options(), input });
    if (ids.code !== 0) throw gitFailure('patch-id', ids);
    const lines = ids.stdout.toString('utf8').trim().split('\n');
    const [own, ...others] = lines.map((line) => line.split(' ')[0]);
    return own !== undefined && others.includes(own);
  } catch {
    // Out of time, or unrelated histories.
    return false;
  }
}
