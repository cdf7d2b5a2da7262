import { type HandoffCommit, NOTE_FILE, STATE_FILE, parseState, parseTrailers } from '../domain/handoff.ts';
import { type Oid, type RefName, parseOid } from '../domain/names.ts';
import { type ObjectRequest, type ReadObject, readObjects } from './objects.ts';
import type { GitOptions } from './run.ts';

/** What a commit object says by itself: headers and message (no tree entries). */
export interface CommitText {
  readonly parents: readonly Oid[];
  readonly summary: string;
  readonly message: string;
  readonly seconds: number;
}

/** Reads the raw bytes of a commit object (gitformat: headers, blank line, message). */
export function parseCommit(content: Buffer): CommitText {
  const text = content.toString('utf8');
  const end = text.indexOf('\n\n');
  const headers = (end < 0 ? text : text.slice(0, end)).split('\n');
  const message = end < 0 ? '' : text.slice(end + 2);
  const committer = headers.find((line) => line.startsWith('committer ')) ?? '';
  return {
    parents: headers.flatMap((line) => (line.startsWith('parent ') ? (parseOid(line.slice(7)) ?? []) : [])),
    summary: message.split('\n', 1)[0] ?? '',
    message,
    seconds: Number(/ (\d+) [+-]\d{4}$/.exec(committer)?.[1] ?? 0),
  };
}

/** A commit as lists show it: `state.json` unread, so `recorded` is unknown. */
export function commitFromRef(oid: Oid, content: Buffer): HandoffCommit {
  const { message, ...rest } = parseCommit(content);
  return { oid, ...rest, trailers: parseTrailers(message), recorded: undefined, hasNote: true };
}

/** A handoff commit with the bytes of its note. */
export interface LoadedCommit extends HandoffCommit {
  /** `undefined` when `handoff.md` is missing or was not asked for. */
  readonly note: Buffer | undefined;
}

/**
 * Loads handoff commits whole (message, `state.json`, and the note when asked), in one process.
 * A name that is no commit is `undefined`.
 */
export async function loadCommits(
  options: GitOptions,
  oids: readonly Oid[],
  { notes = false } = {},
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
  const { message, ...rest } = parseCommit(commit.content);
  return {
    oid: commit.oid,
    ...rest,
    trailers: parseTrailers(message),
    recorded: state?.type === 'blob' ? parseState(state.content.toString('utf8')) : undefined,
    hasNote: note?.type === 'blob',
    note: notes && note?.type === 'blob' ? note.content : undefined,
  };
}
