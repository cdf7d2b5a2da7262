import type { Oid } from '../domain/names.ts';
import {
  type Apart,
  type RemoteRelation,
  decideRelation,
  localOnly,
  summariseRemotes,
} from '../domain/tracking/relation.ts';
import { type Parents, historyOf, walkEach } from '../git/histories.ts';
import {
  type HandoffPath,
  PRUNED,
  REMOTE,
  decodeRemote,
  parseTrackingRef,
  placeName,
} from '../git/namespace.ts';
import type { RefValue } from '../git/refs.ts';
import type { InRepository } from '../git/repository.ts';
import type { Budget } from '../host/io.ts';
import { memoryName } from './delete-notes.ts';

/** The time limit for counting, more than any repository needs; after it, counts are `unknown`. Milliseconds. */
const COUNTING_MS = 2000;

/** A handoff and the tip that counts here. */
export interface LocalTip {
  readonly path: HandoffPath;
  readonly oid: Oid | undefined;
}

/**
 * Compares local tips with tracking refs, offline. Equal tips are in sync; one git process is started only if some differ.
 * The result tells how a handoff relates to each remote that was ever asked, and sums up each remote.
 *
 * @param refs the tracking refs, and those that record deletions here; other refs among them are ignored
 */
export async function compareWithRemotes(
  repository: InRepository,
  refs: readonly RefValue[],
  tips: readonly LocalTip[],
  budget: Budget,
) {
  const remotes = byRemote(refs);
  const local = new Map(tips.flatMap(({ path, oid }) => (oid === undefined ? [] : [[placeName(path), oid]])));
  const deleted = new Map(
    refs.flatMap(({ name, oid }) => (name.startsWith(PRUNED) ? [[name as string, oid]] : [])),
  );
  const isDeleted = (place: string, copy: Oid) => deleted.get(PRUNED + place) === memoryName(copy);
  const pairs = new Map<string, TipPair>();
  const remoteOnly = new Map<string, number>();
  for (const [remote, copies] of remotes) {
    for (const [place, copy] of copies) {
      const tip = local.get(place);
      if (tip === undefined) {
        if (isHandoff(place) && !isDeleted(place, copy))
          remoteOnly.set(remote, (remoteOnly.get(remote) ?? 0) + 1);
      } else if (tip !== copy) pairs.set(`${remote} ${place}`, { local: tip, remote: copy });
    }
  }
  const { cwd } = repository;
  const timeoutMs = budget.part(COUNTING_MS).left();
  const tipsOf = ({ local: ours, remote }: TipPair) => [ours, remote];
  // Out of time, no count is known.
  const walks = await walkEach({ cwd, timeoutMs }, [...pairs.values()], tipsOf).catch(() => undefined);
  const apart = new Map([...pairs].map(([key, pair]) => [key, countApart(pair, walks?.get(pair))]));
  const relate = (place: string) =>
    [...remotes].map(([remote, copies]) => {
      if (!copies.has(place)) return localOnly(remote);
      const key = `${remote} ${place}`;
      return decideRelation(remote, apart.has(key) ? apart.get(key) : { ahead: 0, behind: 0 });
    });
  const relations = new Map([...local.keys()].map((place) => [place, relate(place)]));
  return {
    of: (path: HandoffPath): readonly RemoteRelation[] => relations.get(placeName(path)) ?? [],
    summary: summariseRemotes([...remotes.keys()], [...relations.values()].flat(), remoteOnly),
  };
}

/** Two tips of one handoff. */
interface TipPair {
  readonly local: Oid;
  readonly remote: Oid;
}

/** Counts the commits that only one side has; `undefined` if the histories could not be read. */
function countApart({ local, remote }: TipPair, walked: Parents | string | undefined): Apart | undefined {
  if (typeof walked !== 'object' || !walked.has(local) || !walked.has(remote)) return undefined;
  const [ours, theirs] = [historyOf(walked, local), historyOf(walked, remote)];
  const without = (some: ReadonlySet<Oid>, others: ReadonlySet<Oid>) =>
    [...some].filter((commit) => !others.has(commit)).length;
  return { ahead: without(ours, theirs), behind: without(theirs, ours) };
}

/** The tips of each remote, by place (`<branch>/<topic>` as refs spell it). */
function byRemote(refs: readonly RefValue[]): Map<string, Map<string, Oid>> {
  const components = new Map<string, Map<string, Oid>>();
  for (const { name, oid } of refs) {
    if (!name.startsWith(REMOTE)) continue;
    const slash = name.indexOf('/', REMOTE.length);
    if (slash < 0) continue;
    const component = name.slice(REMOTE.length, slash);
    const copies = components.get(component) ?? new Map<string, Oid>();
    components.set(component, copies.set(name.slice(slash + 1), oid));
  }
  return new Map([...components].map(([component, copies]) => [decodeRemote(component), copies]));
}

/** Whether a handoff can have this name: a ref of any other name is not to be fetched. */
const isHandoff = (place: string) => parseTrackingRef(`${REMOTE}x/${place}`) !== undefined;
