import { Failure } from '../domain/messages.ts';
import { type Oid, isZeroOid, parseOid, type SessionId } from '../domain/names.ts';
import {
  type GitResult,
  type GitOptions,
  runGit,
  git,
  gitFailure,
  oidsIn,
  records,
  inBatches,
} from './run.ts';
import { type RelatedSessions, mixedSessions } from '../domain/commit-message.ts';
import { CommitText, readListed, withoutLarge } from './commits.ts';
import { historyOf, isShallow, listHistories } from './histories.ts';
import { type ReadObject, lookUpObjects, readObjects } from './objects.ts';
import { CHANGES, parseChanges } from './staged.ts';
import { listRefNames } from './refs.ts';

/** A ref that a push would move, as git describes it to pre-push (githooks(5)). */
export interface PushedRef {
  readonly localRef: string;
  /** `undefined`: the ref is deleted. */
  readonly local: Oid | undefined;
  readonly remoteRef: string;
  /** `undefined`: the remote does not have the ref yet. */
  readonly remote: Oid | undefined;
}

/** Reads `<local ref> <local oid> <remote ref> <remote oid>` lines. */
export function parsePushedRefs(text: string): PushedRef[] {
  return text.split('\n').flatMap((line) => {
    const [localRef = '', local = '', remoteRef = '', remote = ''] = line.split(' ');
    const [next, old] = [parseOid(local), parseOid(remote)];
    if (next === undefined || old === undefined || remoteRef === '') return [];
    return [{ localRef, local: existing(next), remoteRef, remote: existing(old) }];
  });
}

/**
 * Reads `<old oid> <new oid> <ref>` lines, as git passes them to pre-receive (githooks(5)). A server decides by these lines, so
 * an unreadable line is an error.
 *
 * @throws Failure `usage` when a line cannot be read, or there is none
 */
export function parseReceivedRefs(text: string): PushedRef[] {
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.length === 0) throw notReceived('nothing');
  return lines.map((line) => {
    const [old = '', next = '', ...name] = line.split(' ');
    return receivedRef(name.join(' '), old, next);
  });
}

/**
 * Parses the arguments of git's update hook: one ref that a push would move on a server.
 *
 * @throws Failure `usage` when the arguments are no such ref
 */
export function receivedRef(ref: string, oldText: string, nextText: string): PushedRef {
  const [old, next] = [parseOid(oldText), parseOid(nextText)];
  // eslint-disable-next-line no-control-regex -- a ref has no control characters (git-check-ref-format(1))
  if (old === undefined || next === undefined || !/^refs\/[^\u0000-\u0020\u007f]+$/.test(ref)) {
    throw notReceived(JSON.stringify([oldText, nextText, ref].join(' ').slice(0, 200)));
  }
  return { localRef: ref, local: existing(next), remoteRef: ref, remote: existing(old) };
}

function notReceived(what: string): Failure {
  return new Failure('usage', `expected lines "<old> <new> <ref>" as for pre-receive, got ${what}`, {
    hint: 'git help githooks',
  });
}

const existing = (oid: Oid): Oid | undefined => (isZeroOid(oid) ? undefined : oid);

/** A commit that leaves the machine for the first time and names a session. */
export interface PushedCommit {
  readonly oid: Oid;
  readonly parents: readonly Oid[];
  readonly summary: string;
  readonly message: string;
}

/**
 * Finds the commits that name a session and are new to a remote, newest first: neither its remote-tracking refs nor the present
 * values of the pushed refs contain them. `remote..local` would count a rebased branch's new base as new.
 *
 * @param remote the remote's name; `undefined` for an address: it has no remote-tracking refs, so those of all remotes count
 */
export async function newCommits(
  options: GitOptions,
  remote: string | undefined,
  refs: readonly PushedRef[],
): Promise<PushedCommit[]> {
  const tips = refs.flatMap(({ local }) => local ?? []);
  if (tips.length === 0) return [];
  const known = refs.flatMap(({ remote: there }) => (there === undefined ? [] : [`^${there}`]));
  const pushed = remote === undefined ? '--remotes' : `--remotes=${remote}`;
  // The remote may have commits that this clone lacks: git ignores their names.
  const named = ['--regexp-ignore-case', '--fixed-strings', '--grep=Claude-Session-Id'];
  const args = ['log', '--ignore-missing', ...named, ...WHOLE, '--stdin', '--not', pushed];
  return parseCommits(await git(args, { ...options, input: [...tips, ...known] }));
}

/** Options of git-log(1) for `parseCommits`. */
const WHOLE = ['-z', '--encoding=UTF-8', '--no-show-signature', '--no-notes', '--format=%H %P%x00%B'];

function parseCommits(output: string): PushedCommit[] {
  return records(output, 2).flatMap(([names = '', message = '']) => {
    const [oid, ...parents] = names.split(' ').flatMap((name) => parseOid(name.trim()) ?? []);
    const summary = message.trimStart().split('\n')[0] ?? '';
    return oid === undefined ? [] : [{ oid, parents, summary, message }];
  });
}

const HEADS = 'refs/heads/';

