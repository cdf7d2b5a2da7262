import type { Oid } from '../../domain/names.ts';
import { HANDOFFS, handoffRef, parsePath, remotePrefix } from '../../git/namespace.ts';
import type { Remote } from '../../git/remotes.ts';
import { type ShownRef, fetchRefs, showRemote } from '../../git/transfer.ts';
import type { TopicState } from '../../notes/topic.ts';
import type { SyncShape } from '../shapes.ts';
import {
  type SyncedTopic,
  findDifferences,
  foldTopics,
  isDeletedHere,
  readSyncedTopics,
} from './differences.ts';
import { SyncReport, type SyncWorld, foldedItem } from './items.ts';
import { MAX_NAMED, chooseOutgoing, pushOutgoing, transferOptions, withoutSecrets } from './send.ts';

/** Maximum number of rounds with one remote. Each round may lose a race against another push. */
const MAX_ROUNDS = 6;

/**
 * Syncs with one remote: lists its refs, fetches, folds and pushes; starts again if somebody else was faster. `known`: the
 * topics here, if they were just read.
 */
export async function syncRemote(
  world: SyncWorld,
  remote: Remote,
  known: readonly TopicState[] | undefined,
): Promise<{ items: SyncShape[]; same: number }> {
  const report = new SyncReport(remote.name);
  for (let round = 0; ; round++) {
    if (round > 0) await pause(round);
    const settled = await syncOnce(world, remote, report, round === 0 ? known : undefined);
    if (settled || round + 1 >= MAX_ROUNDS) return { items: report.items(), same: report.same ?? 0 };
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
  known: readonly TopicState[] | undefined,
): Promise<boolean> {
  const { repository, options, prefix } = world;
  const transfer = transferOptions(world, remote);
  const [shown, before] = await Promise.all([
    showRemote(transfer, remote.name, prefix),
    readSyncedTopics(repository, remote.name, known),
  ]);
  const there = handoffsAmong(shown, prefix, report);
  const same = before.filter(({ path, here }) => isSame(here?.tip?.oid, there.get(handoffRef(path))));
  report.startRound(same.length);
  if (options.dryRun) {
    await planOnly(world, remote.name, before, there, report);
    return true;
  }
  const standing = new Map<string, SyncedTopic>(before.map((one) => [handoffRef(one.path), one]));
  const unseen = [...there].filter(([ref, oid]) => standing.get(ref)?.there?.oid !== oid);
  // A handoff that was deleted here is not fetched again, neither ref nor objects, until it changes at the remote. If it
  // has been written again here since, the remote's version is fetched, so that the two can be folded.
  const news = unseen.filter(([ref, oid]) => {
    const one = standing.get(ref);
    return one === undefined || one.here !== undefined || !isDeletedHere(one, oid);
  });
  let topics = before;
  if (options.fetch && news.length > 0) {
    await fetchRefs(transfer, remote.name, refspecs(world, remote.name, { news, unseen, shown }));
    topics = await readSyncedTopics(repository, remote.name);
  }
  // A handoff that the remote no longer shows is reported as deleted there, and changes nothing here.
  const isShown = ({ path }: SyncedTopic) => there.has(handoffRef(path));
  const folded = options.fetch ? await foldTopics(repository, topics.filter(isShown)) : [];
  for (const one of folded) {
    const item = foldedItem(one);
    if (item !== undefined) report.add('fetch', one.difference.path, item);
  }
  const isSettled = !folded.some(({ kind }) => kind === 'moved');
  if (!options.push) return isSettled;
  const isChanged = folded.some(({ kind }) => kind !== 'nothing' && kind !== 'refuse');
  if (isChanged) topics = await readSyncedTopics(repository, remote.name);
  const differences =
    options.fetch && !isChanged
      ? folded.map(({ difference }) => difference)
      : await findDifferences(repository, topics.filter(isShown));
  const ahead = differences.filter(({ facts }) => facts.relation === 'ahead');
  const compared = { topics, there, ahead: new Set<string>(ahead.map(({ path }) => handoffRef(path))) };
  return (await pushOutgoing(world, remote, compared, report)) && isSettled;
}

/** Returns the tips of the refs that may be handoffs, under our names for them. Reports the others. */
function handoffsAmong(
  shown: readonly ShownRef[],
  prefix: string,
  report: SyncReport,
): ReadonlyMap<string, Oid> {
  const there = new Map<string, Oid>();
  for (const { name, oid, odd } of shown) {
    const path = parsePath(name, prefix);
    if (path === undefined) report.ignore(name, oid, 'not the name of a handoff');
    else if (odd !== undefined) report.ignore(name, oid, odd === 'tag' ? 'a tag' : 'a symbolic ref');
    else there.set(handoffRef(path), oid);
  }
  return there;
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

/** Reports what a sync would do, as far as that can be known without fetching. */
async function planOnly(
  world: SyncWorld,
  remote: string,
  topics: readonly SyncedTopic[],
  there: ReadonlyMap<string, Oid>,
  report: SyncReport,
): Promise<void> {
  const { options } = world;
  const seen = new Map<string, SyncedTopic>(topics.map((one) => [handoffRef(one.path), one]));
  for (const [ref, oid] of options.fetch ? there : []) {
    const one = seen.get(ref);
    const isKnown = one?.there?.oid === oid || one?.here?.tip?.oid === oid;
    const path = parsePath(ref, HANDOFFS);
    if (isKnown || path === undefined || (one !== undefined && isDeletedHere(one, oid))) continue;
    report.add('fetch', path, { action: 'to-fetch', oid });
  }
  if (!options.push) return;
  const { outgoing } = chooseOutgoing(options, { topics, there, ahead: undefined }, report);
  for (const { path, tip } of await withoutSecrets(world, remote, outgoing, report))
    report.add('push', path, { action: 'to-push', oid: tip });
}
