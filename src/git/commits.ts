import type { StagedPath } from '../domain/ledger/mixing.ts';
import { type Oid, parseOid, type RefName } from '../domain/names.ts';
import {
  type GitOptions,
  type BinaryText,
  runGit,
  git,
  askForOid,
  gitFailure,
  oidsIn,
  utf8,
  inBatches,
  twoAtOnce,
} from './run.ts';
import {
  type HandoffCommit,
  type HandoffTrailers,
  MAX_COMMIT_BYTES,
  MAX_NOTE_BYTES,
  MAX_STATE_BYTES,
  NOTE_FILE,
  STATE_FILE,
  parseState,
  parseTrailers,
  shortSummary,
} from '../domain/handoff.ts';
import { listHistories } from './histories.ts';
import { type ObjectRequest, type ReadObject, isDamage, lookUpObjects, readObjects } from './objects.ts';
import { askRawDiff, rawDiff } from './staged.ts';

/** A commit object. Each part is parsed on demand: there may be thousands of commits, and most are only counted. */
export class CommitText {
  /** The object's bytes: headers, blank line, message. */
  readonly content: BinaryText;
  /** Cached, because sorting thousands of commits compares it again and again. */
  private date: number | undefined;

  constructor(content: BinaryText) {
    this.content = content;
  }

  get parents(): readonly Oid[] {
    const lines = this.headers.matchAll(/\nparent ([^\n]*)/g);
    return [...lines].flatMap(([, name = '']) => parseOid(name) ?? []);
  }

  get message(): string {
    const end = this.content.indexOf('\n\n');
    return end < 0 ? '' : utf8(this.content.slice(end + 2));
  }

  get summary(): string {
    const { message } = this;
    const end = message.indexOf('\n');
    return end < 0 ? message : message.slice(0, end);
  }

  /** Committer date, seconds since the epoch; 0 when the commit has none. */
  get seconds(): number {
    if (this.date === undefined) {
      const date = Number(/> (\d+) [^>]*$/.exec(this.committer)?.[1] ?? 0);
      this.date = Number.isSafeInteger(date) ? date : 0;
    }
    return this.date;
  }

  get name(): string {
    const line = this.committer;
    return utf8(line.slice(COMMITTER.length, Math.max(line.lastIndexOf('<'), 0))).trim();
  }

  get mail(): string {
    const line = this.committer;
    return utf8(line.slice(line.lastIndexOf('<') + 1, line.lastIndexOf('>')));
  }

  /** The parts that a list shows, as a copy, so that the whole text can be freed. */
  get shortened(): BinaryText {
    const parents = this.parents.slice(0, MOST_PARENTS).map((oid) => `\nparent ${oid}`);
    const summary = /\n\n([^\n]*)/.exec(this.content)?.[1] ?? '';
    return structuredClone(`tree${parents.join('')}${this.committer}\n\n${summary}`);
  }

  private get headers(): BinaryText {
    const end = this.content.indexOf('\n\n');
    return end < 0 ? this.content : this.content.slice(0, end);
  }

  /** `committer <name> <mail> <seconds> <zone>`. */
  private get committer(): BinaryText {
    const start = this.headers.indexOf(COMMITTER);
    const end = this.headers.indexOf('\n', start + 1);
    return this.headers.slice(start, end < 0 ? undefined : end);
  }
}

const COMMITTER = '\ncommitter ';

/** Our own commits are shorter, unless they have many trailers. */
const isLong = (content: Buffer) => content.length > 2048;

/** Reading this many is enough to see that a handoff commit has too many parents. */
const MOST_PARENTS = 3;

/** Returns what was read of a commit, copied if its text is long: V8 keeps a whole text in memory while any part is in use. */
const detached = <T>(read: T, content: Buffer): T => (isLong(content) ? structuredClone(read) : read);

/** A commit as lists show it. Its `state.json` is not read, so `recorded` is unknown. */
export class ListedCommit extends CommitText implements HandoffCommit {
  readonly oid: Oid;
  readonly trailers: HandoffTrailers | undefined;
  readonly recorded = undefined;
  readonly hasNote = true;

  constructor(oid: Oid, content: Buffer) {
    const whole = new CommitText(content.toString('latin1'));
    super(isLong(content) ? whole.shortened : whole.content);
    this.oid = oid;
    this.trailers = detached(parseTrailers(whole.message), content);
  }

  override get summary(): string {
    return shortSummary(super.summary);
  }
}

