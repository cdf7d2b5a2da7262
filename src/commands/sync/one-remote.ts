import type { Oid, SessionId } from '../../domain/names.ts';
import { shownAddress } from '../../domain/sync/address.ts';
import { decidePush } from '../../domain/sync/outgoing.ts';
import { HANDOFFS, handoffRef, parsePath, remotePrefix, trackingRef } from '../../git/namespace.ts';
import { updateRefs } from '../../git/refs.ts';
import type { Remote } from '../../git/remotes.ts';
import type { Repository } from '../../git/repository.ts';
import { type ShownRef, type TransferOptions, fetchRefs, showRemote } from '../../git/transfer.ts';
import type { StoredSession } from '../../store/sessions.ts';
import {
  type Difference,
  type SyncedTopic,
  findDifferences,
  readRemoved,
  readSyncedTopics,
} from '../../store/sync/differences.ts';
import { type Folded, foldDifferences } from '../../store/sync/fold.ts';
import type { TopicState } from '../../store/topic.ts';
import type { Context } from '../context.ts';
import type { SyncShape } from '../shapes.ts';
import type { SyncOptions } from '../sync.ts';
import { SyncReport } from './items.ts';
import { type Outgoing, withoutSecrets } from './leaving-notes.ts';
import { mergeConflicts } from './merge-notes.ts';
import { MAX_NAMED, pushAll } from './push-all.ts';

/** What a sync with each remote starts from. */
export interface SyncWorld {
  readonly repository: Repository;
  readonly sessions: readonly StoredSession[];
  readonly context: Context;
  readonly options: SyncOptions;
  /** Below which refs handoffs stand at remotes. */
  readonly prefix: string;
  /** The ref component of the only branch that is asked for. */
  readonly component: string | undefined;
  readonly me: SessionId | undefined;
}

/** Rounds until what others push at the same time has settled. */
const MAX_ROUNDS = 6;
/**
 * One remote: look, fetch, fold, push; again, when somebody else was faster. `states`: the topics, where they have just
 * been read.
 */
export async function syncRemote(
  world: SyncWorld,
  remote: Remote,
  states: readonly TopicState[] | undefined,
): Promise<{ items: SyncShape[]; same: number }> {
  const report = new SyncReport(remote.name, world.prefix);
  for (let round = 0; ; round++) {
    if (round > 0) await pause(round);
    const settled = await syncOnce(world, remote, report, round === 0 ? states : undefined);
    if (settled || round + 1 >= MAX_ROUNDS) return { items: report.items(), same: report.same };
  }
}

/** Those who lost together must not meet again in step. Milliseconds. */
function pause(round: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 40 * 2 ** round));
}

