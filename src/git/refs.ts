import { rmSync, writeFileSync } from 'node:fs';
import type { HeadPlace } from '../domain/ledger/tree-status.ts';
import { isZeroOid, type Oid, parseOid, type RefName } from '../domain/names.ts';
import { exactStatOf, randomName, readText } from '../host/disk.ts';
import { giveToOwner } from '../host/folders.ts';
import { timeLeft } from '../host/io.ts';
import { CommitText } from './commits.ts';
import { discoverRepository, readHead } from './discover.ts';
import { gitEnvironment, NOT_SYNCED } from './environment.ts';
import { isDamage, readObjects } from './objects.ts';
import { copyIndex } from './scratch.ts';
import type { InRepository } from './repository.ts';
import { askGit, type BinaryText, git, gitFailure, requireGit, runGit, utf8 } from './run.ts';

/** One ref with the object it points at; `content` is the object's raw bytes when asked for. */
export interface Ref {
  readonly name: RefName;
  readonly oid: Oid;
  readonly type: string;
  /** Whether it is a symbolic ref; a handoff never is one. */
  readonly symbolic: boolean;
  readonly content: BinaryText;
}

/** One record per ref. The content may have any bytes: its size tells where it ends. */
const REF_FORMAT = '%(refname)%00%(objectname)%00%(objecttype)%00%(symref)%00%(raw:size)%00%(raw)';

/** Lists refs under the given prefixes (whole components), sorted by name. `content` costs one object read per ref. */
export async function listRefs(
  repository: InRepository,
  prefixes: readonly string[],
  options: { content: boolean; timeoutMs?: number | undefined } = { content: false },
): Promise<Ref[]> {
  const format = options.content ? REF_FORMAT : REF_FORMAT.replace('%(raw:size)%00%(raw)', '0%00');
  const result = await runGit(['for-each-ref', `--format=${format}`, '--', ...prefixes], {
    cwd: repository.cwd,
    timeoutMs: options.timeoutMs,
  });
  if (result.code === 0) return parseRefs(result.stdout.toString('latin1'));
  // One unreadable object makes the whole listing fail: then we ask for each object by itself.
  if (!isDamage(result.stderr)) throw gitFailure('for-each-ref', result);
  return listOneByOne(repository, prefixes, options.content);
}

export type RefValue = Pick<Ref, 'name' | 'oid'>;

/** Names and values of all refs under the prefixes: the cheapest listing, because git reads no object. */
export async function listRefNames(
  repository: InRepository,
  prefixes: readonly string[],
): Promise<RefValue[]> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', '--', ...prefixes];
  const refs: RefValue[] = [];
  for (const line of (await git(args, { cwd: repository.cwd })).split('\n')) {
    const space = line.indexOf(' ');
    const oid = parseOid(line.slice(0, Math.max(space, 0)));
    if (oid !== undefined) refs.push({ name: line.slice(space + 1) as RefName, oid });
  }
  return refs;
}

/** Names of the symbolic refs under the prefixes (git-symbolic-ref(1)). */
export async function listSymbolicRefs(
  repository: InRepository,
  prefixes: readonly string[],
): Promise<ReadonlySet<string>> {
  const format = '--format=%(if)%(symref)%(then)%(refname)%(end)';
  const output = await git(['for-each-ref', format, '--', ...prefixes], { cwd: repository.cwd });
  return new Set(output.split('\n').filter((name) => name !== ''));
}

async function listOneByOne(
  { cwd }: InRepository,
  prefixes: readonly string[],
  content: boolean,
): Promise<Ref[]> {
  const [refs, symbolic] = await Promise.all([
    listRefNames({ cwd }, prefixes),
    listSymbolicRefs({ cwd }, prefixes),
  ]);
  const requests = refs.map(({ oid }) => ({ name: oid, infoOnly: !content }));
  const objects = await readObjects({ cwd }, requests);
  return refs.map((ref, at) => ({
    ...ref,
    type: objects[at]?.type ?? 'missing',
    symbolic: symbolic.has(ref.name),
    content: objects[at]?.content.toString('latin1') ?? '',
  }));
}

/**
 * Parses records of `REF_FORMAT`, each with a line feed. Takes a binary string (one character a byte): with ten thousand refs,
 * that is four times faster than reading a buffer field by field.
 */
function parseRefs(bytes: BinaryText): Ref[] {
  const refs: Ref[] = [];
  let at = 0;
  const field = () => {
    const start = at;
    const end = bytes.indexOf('\0', start);
    at = end < 0 ? bytes.length : end + 1;
    return bytes.slice(start, end < 0 ? undefined : end);
  };
  while (at < bytes.length) {
    const name = utf8(field()) as RefName;
    const oid = parseOid(field());
    const type = field();
    const symbolic = field() !== '';
    const size = Number(field());
    const content = bytes.slice(at, at + size);
    at += size + 1;
    if (oid !== undefined) refs.push({ name, oid, type, symbolic, content });
  }
  return refs;
}