/** Whether a push may take commits off a branch at the remote: nothing pushed contains its tip, or its tip was never fetched. */
export async function isDropping(options: GitOptions, refs: readonly PushedRef[]): Promise<boolean> {
  const old = refs.flatMap(({ remoteRef, remote }) =>
    remoteRef.startsWith(HEADS) && remote !== undefined ? [remote] : [],
  );
  if (old.length === 0) return false;
  const next = refs.flatMap(({ local }) => (local === undefined ? [] : [`^${local}`]));
  const left = await listHistories(options, ['--max-count=1'], [...old, ...next]).catch(() => undefined);
  return left === undefined || left.length > 0;
}

/** A branch at the remote, and what a push takes off it. */
export interface ShortenedBranch {
  readonly name: string;
  readonly ref: PushedRef;
  readonly tip: Oid;
  /** The dropped commits, newest first; `undefined`: the branch's tip was never fetched. */
  readonly dropped: readonly PushedCommit[] | undefined;
}

const MAX_DROPPED = 10_000;

/**
 * Finds the commits that a push of all these refs drops from branches at `remote` (as in `newCommits`): no pushed ref and, as far
 * as remote-tracking refs tell, no other branch at the remote contains them.
 */
export async function shortenedBranches(
  options: GitOptions,
  remote: string | undefined,
  refs: readonly PushedRef[],
): Promise<ShortenedBranch[]> {
  const branches = refs.flatMap((ref) => {
    const { remoteRef, remote: tip } = ref;
    return remoteRef.startsWith(HEADS) ? [{ ref, name: remoteRef.slice(HEADS.length), tip }] : [];
  });
  const old = branches.flatMap(({ ref, name, tip }) => (tip === undefined ? [] : [{ ref, name, tip }]));
  const tips = old.map(({ tip }) => tip);
  const found = await lookUpObjects(options, tips);
  const here = old.filter((_, at) => found[at] !== undefined);
  const below = `refs/remotes/${remote ?? '*'}/`;
  const others = ['HEAD', ...branches.map(({ name }) => name)].map((name) => `--exclude=${below}${name}`);
  const most = `--max-count=${MAX_DROPPED}`;
  const args = ['log', most, ...WHOLE, '--stdin', '--not', ...others, `--glob=${below}*`];
  const input = [...here.map(({ tip }) => tip), ...tipsOf(refs).map((oid) => `^${oid}`)];
  const commits = parseCommits(await git(args, { ...options, input }));
  const parents = new Map(commits.map((commit) => [commit.oid, commit.parents]));
  return old.map((branch) => {
    if (!here.includes(branch)) return { ...branch, dropped: undefined };
    const history = historyOf(parents, branch.tip);
    return { ...branch, dropped: commits.filter(({ oid }) => history.has(oid)) };
  });
}

/** How many of the pushed commits are searched for a deleted branch's changes. */
const MAX_PAIRS = 20;

/** Returns the dropped commits whose patch no pushed commit has; no merges, no empty commits. */
export async function lostCommits(
  options: GitOptions,
  branches: readonly ShortenedBranch[],
  refs: readonly PushedRef[],
): Promise<ReadonlySet<string>> {
  const dropped = branches.flatMap((branch) => branch.dropped ?? []);
  const known = new Set(dropped.map(({ oid }) => oid));
  const base = new Set(dropped.flatMap(({ parents }) => parents.filter((oid) => !known.has(oid))));
  const ranges = branches.flatMap(({ ref: { local }, tip }) => [
    tip,
    ...(local === undefined ? tipsOf(refs).slice(0, MAX_PAIRS) : [local]).map((next) => `${next}...${tip}`),
  ]);
  const input = [...ranges, ...[...base].map((oid) => `^${oid}`)];
  const flags = ['--no-merges', '--full-history', '--cherry-pick', '--right-only', '--stdin'];
  const result = await runGit(['rev-list', ...flags, '--', ':/'], { ...options, input });
  // In a partial clone, contents that a patch needs may be missing.
  return result.code === 0 ? new Set(result.stdout.toString('latin1').split('\n')) : known;
}

/** The commits that a push sends, each once. */
export const tipsOf = (refs: readonly PushedRef[]): Oid[] => [
  ...new Set(refs.flatMap(({ local }) => local ?? [])),
];

/** The commits to examine: options that we choose (git-rev-list(1)), and a revision range that the user typed. */
export interface CommitRange {
  readonly options: readonly string[];
  readonly revision?: string;
  /** The input for `--stdin` among the options: names of commits. */
  readonly input?: readonly string[];
}

export interface MixedCommit {
  readonly oid: Oid;
  readonly parents: readonly string[];
  readonly summary: string;
  readonly sessions: readonly SessionId[];
  /** The number of paths that the commit changes. */
  readonly paths: number;
}

/** How many commits to read at once; above how many bytes a commit is read by itself; above how many bytes it is refused. */
const [AT_ONCE, LARGE_BYTES, MOST_BYTES] = [1000, 64 << 10, 64 << 20];

/**
 * Finds the commits of a range that contain the work of several sessions, newest first. Leaves out merges, which contain
 * everybody's work. Reads the commits themselves: git-log(1) shows a message only up to its first NUL byte.
 *
 * @throws Failure `usage` for a range that git does not know
 */
