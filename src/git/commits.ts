import {
  type HandoffCommit,
  NOTE_FILE,
  STATE_FILE,
  parseState,
  parseTrailers,
  shortSummary,
} from '../domain/handoff.ts';
import { type Oid, type RefName, parseOid } from '../domain/names.ts';
import { type BinaryText, utf8 } from './binary-text.ts';
import { type ObjectRequest, type ReadObject, isDamage, readObjects } from './objects.ts';
import { type GitOptions, type StartedGit, gitFailure, runGit } from './run.ts';

/** What a commit object says by itself: headers and message (no tree entries). */
export interface CommitText {
  readonly parents: readonly Oid[];
  readonly summary: string;
  readonly message: string;
  readonly seconds: number;
  readonly mail: string;
}

/** Reads the raw bytes of a commit object (gitformat: headers, blank line, message). */
export function parseCommit(content: BinaryText): CommitText {
  const end = content.indexOf('\n\n');
  const headers = end < 0 ? content : content.slice(0, end);
  const message = end < 0 ? '' : utf8(content.slice(end + 2));
  const lineEnd = message.indexOf('\n');
  return {
    parents: parentsOf(headers),
    summary: lineEnd < 0 ? message : message.slice(0, lineEnd),
    message,
    ...committed(headers),
  };
}

function parentsOf(headers: BinaryText): Oid[] {
  const parents: Oid[] = [];
  for (let at = headers.indexOf('\nparent '); at >= 0; at = headers.indexOf('\nparent ', at + 1)) {
    const start = at + '\nparent '.length;
    const end = headers.indexOf('\n', start);
    const oid = parseOid(headers.slice(start, end < 0 ? undefined : end));
    if (oid !== undefined) parents.push(oid);
  }
  return parents;
}

/** `committer <name> <mail> <seconds> <zone>`. */
function committed(headers: BinaryText): Pick<CommitText, 'seconds' | 'mail'> {
  const start = headers.indexOf('\ncommitter ');
  const lineEnd = headers.indexOf('\n', start + 1);
  const line = headers.slice(start, lineEnd < 0 ? undefined : lineEnd);
  const zone = line.lastIndexOf(' ');
  const seconds = Number(line.slice(line.lastIndexOf(' ', zone - 1) + 1, zone));
  const mail = utf8(line.slice(line.lastIndexOf('<') + 1, line.lastIndexOf('>')));
  return { seconds: Number.isSafeInteger(seconds) ? seconds : 0, mail };
}

/** A commit as lists show it: `state.json` unread, so `recorded` is unknown. */
export function commitFromRef(oid: Oid, content: BinaryText): HandoffCommit {
  const { message, summary, ...rest } = parseCommit(content);
  return {
    oid,
    ...rest,
    summary: shortSummary(summary),
    trailers: parseTrailers(message),
    recorded: undefined,
    hasNote: true,
  };
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
  { notes = false, started }: { readonly notes?: boolean; readonly started?: StartedGit | undefined } = {},
): Promise<(LoadedCommit | undefined)[]> {
  const objects = await readObjects(
    options,
    oids.flatMap((oid) => commitRequests(oid, notes)),
    started,
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
  const { message, summary, ...rest } = parseCommit(commit.content.toString('latin1'));
  return {
    oid: commit.oid,
    ...rest,
    summary: shortSummary(summary),
    trailers: parseTrailers(message),
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
