import { timestamp } from '../../domain/age.ts';
import type { Oid } from '../../domain/names.ts';
import { decidePush } from '../../domain/sync.ts';
import { firstParentChain, loadCommits } from '../../git/commits.ts';
import { HANDOFFS, handoffRef, parsePath, remotePrefix } from '../../git/namespace.ts';
import type { Remote } from '../../git/remotes.ts';
import type { InRepository } from '../../git/repository.ts';
import { type ShownRef, fetchRefs, showRemote } from '../../git/transfer.ts';
import {
  type Difference,
  type SyncedTopic,
  findDifferences,
  readRemoved,
  readSyncedTopics,
  type Folded,
  foldTopics,
} from './differences.ts';
import type { TopicState } from '../../notes/topic.ts';
import type { SyncShape } from '../shapes.ts';
import { type Outgoing, SyncReport, isCut, type SyncWorld } from './items.ts';
import { withoutSecrets } from './leaving-notes.ts';
import { MAX_NAMED, pushOutgoing, transferOptions } from './send-work.ts';

/** Maximum number of rounds with one remote. Each round may lose a race against another push. */
const MAX_ROUNDS = 6;

/** What is read ahead of the first remote's turn: the topics here, and that remote's refs. */
interface Known {
  readonly states: readonly TopicState[];
  readonly shown: Promise<readonly ShownRef[]>;
}

/** Asks a remote which handoffs it has. */
export function askShown(
  world: Pick<SyncWorld, 'repository' | 'options' | 'prefix'>,
  remote: Remote,
): Promise<readonly ShownRef[]> {
  return showRemote(transferOptions(world, remote), remote.name, world.prefix);
}

/** Syncs with one remote: lists its refs, fetches, folds and pushes; starts again if somebody else was faster. */
export async function syncRemote(
  world: SyncWorld,
  remote: Remote,
  known: Known | undefined,
): Promise<{ items: SyncShape[]; same: number }> {
  const report = new SyncReport(remote.name, world.prefix);
  for (let round = 0; ; round++) {
    if (round > 0) await pause(round);
    const settled = await syncOnce(world, remote, report, round === 0 ? known : undefined);
    if (settled || round + 1 >= MAX_ROUNDS) return { items: report.items(), same: report.same };
  }
}

/** Waits for a random time, so that two syncs that collided do not collide again. */
function pause(round: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 40 * 2 ** round));
}

/** Does one round of a sync. Returns `false` if somebody else moved a handoff first. */
async function syncOnce(
  world: SyncWorld,
  remote: Remote,
  report: SyncReport,
  known: Known | undefined,
): Promise<boolean> {
  const { repository, options } = world;
  const [shown, before] = await Promise.all([
    known?.shown ?? askShown(world, remote),
    readSyncedTopics(repository, remote.name, known?.states),
  ]);
  const there = report.ignoreStrange(shown);
  report.know(before);
  report.startRound(
    before.filter(({ path, here }) => isSame(here?.tip?.oid, there.get(handoffRef(path)))).length,
  );
  if (options.dryRun) {
    await planOnly(world, remote.name, before, there, report);
    return true;
  }
  const tracked = new Map<string, Oid | undefined>(
    before.map((one) => [handoffRef(one.path), one.there?.oid]),
  );
  const unseen = [...there].filter(([ref, oid]) => tracked.get(ref) !== oid);
  // A handoff that was deleted here is not fetched again, neither ref nor objects, until it changes at the remote.
  const removed = unseen.length === 0 || !options.fetch ? undefined : await readRemoved(repository);
  const standing = new Set<string>(
    before.flatMap(({ path, here }) => (here === undefined ? [] : [handoffRef(path)])),
  );
  // If it has been written again here since, the remote's version is fetched, so that the two can be folded.
  const news = unseen.filter(([ref, oid]) => removed?.get(ref) !== oid || standing.has(ref));
  const isAsked = options.fetch && news.length > 0;
  let topics = before;
  if (isAsked) {
    await fetchRefs(
      transferOptions(world, remote),
      remote.name,
      refspecs(world, remote.name, { news, unseen, shown }),
    );
    topics = await readSyncedTopics(repository, remote.name);
  }
  let isSettled = true;
  // A handoff that the remote no longer shows is reported as deleted there, and changes nothing here.
  const isShown = ({ path }: SyncedTopic) => there.has(handoffRef(path));
  let differences: readonly Difference[] = [];
  if (options.fetch) {
    const folded = await foldTopics(repository, topics.filter(isShown));
    report.folded(folded, await findTakes(repository, folded));
    differences = folded.map(({ difference }) => difference);
    isSettled = !folded.some(({ kind }) => kind === 'moved');
    const isChanged = folded.some(({ kind }) => kind !== 'nothing' && kind !== 'refuse');
    // Without a push, the topics are read again only if a branch's name was cut: the report needs the whole name.
    if (isChanged && (options.push || topics.some(({ path }) => isCut(path)))) {
      topics = await readSyncedTopics(repository, remote.name);
      differences = await findDifferences(repository, topics.filter(isShown));
      report.know(topics);
    }
  } else differences = await findDifferences(repository, topics.filter(isShown));
  if (!options.push) return isSettled;
  return (await pushOutgoing(world, remote, { topics, differences, there }, report)) && isSettled;
}

