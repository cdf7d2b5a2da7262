import type { Oid } from '../../domain/names.ts';
import { NOTE_FILE } from '../../domain/handoff.ts';
import { escapeLine, escapeText } from '../../domain/surfacing.ts';
import { parseWorkSize, workSizeText } from '../../domain/work.ts';
import { type ChainCommit, handoffChains } from '../../git/board-history.ts';
import { readObjects } from '../../git/objects.ts';
import type { InRepository } from '../../git/repository.ts';
import { personName } from '../../notes/person-name.ts';
import type { TopicState } from '../../notes/topic.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { Lanes } from './lanes.ts';
import type { BoardStep, BoardTopic, BoardVersion } from '../../ui/board/shape.ts';

/** Versions that a page shows; beyond it the oldest are left out. */
const MAX_VERSIONS = 30_000;

/** Every handoff with its versions; `complete` is false when older versions were left out or could not be read. */
export async function boardTopics(
  repository: InRepository,
  states: readonly TopicState[],
  lanes: Lanes,
): Promise<{ topics: BoardTopic[]; complete: boolean }> {
  const tips = states.flatMap(({ tip }) => tip ?? []);
  const chains = await handoffChains(
    repository,
    tips.map(({ oid }) => oid),
    MAX_VERSIONS,
    // A damaged object must not hide the handoffs whose tips can be read.
  ).catch(() => undefined);
  const commits = new Map<Oid, ChainCommit>(tips.map((tip) => [tip.oid, tip]));
  for (const commit of chains ?? []) commits.set(commit.oid, commit);
  const topics = states.flatMap((state) => {
    if (state.tip === undefined) return [];
    const chain = chainOf(state.tip.oid, commits);
    const versions = chain.map((commit, at) => version(commit, chain[at + 1], state.branch, lanes));
    const typed = typedTopic(state.branch, state.topic);
    const name = `${state.branch}/${state.topic}`;
    const topic = { branch: escapeLine(state.branch), topic: state.topic, versions };
    return [typed === name ? topic : { ...topic, typed }];
  });
  topics.sort((a, b) => (b.versions[0]?.at ?? 0) - (a.versions[0]?.at ?? 0));
  return { topics, complete: chains !== undefined && chains.length < MAX_VERSIONS };
}

/** From the tip to the root, or to where the knowledge ends. */
function chainOf(tip: Oid, commits: ReadonlyMap<Oid, ChainCommit>): ChainCommit[] {
  const chain: ChainCommit[] = [];
  for (let at = commits.get(tip); at !== undefined;) {
    chain.push(at);
    const parent: Oid | undefined = at.parents[0];
    at = parent === undefined ? undefined : commits.get(parent);
  }
  return chain;
}

function version(
  commit: ChainCommit,
  before: ChainCommit | undefined,
  branch: string,
  lanes: Lanes,
): BoardVersion {
  const { oid, trailers, summary } = commit;
  const at = commit.seconds * 1000;
  const base = { oid, at, step: stepOf(before, commit), summary: escapeLine(summary) };
  if (trailers === undefined) return base;
  const { owner, client, state, automatic, to } = trailers;
  const takenFrom = trailers.takenFrom ?? trailers.succeeds;
  return {
    ...base,
    by: lanes.trace(owner, { at, branch, client, name: personName(commit) }),
    ...(state === 'closed' ? { closed: true as const } : {}),
    ...(takenFrom === undefined ? {} : { takenFrom }),
    ...(automatic === undefined ? {} : { automatic }),
    ...(to === undefined ? {} : { to: escapeLine(to) }),
    ...(trailers.work === undefined ? {} : { work: workText(trailers.workSize) }),
  };
}

function workText(told: string | undefined): string {
  const size = parseWorkSize(told);
  return size === undefined ? 'uncommitted work' : `uncommitted work: ${workSizeText(size)}`;
}

/** What a version did, by what it says of itself; whether it was allowed to is `git handoff check`'s to say. */
export function stepOf(
  before: Pick<ChainCommit, 'trailers'> | undefined,
  { trailers, parents }: Pick<ChainCommit, 'trailers' | 'parents'>,
): BoardStep {
  if (trailers === undefined) return 'unreadable';
  if (parents.length > 1) return 'merge';
  if (trailers.takenFrom !== undefined) return 'take';
  if (trailers.succeeds !== undefined) return 'succeed';
  if (parents.length === 0) return 'create';
  const former = before?.trailers?.state ?? trailers.state;
  if (former === trailers.state) return 'write';
  return trailers.state === 'closed' ? 'close' : 'reopen';
}

/** Notes that a page holds. */
export interface NoteRoom {
  /** Newest versions that are looked at. */
  readonly count: number;
  /** Of one note and of all together. */
  readonly bytes: number;
  readonly total: number;
}

/** Texts of the newest versions, as many as there is room for; a larger note is left out whole. Two processes. */
export async function boardNotes(
  repository: InRepository,
  topics: readonly BoardTopic[],
  room: NoteRoom,
): Promise<Record<string, string>> {
  const newest = topics
    .flatMap(({ versions }) => versions)
    .sort((a, b) => b.at - a.at)
    .slice(0, room.count)
    .map(({ oid }) => ({ name: `${oid}:${NOTE_FILE}`, oid }));
  const options = { cwd: repository.cwd };
  const sizes = await readObjects(
    options,
    newest.map(({ name }) => ({ name, infoOnly: true })),
  );
  let left = room.total;
  const wanted = newest.filter((_, at) => {
    const found = sizes[at];
    if (found?.type !== 'blob' || found.size > room.bytes || found.size > left) return false;
    left -= found.size;
    return true;
  });
  const found = await readObjects(options, wanted);
  const notes: Record<string, string> = {};
  wanted.forEach(({ oid }, at) => {
    const object = found[at];
    if (object?.type === 'blob') notes[oid] = escapeText(object.content.toString('utf8'));
  });
  return notes;
}
