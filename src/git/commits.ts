import {
  type HandoffCommit,
  type HandoffTrailers,
  NOTE_FILE,
  STATE_FILE,
  parseState,
  parseTrailers,
  shortSummary,
} from '../domain/handoff.ts';
import type { StagedPath } from '../domain/ledger/mixing.ts';
import { type Oid, type RefName, parseOid } from '../domain/names.ts';
import { CommitText } from './commit-text.ts';
import { type ObjectRequest, type ReadObject, isDamage, readObjects } from './objects.ts';
import type { BinaryText } from './output.ts';
import { type GitOptions, gitFailure, runGit } from './run.ts';
import { RAW_DIFF, parseRaw } from './staged.ts';

/** A commit as lists show it: `state.json` unread, so `recorded` is unknown. */
export class ListedCommit extends CommitText implements HandoffCommit {
  readonly oid: Oid;
  readonly trailers: HandoffTrailers | undefined;
  readonly recorded = undefined;
  readonly hasNote = true;

  constructor(oid: Oid, content: BinaryText) {
    super(content);
    this.oid = oid;
    this.trailers = parseTrailers(this.message);
  }

  override get summary(): string {
    return shortSummary(super.summary);
  }
}

/** A handoff commit with the bytes of its note. */
export interface LoadedCommit extends HandoffCommit {
  /** `undefined` when `handoff.md` is missing or was not asked for. */
  readonly note: Buffer | undefined;
  /** The name of the note's blob; `undefined` when `handoff.md` is missing. */
  readonly noteOid?: Oid | undefined;
}

/**
 * Loads handoff commits whole (message, `state.json`, and the note when asked), in one process.
 * A name that is no commit is `undefined`.
 */
export async function loadCommits(
  options: GitOptions,
  oids: readonly Oid[],
  { notes = false }: { readonly notes?: boolean } = {},
): Promise<(LoadedCommit | undefined)[]> {
  const objects = await readObjects(
    options,
    oids.flatMap((oid) => commitRequests(oid, notes)),
  );
  return oids.map((_, index) => assemble(objects.slice(index * 3, index * 3 + 3), notes));
}

/**
 * Loads the commit that both refs point at, in one process; `undefined` when they do not (one may be
 * missing), or moved while they were read.
 */
export async function loadSettled(
  options: GitOptions,
  first: RefName,
  second: RefName,
  notes: boolean,
): Promise<LoadedCommit | undefined> {
  const info = (name: string): ObjectRequest => ({ name, infoOnly: true });
  const requests = [info(first), ...commitRequests(second, notes), info(second)];
  const [before, commit, state, note, after] = await readObjects(options, requests);
  const loaded = assemble([commit, state, note], notes);
  return loaded !== undefined && loaded.oid === before?.oid && loaded.oid === after?.oid ? loaded : undefined;
}

function commitRequests(commit: string, notes: boolean): ObjectRequest[] {
  return [
    { name: commit },
    { name: `${commit}:${STATE_FILE}` },
    { name: `${commit}:${NOTE_FILE}`, infoOnly: !notes },
  ];
}

function assemble(
  [commit, state, note]: readonly (ReadObject | undefined)[],
  notes: boolean,
): LoadedCommit | undefined {
  if (commit?.type !== 'commit') return undefined;
  const text = new CommitText(commit.content.toString('latin1'));
  return {
    oid: commit.oid,
    parents: text.parents,
    summary: shortSummary(text.summary),
    trailers: parseTrailers(text.message),
    seconds: text.seconds,
    name: text.name,
    mail: text.mail,
    recorded: state?.type === 'blob' ? parseState(state.content.toString('utf8')) : undefined,
    hasNote: note?.type === 'blob',
    noteOid: note?.type === 'blob' ? note.oid : undefined,
    bytes: commit.size,
    noteBytes: note?.type === 'blob' ? note.size : 0,
    note: notes && note?.type === 'blob' ? note.content : undefined,
  };
}

/**
 * Commits reachable from `tip` by first parents and not from `base`, newest first. A history with a
 * hole ends at the hole.
 */
export async function firstParentChain(options: GitOptions, tip: Oid, base: Oid | undefined): Promise<Oid[]> {
  return listCommits(options, '--first-parent', tip, base);
}

/** All commits reachable from `tip`, both lines of a merge too: newest first, none before what follows from it. */
export async function wholeHistory(options: GitOptions, tip: Oid): Promise<Oid[]> {
  return listCommits(options, '--date-order', tip, undefined);
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
  return result.stdout
    .toString('utf8')
    .split('\n')
    .flatMap((line) => parseOid(line) ?? []);
}

/** The same commit by commit, as far as they can be read. */
async function readableChain(options: GitOptions, tip: Oid, base: Oid | undefined): Promise<Oid[]> {
  const chain: Oid[] = [];
  for (let at: Oid | undefined = tip; at !== undefined && at !== base;) {
    const [commit]: (LoadedCommit | undefined)[] = await loadCommits(options, [at]);
    if (commit !== undefined) chain.push(at);
    at = commit?.parents[0];
  }
  return chain;
}

/** What one commit made of each path: `head` is what `from` has there, `index` what `to` has. */
export async function changedPaths(cwd: string, from: Oid | null, to: Oid): Promise<StagedPath[]> {
  const trees = from === null ? ['--root', '--no-commit-id', to] : [from, to];
  const result = await runGit(['diff-tree', '-r', ...RAW_DIFF, ...trees, '--'], { cwd });
  if (result.code !== 0) throw gitFailure('diff-tree', result);
  return parseRaw(result.stdout.toString('utf8'));
}

/** The paths that a commit's history has changed since it parted from another one's; none where they have nothing in common. */
export async function changedSince(options: GitOptions, other: Oid, commit: Oid): Promise<string[]> {
  const flags = ['-r', '-z', '--name-only', '--no-renames', '--merge-base'];
  const result = await runGit(['diff-tree', ...flags, other, commit, '--'], options);
  return result.code === 0 ? result.stdout.toString('utf8').split('\0').filter(Boolean) : [];
}

/** A commit's parents, first the one it was made on. */
export async function parentsOf(cwd: string, commit: Oid): Promise<Oid[]> {
  const result = await runGit(['rev-list', '--parents', '--max-count=1', commit, '--'], { cwd });
  if (result.code !== 0) throw gitFailure('rev-list', result);
  return result.stdout
    .toString('utf8')
    .trim()
    .split(' ')
    .slice(1)
    .flatMap((name) => parseOid(name) ?? []);
}

/** Resolves a name to a commit; `undefined` if it names none. */
export async function commitNamed(cwd: string, name: string): Promise<Oid | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const result = await runGit(args, { cwd });
  return result.code === 0 ? parseOid(result.stdout.toString('utf8').trim()) : undefined;
}