/** One look at the remote and all that follows from it; `false`: somebody was faster somewhere. */
async function syncOnce(
  world: SyncWorld,
  remote: Remote,
  report: SyncReport,
  states: readonly TopicState[] | undefined,
): Promise<boolean> {
  const { repository, options, prefix, component } = world;
  const transfer = transferOptions(world, remote);
  const below = component === undefined ? prefix : `${prefix}${component}/`;
  const [shown, before] = await Promise.all([
    showRemote(transfer, remote.name, below),
    readSyncedTopics(repository, remote.name, component, states),
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
  const tracked = new Map(before.map((one) => [handoffRef(one.path), one.there?.oid]));
  const unseen = [...there].filter(([ref, oid]) => tracked.get(ref as never) !== oid);
  // What was removed here does not come back as long as it is what it was: no ref and no object of it.
  const removed = unseen.length === 0 || !options.fetch ? undefined : await readRemoved(repository);
  const standing = new Set(
    before.flatMap(({ path, here }) => (here === undefined ? [] : [handoffRef(path)])),
  );
  // Where it was written anew the two have to meet.
  const news = unseen.filter(([ref, oid]) => removed?.get(ref) !== oid || standing.has(ref as never));
  let topics = before;
  if (options.fetch && news.length > 0) {
    await fetchRefs(transfer, remote.name, refspecs(world, remote.name, { news, unseen, shown }));
    topics = await readSyncedTopics(repository, remote.name, component);
  }
  let isSettled = true;
  // What the remote shows no longer is told as deleted, and moves nothing.
  const isShown = ({ path }: SyncedTopic) => there.has(handoffRef(path));
  let differences = await findDifferences(repository, topics.filter(isShown));
  if (options.fetch) {
    const folded = await fold(world, differences, topics, report);
    isSettled = !folded.some(({ kind }) => kind === 'moved');
    if (folded.some(({ kind }) => kind !== 'nothing' && kind !== 'refuse')) {
      topics = await readSyncedTopics(repository, remote.name, component);
      differences = await findDifferences(repository, topics.filter(isShown));
      report.know(topics);
    }
  }
  if (!options.push) return isSettled;
  return (await push(world, remote, { topics, differences, there }, report)) && isSettled;
}

const isSame = (here: Oid | undefined, there: Oid | undefined) => here !== undefined && here === there;

function transferOptions({ repository, options }: SyncWorld, remote: Remote): TransferOptions {
  const { mayAsk, onProgress } = options;
  return {
    cwd: repository.cwd,
    mayAsk,
    onProgress: onProgress === undefined ? undefined : (progress) => onProgress(remote.name, progress),
  };
}

interface News {
  /** What is wanted of what was not seen before. */
  readonly news: readonly (readonly [ref: string, oid: Oid])[];
  readonly unseen: readonly (readonly [ref: string, oid: Oid])[];
  readonly shown: readonly ShownRef[];
}

/** What to fetch: by name when it is little; by pattern without what could not be ours when it is much. */
function refspecs({ prefix, component }: SyncWorld, remote: string, { news, unseen, shown }: News): string[] {
  if (news.length <= MAX_NAMED)
    return news.map(([ref]) => {
      const place = ref.slice(HANDOFFS.length);
      return `+${prefix}${place}:${remotePrefix(remote)}${place}`;
    });
  const below = component === undefined ? '' : `${component}/`;
  const strange = shown.filter(({ name, odd }) => odd !== undefined || parsePath(name, prefix) === undefined);
  const wanted = new Set(news.map(([ref]) => ref));
  const unwanted = unseen
    .filter(([ref]) => !wanted.has(ref))
    .map(([ref]) => prefix + ref.slice(HANDOFFS.length));
  const left = [...strange.map(({ name }) => name), ...unwanted];
  return [`+${prefix}${below}*:${remotePrefix(remote)}${below}*`, ...left.map((name) => `^${name}`)];
}

async function fold(
  world: SyncWorld,
  differences: readonly Difference[],
  topics: readonly SyncedTopic[],
  report: SyncReport,
): Promise<readonly Folded[]> {
  const { repository, options } = world;
  const leaveDiverged = options.mergeNote !== undefined;
  const folded = await foldDifferences(repository, differences, topics, { leaveDiverged });
  const conflicts = folded.filter(({ kind }) => kind === 'conflict');
  if (options.mergeNote !== undefined && conflicts.length > 0) {
    const merged = await mergeConflicts(
      world,
      conflicts.map(({ difference }) => difference),
      options.mergeNote,
    );
    report.merged(merged);
  }
  report.folded(folded);
  return folded;
}

/** Says what a sync would do, as far as it can be told without fetching. */
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

interface Push {
  readonly topics: readonly SyncedTopic[];
  readonly differences: readonly Difference[];
  readonly there: ReadonlyMap<string, Oid>;
}

/** Pushes what goes on from the remote's; `false`: somebody was faster. */
async function push(
  world: SyncWorld,
  remote: Remote,
  { topics, differences, there }: Push,
  report: SyncReport,
): Promise<boolean> {
  const { options, prefix } = world;
  const ahead = new Set(
    differences.filter(({ facts }) => facts.relation === 'ahead').map(({ path }) => handoffRef(path)),
  );
  const outgoing: Outgoing[] = [];
  const arrived: Outgoing[] = [];
  for (const { path, here, there: tracked } of topics) {
    const tip = here?.tip?.oid;
    if (tip === undefined) continue;
    const ref = handoffRef(path);
    const facts = { tip, shown: there.get(ref), tracked: tracked?.oid, isAhead: ahead.has(ref) };
    const action = decidePush({ ...facts, restore: options.restore });
    // What was fetched in this round is newer than what was shown.
    const isFolded = action === 'behind' && options.fetch && ahead.has(ref);
    // It got there unseen: by a push that was killed, or under another remote's name.
    if (action === 'current' && tracked?.oid !== tip) arrived.push({ path, tip, old: tracked?.oid });
    if (action === 'push' || isFolded) outgoing.push({ path, tip, old: tracked?.oid });
    else if (action === 'deleted-there' || (action === 'behind' && !options.fetch))
      report.left(path, tip, action);
    else if (action === 'blocked' && !options.fetch) report.left(path, tip, 'behind');
  }
  await track(world, remote, arrived);
  const leaving = outgoing.length === 0 ? [] : await withoutSecrets(world, remote.name, outgoing, report);
  if (leaving.length === 0) return true;
  if (there.size === 0) options.warn(firstPush(world, remote, leaving.length));
  const byRef = new Map(leaving.map((one) => [prefix + handoffRef(one.path).slice(HANDOFFS.length), one]));
  const outcomes = await pushAll(world, transferOptions(world, remote), {
    remote: remote.name,
    there,
    outgoing: byRef,
  });
  const pushed = outcomes.flatMap(({ ref, kind }) => (kind === 'pushed' ? (byRef.get(ref) ?? []) : []));
  await track(world, remote, pushed);
  report.pushed(outcomes, byRef);
  return !outcomes.some(({ kind }) => kind === 'moved');
}

/** Remembers what stands at the remote now. */
async function track({ repository }: SyncWorld, { name }: Remote, there: readonly Outgoing[]): Promise<void> {
  const moved = there.filter(({ tip, old }) => tip !== old);
  const updates = moved.map(({ path, tip, old }) => ({ ref: trackingRef(name, path), next: tip, old }));
  if (updates.length > 0) await updateRefs(repository, updates, { repeatable: true });
}

function firstPush({ component }: SyncWorld, { name, pushUrls }: Remote, count: number): string {
  const what =
    count === 1
      ? 'a handoff goes, with its whole history,'
      : `${count} handoffs go, each with its whole history,`;
  return (
    `${name} shows no handoff${component === undefined ? '' : ' of this branch'} yet: ` +
    `${what} to ${pushUrls.map(shownAddress).join(' and ')}, where everybody who can read that repository can read them`
  );
}