/*
 * These functions read a worktree's refs from files, or ask git if the refs are not files (reftable). They are synchronous,
 * because they usually read a single file.
 */

/** Where HEAD is: the full name of a branch (also unborn), or `HEAD` when it is detached or unknown. */
export function headRef(gitDir: string): string {
  return readHead(gitDir) ?? askAtOnce(gitDir, ['symbolic-ref', '-q', 'HEAD']) ?? 'HEAD';
}

/** The object that a ref such as `CHERRY_PICK_HEAD` names. */
export function pseudoRef(gitDir: string, name: string): Oid | undefined {
  const text = isReftable(gitDir)
    ? askAtOnce(gitDir, ['rev-parse', '-q', '--verify', '--end-of-options', name])
    : readText(`${gitDir}/${name}`).replace(/\n[^]*/, '');
  return parseOid(text ?? '');
}

/** Whether this `$GIT_DIR` keeps its refs as reftables. */
export function isReftable(gitDir: string): boolean {
  return exactStatOf(`${gitDir}/reftable`)?.isDirectory() === true;
}

function askAtOnce(gitDir: string, args: readonly string[]): string | undefined {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const env = gitEnvironment(process.env);
  const options = { env, encoding: 'utf8', timeout: timeLeft() } as const;
  const done = spawnSync('git', ['--git-dir', gitDir, ...args], options);
  return done.status === 0 ? done.stdout.replace(/\n$/, '') : undefined;
}

/** Moves `ref` from `old` to `next`. Without `old` the ref must not exist; without `next` it is deleted. */
export interface RefUpdate {
  readonly ref: RefName;
  readonly next: Oid | undefined;
  readonly old: Oid | undefined;
}

export type TransactionResult =
  | { readonly kind: 'done' }
  /** A ref no longer had its old value: somebody else was first. */
  | { readonly kind: 'moved' }
  /** A lock exists: a running writer holds it, or a dead one left it. */
  | { readonly kind: 'locked'; readonly detail: string }
  /** The objects were pruned between their write and this call. */
  | { readonly kind: 'objects-gone' }
  /** A ref exists where this one needs a folder, or the other way round. */
  | { readonly kind: 'name-conflict'; readonly detail: string };

/**
 * Moves refs in one `git update-ref --stdin` transaction, each by compare-and-swap. In the text form, an absent old value means
 * "must not exist"; with `-z` it would mean any value (git-update-ref(1)).
 *
 * `leads`: once the first ref has moved, the transaction counts as done, and the next reader updates the other refs.
 * `repeatable`: nothing is synced to the disk, because the next run repeats what a crash undoes.
 *
 * @throws Failure when git fails for a reason that the result has no `kind` for.
 */
export async function updateRefs(
  repository: InRepository,
  updates: readonly RefUpdate[],
  options: { reflog?: string; repeatable?: boolean; leads?: boolean } = {},
): Promise<TransactionResult> {
  const { cwd } = repository;
  const config = options.repeatable === true ? NOT_SYNCED : [];
  const reflog = options.reflog === undefined ? [] : ['--create-reflog', '-m', options.reflog];
  const command = [...config, 'update-ref', '--no-deref', ...reflog, '--stdin'];
  const words = ['start', ...updates.map(wordsOf), 'prepare', 'commit'];
  const result = await runGit(command, { cwd, input: words });
  if (/^commit: ok$/m.test(result.stdout.toString('utf8'))) {
    const names = updates.map(({ ref }) => ref);
    giveToOwner(() => discoverRepository(cwd)?.commonDir, names);
    return { kind: 'done' };
  }
  const dangling = blockingRef(DANGLING, result.stderr, updates);
  // Throws when git cannot delete the ref: otherwise we would try for ever.
  if (dangling !== undefined) await requireGit(['symbolic-ref', '--delete', '--', dangling], { cwd });
  const broken = blockingRef(BROKEN, result.stderr, updates);
  if (dangling !== undefined || (broken !== undefined && removeBrokenRef(repository, broken))) {
    return updateRefs(repository, updates, options);
  }
  // A system call that fails after the rename makes git report a failure although the ref has moved.
  const telling = options.leads === true ? updates.slice(0, 1) : updates;
  if (await alreadyApplied(repository, telling)) return { kind: 'done' };
  return classify(result.stderr) ?? Promise.reject(gitFailure('update-ref', result));
}

/** An update in the words that git-update-ref(1) reads. */
function wordsOf({ ref, next, old }: RefUpdate): string {
  if (next === undefined) return `delete ${ref} ${checked(old)}`;
  return old === undefined
    ? `create ${ref} ${checked(next)}`
    : `update ${ref} ${checked(next)} ${checked(old)}`;
}

