import { type Oid, type RefName, isZeroOid, parseOid } from '../domain/names.ts';
import { isDamage, readObjects } from './objects.ts';
import { type StartedGit, git, gitFailure, runGit, startGit } from './run.ts';
import { type BinaryText, utf8 } from './binary-text.ts';
import type { InRepository } from './repository.ts';

/** One ref with the object it points at; `content` is the object's raw bytes when asked for. */
export interface Ref {
  readonly name: RefName;
  readonly oid: Oid;
  readonly type: string;
  /** A symbolic ref's target; handoffs never are one. */
  readonly symbolic: boolean;
  readonly content: BinaryText;
}

/** Lists refs below the given prefixes (whole components), sorted by name. `content` costs one object read a ref. */
export async function listRefs(
  repository: InRepository,
  prefixes: readonly string[],
  options: { content: boolean; timeoutMs?: number } = { content: false },
): Promise<Ref[]> {
  const content = options.content ? '%(raw:size)%00%(raw)' : '0%00';
  const format = `%(refname)%00%(objectname)%00%(objecttype)%00%(symref)%00${content}`;
  const result = await runGit(['for-each-ref', `--format=${format}`, '--', ...prefixes], {
    cwd: repository.cwd,
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  });
  if (result.code === 0) return parseRefs(result.stdout.toString('latin1')).refs;
  // One unreadable object fails the whole listing: then each object is asked for by itself.
  if (!isDamage(result.stderr)) throw gitFailure('for-each-ref', result);
  return listOneByOne(repository, prefixes, options.content);
}

/** A ref's name and what it points at. */
export type RefValue = Pick<Ref, 'name' | 'oid'>;

/** Names and values of all refs below the prefixes: the cheapest listing, for no object is looked at. */
export async function listRefNames(
  repository: InRepository,
  prefixes: readonly string[],
): Promise<RefValue[]> {
  const output = await git(['for-each-ref', '--format=%(objectname) %(refname)', '--', ...prefixes], {
    cwd: repository.cwd,
  });
  return parseRefNames(output);
}

/** Parses `<oid> <name>` lines. */
export function parseRefNames(lines: string): RefValue[] {
  return lines.split('\n').flatMap((line) => {
    const space = line.indexOf(' ');
    const oid = parseOid(line.slice(0, Math.max(space, 0)));
    return oid === undefined ? [] : [{ name: line.slice(space + 1) as RefName, oid }];
  });
}

/** Names of the refs below the prefixes that stand for others (git-symbolic-ref(1)). */
export async function listSymbolicRefs(
  repository: InRepository,
  prefixes: readonly string[],
): Promise<ReadonlySet<string>> {
  const format = '--format=%(if)%(symref)%(then)%(refname)%(end)';
  const output = await git(['for-each-ref', format, '--', ...prefixes], { cwd: repository.cwd });
  return new Set(output.split('\n').filter((name) => name !== ''));
}

async function listOneByOne(
  repository: InRepository,
  prefixes: readonly string[],
  content: boolean,
): Promise<Ref[]> {
  const names = await runGit(
    ['for-each-ref', '--format=%(refname) %(objectname) %(symref)', '--', ...prefixes],
    {
      cwd: repository.cwd,
    },
  );
  if (names.code !== 0) throw gitFailure('for-each-ref', names);
  const lines = names.stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
  const found = lines.flatMap((line) => {
    const [name, oidText, symref] = line.split(' ');
    const oid = parseOid(oidText ?? '');
    return oid === undefined ? [] : [{ name: name as RefName, oid, symbolic: symref !== '' }];
  });
  const requests = found.map(({ oid }) => ({ name: oid, infoOnly: !content }));
  const objects = await readObjects({ cwd: repository.cwd }, requests);
  return found.map((ref, index) => ({
    ...ref,
    type: objects[index]?.type ?? 'missing',
    content: (objects[index]?.content ?? Buffer.alloc(0)).toString('latin1'),
  }));
}

/**
 * The refs of a list that the launcher (bin/git-handoff) made in the format of `listRefs`, and what it printed behind
 * that list; `undefined` when it is not whole, which a line with a dot says.
 */
export function parseListed(bytes: BinaryText): { refs: Ref[]; rest: BinaryText } | undefined {
  const { refs, end } = parseRefs(bytes);
  return bytes.startsWith(WHOLE, end) ? { refs, rest: bytes.slice(end + WHOLE.length) } : undefined;
}

/** The same for a list in the format of `listRefNames`, or another one of lines. */
export function splitListed(bytes: BinaryText): { lines: BinaryText; rest: BinaryText } | undefined {
  if (bytes.startsWith(WHOLE)) return { lines: '', rest: bytes.slice(WHOLE.length) };
  const end = bytes.indexOf(`\n${WHOLE}`);
  return end < 0 ? undefined : { lines: bytes.slice(0, end + 1), rest: bytes.slice(end + 1 + WHOLE.length) };
}

/** Behind a list that is whole; no ref's name begins with a dot. */
const WHOLE = '.\n';

/**
 * Parses `<name>NUL<oid>NUL<type>NUL<symref>NUL<size>NUL<size bytes>LF` records; sizes make any content
 * safe. As a binary string (one character a byte): on ten thousand refs that is four times faster than
 * reading a buffer field by field.
 */
function parseRefs(bytes: BinaryText): { refs: Ref[]; end: number } {
  const refs: Ref[] = [];
  let at = 0;
  const field = () => {
    const start = at;
    at = bytes.indexOf('\0', start) + 1;
    return bytes.slice(start, at - 1);
  };
  while (at < bytes.length && !bytes.startsWith(WHOLE, at)) {
    const name = utf8(field()) as RefName;
    const oid = parseOid(field());
    const type = field();
    const symbolic = field() !== '';
    const size = Number(field());
    const content = bytes.slice(at, at + size);
    at += size + 1;
    if (oid !== undefined) refs.push({ name, oid, type, symbolic, content });
  }
  return { refs, end: at };
}