export async function findMixedCommits(
  options: GitOptions,
  range: CommitRange,
  related: readonly RelatedSessions[],
): Promise<{ readonly looked: number; readonly mixed: readonly MixedCommit[] }> {
  const listed = await commitsIn(range, options);
  const mixed: Omit<MixedCommit, 'paths'>[] = [];
  for (const batch of inBatches(listed, AT_ONCE)) {
    const names = batch.map((name) => ({ name, mostBytes: LARGE_BYTES }));
    for (const found of await readObjects(options, names)) {
      const isLarge = found !== undefined && found.content.length < found.size;
      const commit = isLarge ? await readLarge(options, found.oid) : found;
      if (commit === undefined) continue;
      const { message, parents } = new CommitText(commit.content.toString('latin1'));
      const [summary = ''] = message.trimStart().split('\n', 1);
      // A message in UTF-16 has a NUL byte in each character; any other message may hide lines behind a NUL byte.
      const texts = message.includes('\0') ? ['', '\n'].map((by) => message.replaceAll('\0', by)) : [message];
      const sessions = mixedSessions(texts.join('\n'), related);
      if (sessions.length > 0) mixed.push({ oid: commit.oid, parents, summary, sessions });
    }
  }
  const oids = mixed.map(({ oid }) => oid);
  const counts = await countPaths(options, oids);
  return { looked: listed.length, mixed: mixed.map((one) => ({ ...one, paths: counts.get(one.oid) ?? 0 })) };
}

async function readLarge(options: GitOptions, name: Oid): Promise<ReadObject | undefined> {
  const [commit] = await readObjects(options, [{ name, mostBytes: MOST_BYTES }]);
  if (commit === undefined || commit.content.length === commit.size) return commit;
  throw new Failure('usage', `the message of commit ${name} is too long to check`);
}

/** The commits of a range, except merges, newest first. */
async function commitsIn(
  { options: chosen, revision, input }: CommitRange,
  options: GitOptions,
): Promise<Oid[]> {
  const typed = revision === undefined ? [] : ['--end-of-options', revision];
  const args = ['rev-list', '--no-merges', ...chosen, ...typed, '--'];
  const result = await runGit(args, input === undefined ? options : { ...options, input });
  if (result.code !== 0) throw await rangeFailure(options, result, revision);
  return oidsIn(result);
}

/** git's words for a revision that it does not know. */
const NO_RANGE =
  /bad (?:revision|object)|ambiguous argument|unknown revision|invalid (?:symmetric|revision|object)|upstream|no such branch|HEAD does not point/i;

/** CI clones are shallow: the range may exist after everything is fetched. */
const DEEPEN = "git fetch --unshallow --no-tags origin '+refs/heads/*:refs/remotes/origin/*'";

async function rangeFailure(
  options: GitOptions,
  result: GitResult,
  revision: string | undefined,
): Promise<Failure> {
  const failure = gitFailure('rev-list', result);
  if (revision === undefined || failure.code !== 'internal' || !NO_RANGE.test(result.stderr)) return failure;
  const firstLine = result.stderr.split('\n')[0]?.replace(/^fatal: /, '') ?? '';
  return new Failure('usage', `not a range of commits: ${JSON.stringify(revision)} (git: ${firstLine})`, {
    hint: (await isShallow(options)) ? DEEPEN : 'git handoff check',
  });
}

async function countPaths(options: GitOptions, commits: readonly Oid[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  if (commits.length === 0) return counts;
  const args = ['-c', 'log.showRoot=true', 'log', '--no-walk', '--stdin', ...CHANGES];
  for (const { commit } of parseChanges(await git(args, { ...options, input: commits })))
    counts.set(commit, (counts.get(commit) ?? 0) + 1);
  return counts;
}

/**
 * The commits that a push of `tips` would bring to this repository, for a server's hook. In a hook the pushed objects are
 * already readable, and no ref has moved. Handoff refs are left out: they hold no branch commits.
 */
export function receivedRange(tips: readonly Oid[], prefixes: readonly string[]): CommitRange {
  const handoffs = prefixes.map((prefix) => `--exclude=${prefix}*`);
  return { options: ['--stdin', '--not', ...handoffs, '--all'], input: tips };
}

/** Pairs of sessions, the successor first. Reads the handoffs in the histories of `tips` and of the refs under `prefixes`. */
export async function handedOnSessions(
  options: GitOptions,
  prefixes: readonly string[],
  tips: readonly Oid[],
): Promise<RelatedSessions[]> {
  const refs = await listRefNames(options, prefixes);
  const starts = await withoutLarge(options, [...tips, ...refs.map(({ oid }) => oid)]);
  if (starts.length === 0) return [];
  const commits = await readListed(options, await listHistories(options, ['--ignore-missing'], starts));
  return commits.flatMap(({ trailers }): RelatedSessions[] => {
    const { owner, succeeds } = trailers ?? {};
    return owner === undefined || succeeds === undefined ? [] : [[owner, succeeds]];
  });
}