/** Reads any number of commits as lists show them. Other objects are left out; a commit that is too large has no text. */
export async function readListed(options: GitOptions, oids: readonly Oid[]): Promise<ListedCommit[]> {
  const found: ListedCommit[] = [];
  for (const batch of inBatches(oids, TOGETHER)) {
    const requests = batch.map((name) => ({ name, mostBytes: MAX_COMMIT_BYTES }));
    for (const object of await readObjects(options, requests))
      if (object?.type === 'commit') found.push(new ListedCommit(object.oid, object.content));
  }
  return found;
}

/** A handoff commit with the bytes of its note. */
export interface LoadedCommit extends HandoffCommit {
  /** `undefined` when `handoff.md` is missing or was not asked for. */
  readonly note: Buffer | undefined;
  /** The name of the note's blob; `undefined` when `handoff.md` is missing. */
  readonly noteOid?: Oid | undefined;
}

/** Loads commits with `state.json` and, when asked, the note, in one process; `undefined` for a name that is no commit. */
export async function loadCommits(
  options: GitOptions,
  oids: readonly Oid[],
  { notes = false }: { readonly notes?: boolean } = {},
): Promise<(LoadedCommit | undefined)[]> {
  return (await readParts(options, oids, notes)).map((parts) => assemble(parts, notes));
}

/** If there are more commits than this, we look up their sizes before we read them. */
const FEW = 8;

/** If there are many commits, finds those that are too large to be ours: git would load each of them whole into memory. */
async function largeCommits(options: GitOptions, oids: readonly Oid[]) {
  const infos = oids.length > FEW ? await lookUpObjects(options, oids) : [];
  const large = infos.filter((info) => info !== undefined && info.size > MAX_COMMIT_BYTES);
  return new Map(large.map((info) => [info?.oid, info]));
}

/** If there are many commits, leaves out those that are too large to be ours. */
export async function withoutLarge(options: GitOptions, oids: readonly Oid[]): Promise<Oid[]> {
  const large = await largeCommits(options, oids);
  return oids.filter((oid) => !large.has(oid));
}

async function readParts(options: GitOptions, oids: readonly Oid[], notes: boolean) {
  const large = await largeCommits(options, oids);
  const requests = oids.flatMap((oid) => (large.has(oid) ? [] : commitRequests(oid, notes)));
  const objects = await readObjects(options, requests);
  let at = 0;
  return oids.map((oid) => (large.has(oid) ? [large.get(oid)] : objects.slice(at, (at += PARTS))));
}

/** Loads the commit that both refs point at, in one process; `undefined` if the refs differ or move, or one is missing. */
export async function loadSettled(
  options: GitOptions,
  first: RefName,
  second: RefName,
  notes: boolean,
): Promise<LoadedCommit | undefined> {
  const tip = (name: RefName) => ({ name, infoOnly: true });
  const requests = [tip(first), ...commitRequests(second, notes), tip(second)];
  const [before, ...found] = await readObjects(options, requests);
  const after = found.pop();
  const loaded = assemble(found, notes);
  return loaded !== undefined && loaded.oid === before?.oid && loaded.oid === after?.oid ? loaded : undefined;
}

/** What to read of a commit. An object that is too large for a handoff is not read. */
function commitRequests(commit: string, notes: boolean): ObjectRequest[] {
  return [
    { name: commit, mostBytes: MAX_COMMIT_BYTES },
    { name: `${commit}^{tree}`, infoOnly: true },
    { name: `${commit}:${STATE_FILE}`, mostBytes: MAX_STATE_BYTES },
    { name: `${commit}:${NOTE_FILE}`, infoOnly: !notes, mostBytes: MAX_NOTE_BYTES },
  ];
}

/** The number of objects that `commitRequests` asks for. */
const PARTS = 4;

function assemble(parts: readonly (ReadObject | undefined)[], notes: boolean): LoadedCommit | undefined {
  const [commit, , , note] = parts;
  if (commit?.type !== 'commit') return undefined;
  const noteOid = note?.type === 'blob' ? note.oid : undefined;
  const isRead = notes && noteOid !== undefined && note?.content.length === note?.size;
  return { ...commitFrom(commit, parts), noteOid, note: isRead ? note?.content : undefined };
}

function commitFrom(
  { oid, size, content }: ReadObject,
  [, tree, state, note]: readonly (ReadObject | undefined)[],
): HandoffCommit {
  const { parents, message, summary, seconds, name, mail } = new CommitText(content.toString('latin1'));
  const commit = {
    oid,
    parents: parents.slice(0, MOST_PARENTS),
    summary: shortSummary(summary),
    trailers: parseTrailers(message),
    seconds,
    name,
    mail,
    recorded: state?.type === 'blob' ? parseState(state.content.toString('utf8')) : undefined,
    hasNote: note?.type === 'blob',
    bytes: size,
    treeBytes: tree?.size ?? 0,
    noteBytes: note?.size ?? 0,
  };
  return detached(commit, content);
}