const isSame = (here: Oid | undefined, there: Oid | undefined) => here !== undefined && here === there;

interface News {
  /** The unseen refs to fetch. */
  readonly news: readonly (readonly [ref: string, oid: Oid])[];
  readonly unseen: readonly (readonly [ref: string, oid: Oid])[];
  readonly shown: readonly ShownRef[];
}

/** The refspecs of a fetch: a few refs each by name, many by a pattern that excludes refs that are unwanted or not ours. */
function refspecs({ prefix }: SyncWorld, remote: string, { news, unseen, shown }: News): string[] {
  if (news.length <= MAX_NAMED)
    return news.map(([ref]) => {
      const place = ref.slice(HANDOFFS.length);
      return `+${prefix}${place}:${remotePrefix(remote)}${place}`;
    });
  const strange = shown.filter(({ name, odd }) => odd !== undefined || parsePath(name, prefix) === undefined);
  const wanted = new Set(news.map(([ref]) => ref));
  const unwanted = unseen
    .filter(([ref]) => !wanted.has(ref))
    .map(([ref]) => prefix + ref.slice(HANDOFFS.length));
  const left = [...strange.map(({ name }) => name), ...unwanted];
  return [`+${prefix}*:${remotePrefix(remote)}*`, ...left.map((name) => `^${name}`)];
}

/** Returns when (RFC 3339) each forwarded handoff was taken at the remote, if it was: the owner here must hear of it. */
async function findTakes(
  repository: InRepository,
  folded: readonly Folded[],
): Promise<ReadonlyMap<Difference, string>> {
  const takes = new Map<Difference, string>();
  for (const { difference, kind } of folded) {
    const { here, there, owner } = difference;
    const former = here?.tip?.trailers?.owner;
    if (kind !== 'forward' || owner === undefined || former === undefined || owner === former) continue;
    const options = { cwd: repository.cwd };
    const steps = await loadCommits(options, await firstParentChain(options, there.oid, here?.tip?.oid));
    const take = steps.find(
      (step) => step?.trailers?.owner === owner && step.trailers.takenFrom !== undefined,
    );
    if (take !== undefined) takes.set(difference, timestamp(take.seconds * 1000));
  }
  return takes;
}

/** Reports what a sync would do, as far as that can be known without fetching. */
async function planOnly(
  world: SyncWorld,
  remote: string,
  topics: readonly SyncedTopic[],
  there: ReadonlyMap<string, Oid>,
  report: SyncReport,
): Promise<void> {
  const { repository, options } = world;
  const removed = await readRemoved(repository);
  const seen = new Map(topics.map((one) => [handoffRef(one.path) as string, one]));
  for (const [ref, oid] of there) {
    const one = seen.get(ref);
    const isKnown = one?.there?.oid === oid || one?.here?.tip?.oid === oid || removed.get(ref) === oid;
    if (!isKnown && options.fetch) report.plan(ref, 'to-fetch', oid);
  }
  if (!options.push) return;
  const outgoing: Outgoing[] = [];
  for (const { path, here, there: tracked } of topics) {
    const tip = here?.tip?.oid;
    const ref = handoffRef(path);
    if (tip === undefined || there.get(ref) === tip) continue;
    const shown = there.get(ref);
    const action = decidePush({ tip, shown, tracked: tracked?.oid, isAhead: true, restore: options.restore });
    if (action === 'push') outgoing.push({ path, tip, old: tracked?.oid });
    else if (action === 'deleted-there') report.plan(ref, 'deleted-there', tip);
    else if (!options.fetch) report.plan(ref, 'behind', tip);
  }
  const leaving = outgoing.length === 0 ? [] : await withoutSecrets(world, remote, outgoing, report);
  for (const { path, tip } of leaving) report.plan(handoffRef(path), 'to-push', tip);
}
