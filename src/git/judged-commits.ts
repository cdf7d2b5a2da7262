import {
  type HandoffCommit,
  MAX_COMMIT_BYTES,
  MAX_STATE_BYTES,
  STATE_FILE,
  NOTE_FILE,
  parseState,
  parseTrailers,
} from '../domain/handoff.ts';
import type { Oid } from '../domain/names.ts';
import { inBatches, twoAtOnce } from './batches.ts';
import { CommitText } from './commit-text.ts';
import { type ReadObject, readObjects } from './objects.ts';
import type { GitOptions } from './run.ts';

/** What stands at an object name: a commit, another object, or nothing. */
export type Found = HandoffCommit | 'other' | 'missing';

const NOT_READ = { type: 'blob', most: -1 };
/** What is read of each commit: itself, `state.json`, and of the note its size only. */
const READ = [{ type: 'commit', most: MAX_COMMIT_BYTES }, { type: 'blob', most: MAX_STATE_BYTES }, NOT_READ];

/** Commits that are loaded together: while we read what git says of some, it looks for the next. */
const TOGETHER = 5000;

/**
 * Loads commits for judging, however many and whatever they are, in two processes for thousands: sizes first, so that
 * nothing is read that no handoff of ours can be.
 */
export async function loadJudged(options: GitOptions, oids: readonly Oid[]): Promise<Found[]> {
  return (await twoAtOnce(inBatches(oids, TOGETHER), (part) => loadPart(options, part))).flat();
}

async function loadPart(options: GitOptions, oids: readonly Oid[]): Promise<Found[]> {
  const names = oids.flatMap((oid) => [oid, `${oid}:${STATE_FILE}`, `${oid}:${NOTE_FILE}`]);
  const infos = await readObjects(
    options,
    names.map((name) => ({ name, infoOnly: true })),
  );
  const small = infos.flatMap((info, at) => {
    const { type, most } = READ[at % 3] ?? NOT_READ;
    return info?.type === type && info.size <= most ? [info.oid] : [];
  });
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
  const text = new CommitText(contents.get(oid)?.toString('latin1') ?? '');
  const stateText = state?.type === 'blob' ? contents.get(state.oid)?.toString('utf8') : undefined;
  return {
    oid,
    parents: text.parents,
    trailers: parseTrailers(text.message),
    recorded: stateText === undefined ? undefined : parseState(stateText),
    hasNote: note?.type === 'blob',
    bytes: commit.size,
    noteBytes: note?.size ?? 0,
    summary: text.summary,
    seconds: text.seconds,
    name: text.name,
    mail: text.mail,
  };
}
