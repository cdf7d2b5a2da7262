import type { HandoffCommit } from '../domain/handoff.ts';
import type { RelatedSessions } from '../domain/commit-message.ts';
import { type BranchName, type Oid, type Topic, parseBranchName } from '../domain/names.ts';
import type { IllegalReason } from '../domain/transition.ts';
import {
  type ListedCommit,
  type LoadedCommit,
  loadCommits,
  loadSettled,
  readListed,
  wholeHistory,
} from '../git/commits.ts';
import { listBookkeeping, listBookkeepingRefs } from '../git/migrate-ref-lists.ts';
import {
  HANDOFFS,
  type HandoffPath,
  KEPT,
  decodeBranch,
  handoffRef,
  keptRef,
  parsePath,
} from '../git/namespace.ts';
import { listRefs, type Ref, type RefValue } from '../git/refs.ts';
import type { InRepository } from '../git/repository.ts';
import type { StoredSession } from '../sessions/records.ts';
import { judgeMoves } from './moves.ts';

/** How a public ref was moved illegally from `keptOid`. The ref's value is then not shown as the tip. */
interface IllegalMove {
  readonly reason: IllegalReason;
  /** The ref's value; `undefined` when the ref is gone. */
  readonly bad: Oid | undefined;
}

/** One topic as it is now: its effective tip, and the values that the next swap starts from. */
export interface TopicState {
  readonly path: HandoffPath;
  readonly branch: BranchName;
  readonly topic: Topic;
  /** The effective tip: the public ref when its move is legal, else what was kept. */
  readonly tip: HandoffCommit | undefined;
  readonly publicOid: Oid | undefined;
  /** The commit that was written or accepted here last. */
  readonly keptOid: Oid | undefined;
  readonly illegal: IllegalMove | undefined;
}

export interface ReadableTopic extends TopicState {
  readonly note?: Buffer | undefined;
}

const MAX_READS = 5;

/** Reads one topic with its tip and, if asked, its note. The common case, a public ref equal to `kept`, costs one process. */
export async function readTopic(
  repository: InRepository,
  path: HandoffPath,
  { note = false } = {},
): Promise<ReadableTopic> {
  const common = await readSettledTopic(repository, path, note);
  if (common !== undefined) return common;
  let state = await compareTopic(repository, path, note);
  // git does not read two refs in one step: a write in between must not look like a move by hand.
  for (let reads = 1; state.illegal !== undefined && reads < MAX_READS; reads++) {
    const again = await compareTopic(repository, path, note);
    if (again.publicOid === state.publicOid && again.keptOid === state.keptOid) return again;
    state = again;
  }
  return state;
}

/** Reads `kept` before the public ref. A write moves the public ref first, so `kept` never seems to be ahead. */
async function readSettledTopic(
  repository: InRepository,
  path: HandoffPath,
  note: boolean,
): Promise<ReadableTopic | undefined> {
  const settled = await loadSettled({ cwd: repository.cwd }, keptRef(path), handoffRef(path), note);
  return settled && { ...settledState(path, branchFor(path, settled), settled), note: settled.note };
}

async function compareTopic(
  repository: InRepository,
  path: HandoffPath,
  note: boolean,
): Promise<ReadableTopic> {
  const refs = await listBookkeepingRefs(repository, [handoffRef(path), keptRef(path)]);
  const publicRef = refs.find((ref) => ref.name === handoffRef(path));
  const keptOid = refs.find((ref) => ref.name === keptRef(path))?.oid;
  const publicOid = publicRef?.oid;
  const reason = await illegalReason(repository, path, publicRef, keptOid);
  const illegal = isShown(reason) ? undefined : { reason, bad: publicOid };
  const tipOid = illegal === undefined ? publicOid : keptOid;
  const [tip] =
    tipOid === undefined ? [] : await loadCommits({ cwd: repository.cwd }, [tipOid], { notes: note });
  const branch = branchFor(path, tip);
  return { path, branch, topic: path.topic, tip, publicOid, keptOid, illegal, note: tip?.note };
}

/**
 * Reads every topic (or those of one branch component); of a tip it reads only the commit object. Costs three processes,
 * however many topics there are, and one or two more for each that was moved by hand.
 */
export async function readTopics(repository: InRepository, component?: string): Promise<TopicState[]> {
  const below = component === undefined ? '' : `${component}/`;
  return readTopicsBeside(repository, below, listBookkeeping(repository, [KEPT + below]));
}

