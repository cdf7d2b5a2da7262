import {
  type HandoffCommit,
  MAX_COMMIT_BYTES,
  STATE_FILE,
  NOTE_FILE,
  parseState,
  parseTrailers,
} from '../domain/handoff.ts';
import type { Oid } from '../domain/names.ts';
import { parseCommit } from './commits.ts';
import { type ReadObject, readObjects } from './objects.ts';
import type { GitOptions } from './run.ts';

/** What stands at an object name: a commit, another object, or nothing. */
export type Found = HandoffCommit | 'other' | 'missing';

/**
 * Loads commits for judging, however many and whatever they are, in two processes: sizes first, so that nothing is
 * read that no handoff of ours can be.
 */
export async function loadJudged(options: GitOptions, oids: readonly Oid[]): Promise<Found[]> {
  const names = oids.flatMap((oid) => [oid, `${oid}:${STATE_FILE}`, `${oid}:${NOTE_FILE}`]);
  const infos = await readObjects(
    options,
    names.map((name) => ({ name, infoOnly: true })),
  );
  const small = infos.flatMap((info, at) =>
    at % 3 < 2 && info?.type === (at % 3 === 0 ? 'commit' : 'blob') && info.size <= MAX_COMMIT_BYTES
      ? [info.oid]
      : [],
  );
  const contents = await readContents(options, [...new Set(small)]);
  return oids.map((oid, at) => assemble(oid, infos.slice(at * 3, at * 3 + 3), contents));
}

async function readContents(options: GitOptions, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, Buffer>> {
  const read = await readObjects(
    options,
    oids.map((name) => ({ name })),
  );
  return new Map(read.flatMap((object) => (object === undefined ? [] : [[object.oid, object.content]])));
}

function assemble(
  oid: Oid,
  [commit, state, note]: readonly (ReadObject | undefined)[],
  contents: ReadonlyMap<Oid, Buffer>,
): Found {
  if (commit === undefined) return 'missing';
  if (commit.type !== 'commit') return 'other';
  const { message, ...rest } = parseCommit(contents.get(oid)?.toString('latin1') ?? '');
  const stateText = state?.type === 'blob' ? contents.get(state.oid)?.toString('utf8') : undefined;
  return {
    oid,
    ...rest,
    trailers: parseTrailers(message),
    recorded: stateText === undefined ? undefined : parseState(stateText),
    hasNote: note?.type === 'blob',
    bytes: commit.size,
    noteBytes: note?.size ?? 0,
  };
}