/** One line of a transaction: move `ref` from `old` to `next`. No `old` = must not exist; no `next` = delete. */
export interface RefUpdate {
  readonly ref: RefName;
  readonly next: Oid | undefined;
  readonly old: Oid | undefined;
}

export type TransactionResult =
  | { readonly kind: 'done' }
  /** A ref did not have its old value any more: somebody else was first. */
  | { readonly kind: 'moved' }
  /** A lock is held, by a writer at work or a dead one. */
  | { readonly kind: 'locked'; readonly detail: string }
  /** The objects were pruned between their write and this call. */
  | { readonly kind: 'objects-gone' }
  /** A ref stands where this one needs a folder, or the other way round. */
  | { readonly kind: 'name-conflict'; readonly detail: string };

/**
 * Starts the process of a transaction that `updateRefs` will fill.
 *
 * @param reflog what the reflogs will say; without it the refs get none
 */
export function startTransaction(cwd: string, reflog: string | undefined, timeoutMs?: number): StartedGit {
  return startUpdate([], cwd, reflog, timeoutMs);
}

/** Each ref is synced to the disk by itself: too dear for thousands that a crash cannot cost. */
const NOT_SYNCED = ['-c', 'core.fsync=none'];

function startUpdate(config: readonly string[], cwd: string, reflog: string | undefined, timeoutMs?: number) {
  const options = reflog === undefined ? [] : ['--create-reflog', '-m', reflog];
  const args = [...config, 'update-ref', '--no-deref', ...options, '--stdin'];
  return startGit(args, { cwd, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
}

/**
 * Moves refs in one `git update-ref --stdin` transaction, each by compare-and-swap. Text form: there
 * an absent old value means "must not exist", while the `-z` form would force (git-update-ref(1)).
 *
 * `after`: what must be done before the refs may move (their objects); git is started meanwhile.
 * `repeatable`: what a crash takes back is done again the next time, so nothing is synced to the disk.
 *
 * @throws Failure when git fails for any other reason than those of the result, or `after` fails.
 */
export async function updateRefs(
  repository: InRepository,
  updates: readonly RefUpdate[],
  options: {
    reflog?: string;
    after?: Promise<unknown>;
    started?: StartedGit | undefined;
    repeatable?: boolean;
  } = {},
): Promise<TransactionResult> {
  const lines = updates.map(({ ref, next, old }) => {
    if (next === undefined) return `delete ${ref} ${checked(old)}`;
    return old === undefined
      ? `create ${ref} ${checked(next)}`
      : `update ${ref} ${checked(next)} ${checked(old)}`;
  });
  const config = options.repeatable === true ? NOT_SYNCED : [];
  const transaction = options.started ?? startUpdate(config, repository.cwd, options.reflog);
  try {
    await options.after;
  } catch (error) {
    transaction.abandon();
    throw error;
  }
  const result = await transaction.finish(['start', ...lines, 'prepare', 'commit', ''].join('\n'));
  if (/^commit: ok$/m.test(result.stdout.toString('utf8'))) return { kind: 'done' };
  const dangling = danglingRef(result.stderr, updates);
  if (dangling !== undefined) {
    await removeSymbolicRef(repository, dangling);
    return updateRefs(repository, updates, { ...options, started: undefined });
  }
  // A failed system call after the rename reports a failure that was none: the ref itself is the truth.
  if (await alreadyApplied(repository, updates)) return { kind: 'done' };
  return classify(result.stderr) ?? Promise.reject(gitFailure('update-ref', result));
}

/** The ref that stands in the way because it is a symbolic one to nothing: newer gits do not put another in its place. */
function danglingRef(stderr: string, updates: readonly RefUpdate[]): RefName | undefined {
  const [, name] = /cannot lock ref '([^']+)': dangling symref already exists/.exec(stderr) ?? [];
  return updates.find(({ ref }) => ref === name)?.ref;
}

/** @throws Failure when it is there still, so that nobody tries for ever */
async function removeSymbolicRef({ cwd }: InRepository, ref: RefName): Promise<void> {
  const result = await runGit(['symbolic-ref', '--delete', '--', ref], { cwd });
  if (result.code !== 0) throw gitFailure('symbolic-ref', result);
}

function classify(stderr: string): TransactionResult | undefined {
  const detail = stderr.trim().split('\n')[0] ?? '';
  if (/nonexistent object/.test(stderr)) return { kind: 'objects-gone' };
  if (/exists; cannot create|cannot process (?:(?!cannot process ).)* at the same time/.test(stderr))
    return { kind: 'name-conflict', detail };
  if (/but expected|reference already exists|unable to resolve reference/.test(stderr))
    return { kind: 'moved' };
  if (/\.lock': File exists|cannot lock references/.test(stderr)) return { kind: 'locked', detail };
  return undefined;
}

function checked(oid: Oid | undefined): Oid {
  const value = oid === undefined ? undefined : parseOid(oid);
  if (value === undefined || isZeroOid(value))
    throw new TypeError('a ref transaction needs checked object names');
  return value;
}

async function alreadyApplied(repository: InRepository, updates: readonly RefUpdate[]): Promise<boolean> {
  const found = await listRefs(
    repository,
    updates.map((update) => update.ref),
  );
  const values = new Map(found.map((ref) => [ref.name, ref.oid]));
  return updates.every((update) => update.next !== undefined && values.get(update.ref) === update.next);
}