/** Newer versions of git do not replace a symbolic ref whose target does not exist. */
const DANGLING = /cannot lock ref '([^']+)': dangling symref already exists/;
/** A crash of the machine can leave a ref's file without a value: git neither reads nor replaces such a ref. */
const BROKEN = /unable to resolve reference '([^']+)': reference broken/;

/** Names of refs below `refs/handoffs*` that have no value: git does not list them, but warns of each. */
export async function listBrokenRefs({ cwd }: InRepository): Promise<RefName[]> {
  const { stderr } = await runGit(['for-each-ref', '--format=', '--', 'refs/handoffs*'], { cwd });
  return [...stderr.matchAll(/ignoring broken ref (refs\/handoffs.*)$/gm)].map(([, name]) => name as RefName);
}

/** Finds among these updates the ref that git's message names. */
function blockingRef(message: RegExp, stderr: string, updates: readonly RefUpdate[]): RefName | undefined {
  const [, name] = message.exec(stderr) ?? [];
  return updates.find(({ ref }) => ref === name)?.ref;
}

/** Removes the file of a ref that has no value, under git's own lock; returns whether it did. */
export function removeBrokenRef({ cwd }: InRepository, ref: RefName): boolean {
  const file = `${discoverRepository(cwd)?.commonDir ?? ''}/${ref}`;
  try {
    writeFileSync(`${file}.lock`, '', { flag: 'wx' });
  } catch {
    return false;
  }
  const isBroken = parseOid(readText(file).replace(/\s[^]*/, '')) === undefined;
  if (isBroken) rmSync(file, { force: true });
  rmSync(`${file}.lock`);
  return isBroken;
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
  const names = updates.map(({ ref }) => ref);
  const values = new Map((await listRefNames(repository, names)).map(({ name, oid }) => [name, oid]));
  return updates.every(({ ref, next }) => next !== undefined && values.get(ref) === next);
}

/** Where HEAD is, and its commit, which is `undefined` on an unborn branch. */
export interface HeadState {
  readonly place: HeadPlace;
  readonly commit: CommitText | undefined;
}

/** Reads HEAD, and the refs under some prefixes with their content: in one process, or in two at once if HEAD is detached. */
export async function readHeadAndRefs(
  cwd: string,
  gitDir: string,
  prefixes: readonly string[],
  timeoutMs: number,
): Promise<{ readonly head: HeadState; readonly refs: readonly Ref[] }> {
  const ref = headRef(gitDir);
  const options = { content: true, timeoutMs };
  if (ref !== 'HEAD') {
    const listed = await listRefs({ cwd }, [...prefixes, ref], options);
    // Missing when the branch is unborn.
    const tip = listed.find(({ name }) => name === ref);
    return { head: headState(ref, tip, tip?.content), refs: listed.filter((one) => one !== tip) };
  }
  const [refs, [object]] = await Promise.all([
    listRefs({ cwd }, prefixes, options),
    readObjects({ cwd, timeoutMs }, ['HEAD']),
  ]);
  return { head: headState(ref, object, object?.content.toString('latin1')), refs };
}

function headState(
  ref: string,
  tip: Pick<Ref, 'oid' | 'type'> | undefined,
  content: BinaryText = '',
): HeadState {
  const commit = tip?.type === 'commit' ? new CommitText(content) : undefined;
  return { place: { ref, oid: tip?.oid ?? null }, commit };
}

/**
 * Whether git would switch to a branch or commit and keep all uncommitted changes. Changes nothing. `index` is the index file:
 * in a hook of `git commit -a`, git does not use the worktree's own.
 */
export async function canSwitch(
  { cwd, index }: { readonly cwd: string; readonly index: string },
  to: string,
  timeoutMs: number,
): Promise<boolean> {
  const args = ['read-tree', '-n', '-m', '-u', '--exclude-per-directory=.gitignore', 'HEAD', to];
  // read-tree locks even an index that it only reads, and `git commit -a` already holds that lock.
  const copy = `${index}.handoff-${randomName()}`;
  try {
    copyIndex(index, copy);
    const options = { cwd, timeoutMs, env: { GIT_INDEX_FILE: copy } };
    // git switches to no branch that another worktree has checked out.
    const elsewhere = await askGit(['for-each-ref', '--format=%(worktreepath)', to], options);
    if (elsewhere !== undefined && elsewhere !== '') return false;
    // An index that git wrote without looking at the files lacks their times: until it is refreshed, each file counts as changed.
    await runGit(['update-index', '-q', '--refresh'], options);
    return (await runGit(args, options)).code === 0;
  } finally {
    rmSync(copy, { force: true });
  }
}