/** Reads topics as `readTopics` does; `local` lists the refs of `kept`, and perhaps others that the caller needs. */
export async function readTopicsBeside(
  repository: InRepository,
  below: string,
  local: Promise<readonly RefValue[]>,
): Promise<TopicState[]> {
  const [publicRefs, localRefs] = await Promise.all([listRefs(repository, [HANDOFFS + below]), local]);
  const kept = new Map(
    localRefs.flatMap(({ name, oid }) => (name.startsWith(KEPT) ? [[name.slice(KEPT.length), oid]] : [])),
  );
  const found = publicRefs.flatMap((ref) => {
    const path = parsePath(ref.name, HANDOFFS);
    return path === undefined ? [] : [{ ref, path, keptOid: kept.get(ref.name.slice(HANDOFFS.length)) }];
  });
  const oids = found.flatMap(({ ref }) => (isPlainCommit(ref) ? ref.oid : []));
  const listed = await readListed({ cwd: repository.cwd }, oids);
  const tips = new Map(listed.map((tip) => [tip.oid, tip]));
  const fetched = await judgeFetched(repository, found, tips);
  const states: TopicState[] = [];
  for (const { ref, path, keptOid } of found) {
    const isSettled = ref.oid === keptOid && !ref.symbolic;
    const state = fetched.get(ref.name) ?? (isSettled ? listedState(path, tips.get(ref.oid)) : undefined);
    states.push(state ?? (await readTopic(repository, path)));
  }
  for (const { name } of publicRefs) kept.delete(name.slice(HANDOFFS.length));
  for (const place of kept.keys()) {
    const path = parsePath(KEPT + place, KEPT);
    if (path !== undefined) states.push(await readTopic(repository, path));
  }
  return states;
}

/** Judges in one go all topics that have no `kept`: a fresh clone may have thousands of them, and CI has no others. */
async function judgeFetched(
  repository: InRepository,
  found: readonly { ref: Ref; path: HandoffPath; keptOid: Oid | undefined }[],
  tips: ReadonlyMap<Oid, ListedCommit>,
): Promise<ReadonlyMap<string, TopicState>> {
  const fetched = found.filter(({ ref, keptOid }) => keptOid === undefined && isPlainCommit(ref));
  const states = new Map<string, TopicState>();
  if (fetched.length < 2) return states;
  const moves = fetched.map(({ ref, path }) => ({ path, old: undefined, next: ref.oid }));
  const reasons = await judgeMoves({ cwd: repository.cwd }, moves);
  for (const [at, { ref, path }] of fetched.entries()) {
    const reason = reasons[at];
    const bad = ref.oid;
    const nothing = { path, branch: branchFor(path, undefined), topic: path.topic, tip: undefined };
    const state = isShown(reason)
      ? listedState(path, tips.get(bad))
      : { ...nothing, publicOid: bad, illegal: { reason, bad } };
    if (state !== undefined) states.set(ref.name, { ...state, keptOid: undefined });
  }
  return states;
}

/** A topic's state, from its tip alone; `undefined` without a tip, or if the component is a cut branch name. */
function listedState(path: HandoffPath, tip: ListedCommit | undefined): TopicState | undefined {
  const branch = decodeBranch(path.component);
  return branch && tip && settledState(path, branch, tip);
}

/** The state in the common case: the public ref equals `kept`. */
function settledState(path: HandoffPath, branch: BranchName, tip: HandoffCommit): TopicState {
  const { oid } = tip;
  return { path, branch, topic: path.topic, tip, publicOid: oid, keptOid: oid, illegal: undefined };
}

const isPlainCommit = (ref: Ref) => ref.type === 'commit' && !ref.symbolic;

/** A commit of a later version is shown, but never written over: decideOwnership refuses that. */
const isShown = (reason: IllegalReason | undefined): reason is 'unknown format version' | undefined =>
  reason === undefined || reason === 'unknown format version';

/** Walks from `kept` to the public ref; `undefined` when every step is legal. */
async function illegalReason(
  repository: InRepository,
  path: HandoffPath,
  publicRef: Ref | undefined,
  keptOid: Oid | undefined,
): Promise<IllegalReason | undefined> {
  if (publicRef === undefined) return keptOid === undefined ? undefined : 'deleted';
  if (!isPlainCommit(publicRef)) return 'not a descendant';
  if (publicRef.oid === keptOid) return undefined;
  const [reason] = await judgeMoves(repository, [{ path, old: keptOid, next: publicRef.oid }]);
  return reason;
}

/** The branch of a component. If its name was cut, the tip's `state.json` has the full name. */
function branchFor(path: HandoffPath, tip: HandoffCommit | undefined): BranchName {
  const recorded = tip?.recorded === undefined ? undefined : parseBranchName(tip.recorded.branch);
  return decodeBranch(path.component) ?? recorded ?? (path.component as BranchName);
}

/** The commits of a topic's history, newest first, with both lines of a merge. */
export async function readHistory(repository: InRepository, tip: Oid): Promise<LoadedCommit[]> {
  const options = { cwd: repository.cwd };
  const loaded = await loadCommits(options, await wholeHistory(options, tip));
  return loaded.filter((commit) => commit !== undefined);
}

/** Pairs of sessions, of which one continues the conversation of the other or runs inside the other. */
export function relatedSessions(
  sessions: readonly StoredSession[],
  states: readonly TopicState[],
): RelatedSessions[] {
  const recorded = sessions.flatMap(({ record: { session, succeeds, parent } }) =>
    [succeeds, parent].flatMap((other): RelatedSessions[] => (other === null ? [] : [[session, other]])),
  );
  const written = states.flatMap(({ tip }): RelatedSessions[] => {
    const { owner, succeeds } = tip?.trailers ?? {};
    return owner === undefined || succeeds === undefined ? [] : [[owner, succeeds]];
  });
  return [...recorded, ...written];
}
