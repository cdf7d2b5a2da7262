import type { Oid, RefName } from '../../domain/names.ts';
import { handoffRef, parsePath, refBelow, remotePrefix, trackingRef } from '../../git/namespace.ts';
import type { Remote } from '../../git/config.ts';
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

/** Syncs with one remote, in several rounds if somebody else is faster. `known`: the topics here, if they were just read. */
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
  const showing = showRemote(transfer, remote.name, prefix).then((refs) =>
    handoffsAmong(refs, prefix, report),
  );
  const tips = showing.then((shown) => shown.tips);
  let topics = await readSyncedTopics(repository, remote.name, tips, known);
  const { strange } = await showing;
  report.startRound(
    topics.filter(({ here, shown }) => here?.tip !== undefined && here.tip.oid === shown).length,
  );
  const unseen = topics.filter(({ shown, there }) => shown !== undefined && shown !== there?.oid);
  if (options.dryRun) {
    await planOnly(world, remote.name, { topics, unseen }, report);
    return true;
  }
  // Nothing of a handoff that was deleted here is fetched until it changes at the remote. But if the handoff was written
  // again here, the remote's version is fetched, too, to fold the two.
  const news = unseen.filter((one) => one.here !== undefined || !isDeletedHere(one, one.shown));
  if (options.fetch && news.length > 0) {
    await fetchRefs(transfer, remote.name, refspecs(world, remote.name, { news, unseen, strange }));
    topics = await readSyncedTopics(repository, remote.name, tips);
  }
  // A handoff that the remote no longer shows is reported as deleted there, and changes nothing here.
  const isShown = ({ shown }: SyncedTopic) => shown !== undefined;
  const folded = options.fetch ? await foldTopics(repository, topics.filter(isShown)) : [];
  for (const one of folded) {
    const item = foldedItem(one);
    if (item !== undefined) report.add('fetch', one.difference.path, item);
  }
  const isSettled = !folded.some(({ kind }) => kind === 'moved');
  if (!options.push) return isSettled;
  const isChanged = folded.some(({ kind }) => kind !== 'nothing' && kind !== 'refuse');
  if (isChanged) topics = await readSyncedTopics(repository, remote.name, tips);
  const differences =
    options.fetch && !isChanged
      ? folded.map(({ difference }) => difference)
      : await findDifferences(repository, topics.filter(isShown));
  const ahead = differences.filter(({ facts }) => facts.relation === 'ahead');
  const compared = { topics, ahead: new Set<string>(ahead.map(({ path }) => handoffRef(path))) };
  return (await pushOutgoing(world, remote, compared, report)) && isSettled;
}

/** Returns the tips of the refs that may be handoffs, under our names for them. Also returns and reports all other refs. */
function handoffsAmong(refs: readonly ShownRef[], prefix: string, report: SyncReport) {
  const tips = new Map<RefName, Oid>();
  const strange: string[] = [];
  for (const { name, oid, odd } of refs) {
    const path = parsePath(name, prefix);
    if (path !== undefined && odd === undefined) tips.set(handoffRef(path), oid);
    else {
      strange.push(name);
      const kind = odd === 'tag' ? 'a tag' : 'a symbolic ref';
      report.ignore(name, oid, path === undefined ? 'not the name of a handoff' : kind);
    }
  }
  return { tips, strange };
}

interface News {
  /** The handoffs to fetch, out of those whose tip at the remote was not known here (`unseen`). */
  readonly news: readonly SyncedTopic[];
  readonly unseen: readonly SyncedTopic[];
  /** The remote's refs that are no handoffs. */
  readonly strange: readonly string[];
}

/** The refspecs of a fetch: each of a few refs by name, or many by a pattern that excludes the refs that are not wanted. */
function refspecs({ prefix }: SyncWorld, remote: string, { news, unseen, strange }: News): string[] {
  if (news.length <= MAX_NAMED)
    return news.map(({ path }) => `+${refBelow(prefix, path)}:${trackingRef(remote, path)}`);
  const wanted = new Set(news);
  const unwanted = unseen.filter((one) => !wanted.has(one)).map(({ path }) => refBelow(prefix, path));
  return [`+${prefix}*:${remotePrefix(remote)}*`, ...[...strange, ...unwanted].map((name) => `^${name}`)];
}

/** Reports what a sync would do, as far as that can be known without fetching. */
async function planOnly(
  world: SyncWorld,
  remote: string,
  { topics, unseen }: { readonly topics: readonly SyncedTopic[]; readonly unseen: readonly SyncedTopic[] },
  report: SyncReport,
): Promise<void> {
  const { options } = world;
  for (const one of options.fetch ? unseen : []) {
    if (one.here?.tip?.oid === one.shown || isDeletedHere(one, one.shown)) continue;
    report.add('fetch', one.path, { action: 'to-fetch', oid: one.shown ?? null });
  }
  if (!options.push) return;
  const { outgoing } = chooseOutgoing(options, { topics, ahead: undefined }, report);
  for (const { path, tip } of await withoutSecrets(world, remote, outgoing, report))
    report.add('push', path, { action: 'to-push', oid: tip });
}