/** What an object name refers to: a commit, another object, or nothing. */
export type Found = HandoffCommit | 'other' | 'missing';

/** How many commits make a batch: git reads the next batch while we parse this one. */
const TOGETHER = 500;

/** Loads any number of commits, whoever made them, to judge them. */
export async function loadJudged(options: GitOptions, oids: readonly Oid[]): Promise<Found[]> {
  const judged = await twoAtOnce(inBatches(oids, TOGETHER), async (batch) =>
    (await readParts(options, batch, false)).map((parts): Found => {
      const [commit] = parts;
      if (commit === undefined) return 'missing';
      return commit.type === 'commit' ? commitFrom(commit, parts) : 'other';
    }),
  );
  return judged.flat();
}

/** Maps each commit that has a note to the note's object name, in the order given. Reads no note. */
export async function noteNames(
  options: GitOptions,
  commits: readonly Oid[],
): Promise<ReadonlyMap<Oid, Oid>> {
  const names = commits.map((oid) => `${oid}:${NOTE_FILE}`);
  const found = await lookUpObjects(options, names);
  return new Map(
    commits.flatMap((oid, at) => {
      const note = found[at];
      return note?.type === 'blob' ? [[oid, note.oid] as const] : [];
    }),
  );
}

/** Commits reachable from `tip` by first parents and not from `base`, newest first. Ends before a commit that cannot be read. */
export const firstParentChain = (options: GitOptions, tip: Oid, base: Oid | undefined): Promise<Oid[]> =>
  listCommits(options, '--first-parent', tip, base);

/** All commits reachable from `tip`, through every parent: newest first, and no parent before its children. */
export const wholeHistory = (options: GitOptions, tip: Oid): Promise<Oid[]> =>
  listCommits(options, '--date-order', tip, undefined);

/** A commit of a handoff's chain, without the contents of its tree. */
export type ChainCommit = Omit<HandoffCommit, 'recorded' | 'hasNote'>;

/**
 * Commits of the chains that end in `tips`, newest first and at most `most` of them; first parents only.
 *
 * @throws Failure when an object on the way cannot be read
 */
export async function handoffChains(
  options: GitOptions,
  tips: readonly Oid[],
  most: number,
): Promise<ChainCommit[]> {
  const starts = await withoutLarge(options, tips);
  if (starts.length === 0) return [];
  return readListed(options, await listHistories(options, ['--first-parent', `--max-count=${most}`], starts));
}

async function listCommits(
  options: GitOptions,
  walk: '--first-parent' | '--date-order',
  tip: Oid,
  base: Oid | undefined,
): Promise<Oid[]> {
  const range = base === undefined ? [tip] : [tip, `^${base}`];
  const result = await runGit(['rev-list', walk, '--end-of-options', ...range], options);
  if (result.code !== 0 && isDamage(result.stderr)) return readableChain(options, tip, base);
  if (result.code !== 0) throw gitFailure('rev-list', result);
  return oidsIn(result);
}

/** Lists first parents commit by commit, until one cannot be read. */
async function readableChain(options: GitOptions, tip: Oid, base: Oid | undefined): Promise<Oid[]> {
  const chain: Oid[] = [];
  for (let at: Oid | undefined = tip; at !== undefined && at !== base;) {
    const [commit]: (LoadedCommit | undefined)[] = await loadCommits(options, [at]);
    if (commit !== undefined) chain.push(at);
    at = commit?.parents[0];
  }
  return chain;
}

/** The paths that differ between two commits. A path's `head` is its state in `from`, its `index` the state in `to`. */
export const changedPaths = (cwd: string, from: Oid | null, to: Oid): Promise<StagedPath[]> =>
  rawDiff({ cwd }, 'diff-tree', ['-r', ...(from === null ? ['--root', '--no-commit-id', to] : [from, to])]);

/** The paths at which two commits differ. A rename counts as one path deleted and one added. Returns none when git fails. */
export async function pathsBetween(options: GitOptions, one: Oid, other: Oid): Promise<string[]> {
  const found = await askRawDiff(options, 'diff-tree', ['-r', one, other]);
  return found.map(({ path }) => path);
}

/** A commit's parents, the first parent first. */
export async function parentsOf(cwd: string, commit: Oid): Promise<Oid[]> {
  const line = await git(['rev-list', '--parents', '--max-count=1', commit, '--'], { cwd });
  const [, ...parents] = line.trim().split(' ');
  return parents.flatMap((name) => parseOid(name) ?? []);
}

/** Resolves a name to a commit; `undefined` if it names none. */
export async function commitNamed(cwd: string, name: string): Promise<Oid | undefined> {
  return askForOid(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`], { cwd });
}
