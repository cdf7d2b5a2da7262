import { Failure } from '../../domain/failure.ts';
import { type Oid, type Topic, parseTopic } from '../../domain/names.ts';
import { type FoldAction, decideFold } from '../../domain/sync/fold.ts';
import type { IllegalReason } from '../../domain/transition.ts';
import { inBatches, twoAtOnce } from '../../git/batches.ts';
import { type LoadedCommit, loadCommits } from '../../git/commits.ts';
import { handoffRef, keptRef, prunedRef, type HandoffPath } from '../../git/namespace.ts';
import { tipNotes } from '../../git/note-blobs.ts';
import { ObjectBatch } from '../../git/object-batch.ts';
import { type RefUpdate, updateRefs } from '../../git/ref-updates.ts';
import { type Repository, objectFormat } from '../../git/repository.ts';
import { addCommit } from '../handoffs.ts';
import { readHistory } from '../topic.ts';
import { type Difference, type SyncedTopic, findDifferences } from './differences.ts';

/** What became of one topic. */
export interface Folded {
  readonly difference: Difference;
  /** `moved`: it was written on meanwhile; the next look decides anew. */
  readonly kind: FoldAction['kind'] | 'moved' | 'conflict';
  readonly reason: IllegalReason | undefined;
  /** `set-aside`: what our line is called now. */
  readonly aside: Topic | undefined;
}

interface FoldOptions {
  /** Both sides of a divergence are left as they are (`conflict`), for a merge. */
  readonly leaveDiverged: boolean;
}

/** Handoffs in one transaction. */
const BATCH = 5000;

/** What became of all topics. */
interface FoldedAll {
  readonly differences: readonly Difference[];
  readonly folded: readonly Folded[];
}

/**
 * Folds what a remote shows into what stands here, each handoff by compare-and-swap from what was read. Nothing that
 * anybody wrote goes: a line that diverged goes on under another name, with all that was written before.
 *
 * @param topics those that the remote shows
 * @param all whose names are in use
 */
export async function foldTopics(
  repository: Repository,
  topics: readonly SyncedTopic[],
  all: readonly SyncedTopic[],
  options: FoldOptions,
): Promise<FoldedAll> {
  const differences = await findDifferences(repository, topics);
  const moved = await moveAll(repository, differences);
  let taken: TakenNames | undefined;
  const folded: Folded[] = [];
  for (const difference of differences) {
    const action = decideFold(difference.facts);
    const plain = {
      difference,
      reason: action.kind === 'refuse' ? action.reason : undefined,
      aside: undefined,
    };
    if (moved.has(difference)) folded.push({ ...plain, kind: 'moved' });
    else if (action.kind !== 'set-aside') folded.push({ ...plain, kind: action.kind });
    else if (options.leaveDiverged) folded.push({ ...plain, kind: 'conflict' });
    else {
      taken ??= new TakenNames(all);
      const aside = await setAside(repository, difference, taken);
      folded.push({ ...plain, kind: aside === undefined ? 'moved' : 'set-aside', aside });
    }
  }
  return { differences, folded };
}

/** Moves to what the remote shows whatever can simply go there; returns what somebody else moved meanwhile. */
async function moveAll(
  repository: Repository,
  differences: readonly Difference[],
): Promise<ReadonlySet<Difference>> {
  const simple = differences.filter(({ facts }) =>
    ['create', 'forward', 'follow'].includes(decideFold(facts).kind),
  );
  // What is new here has no former value that a reflog could name.
  const isNew = ({ here }: Difference) => here?.publicOid === undefined && here?.keptOid === undefined;
  const groups = [simple.filter(isNew), simple.filter((one) => !isNew(one))];
  const batches = groups.flatMap((group) => inBatches(group, BATCH));
  const moved = new Set<Difference>();
  const move = async (batch: readonly Difference[]): Promise<void> => {
    if (await apply(repository, batch.flatMap(toTheirs), batch.every(isNew))) return;
    if (batch.length === 1) batch.forEach((one) => moved.add(one));
    else for (const half of inBatches(batch, Math.ceil(batch.length / 2))) await move(half);
  };
  await twoAtOnce(batches, move);
  return moved;
}

async function apply(
  repository: Repository,
  updates: readonly RefUpdate[],
  isNew: boolean,
): Promise<boolean> {
  const options = isNew ? { repeatable: true } : { reflog: 'handoff: fetch' };
  return (await updateRefs(repository, updates, options)).kind === 'done';
}

/** Public ref first, `kept` second, as every write does. */
function toTheirs({ path, here, there, pruned }: Difference): RefUpdate[] {
  const forgotten = pruned === undefined ? [] : [{ ref: prunedRef(path), next: undefined, old: pruned }];
  const next = there.oid;
  const changed = (ref: RefUpdate['ref'], old: Oid | undefined) => (old === next ? [] : [{ ref, next, old }]);
  return [
    ...changed(handoffRef(path), here?.publicOid),
    ...changed(keptRef(path), here?.keptOid),
    ...forgotten,
  ];
}

/** Gives our line another name, and the remote's line its name, in one transaction; `undefined`: it moved. */
async function setAside(
  repository: Repository,
  difference: Difference,
  taken: TakenNames,
): Promise<Topic | undefined> {
  const line: AsideLine = await asideLine(repository, difference, taken);
  // Our line has its new name before the old one goes: a crash in between leaves both.
  const renamed = line.isThere
    ? []
    : [
        { ref: handoffRef(line.path), next: line.oid, old: undefined },
        { ref: keptRef(line.path), next: line.oid, old: undefined },
      ];
  if (!(await apply(repository, [...renamed, ...toTheirs(difference)], false))) return undefined;
  await line.secure();
  taken.add(line.path, line.oid);
  return line.path.topic;
}

/** Which names are in use, here or at the remote, and for which commits. */
class TakenNames {
  readonly #oids = new Map<string, Set<Oid>>();

  constructor(topics: readonly SyncedTopic[]) {
    for (const { path, here, there } of topics) {
      for (const oid of [here?.publicOid, here?.keptOid, there?.oid])
        if (oid !== undefined) this.add(path, oid);
    }
  }

  add(path: HandoffPath, oid: Oid): void {
    const ref = handoffRef(path);
    this.#oids.set(ref, (this.#oids.get(ref) ?? new Set()).add(oid));
  }

  /** Whether a name is free, taken by something else, or holds that very commit already (an earlier try was killed). */
  isFreeFor(path: HandoffPath, oid: Oid): 'free' | 'taken' | 'there' {
    const oids = this.#oids.get(handoffRef(path));
    if (oids === undefined) return 'free';
    return oids.size === 1 && oids.has(oid) ? 'there' : 'taken';
  }
}

/** A line under its new name. */
interface AsideLine {
  readonly path: HandoffPath;
  readonly oid: Oid;
  readonly isThere: boolean;
  /** To be called once a ref holds it. */
  secure(): Promise<void>;
}

/**
 * Stores the commit by which our line of a topic goes on under the next free name. Whoever makes it of the same line
 * makes the same commit: two clones of one machine, or a second try after a crash, do not part once more.
 *
 * @throws Failure `integrity` when our tip cannot be read
 */
async function asideLine(
  repository: Repository,
  { path, here }: Difference,
  taken: TakenNames,
): Promise<AsideLine> {
  const tip = here?.tip?.oid;
  const options = { cwd: repository.cwd };
  const [commit] = tip === undefined ? [] : await loadCommits(options, [tip]);
  const note = commit === undefined ? undefined : (await tipNotes(repository, [commit.oid])).get(commit.oid);
  if (commit === undefined || note === undefined)
    throw new Failure('integrity', `the last commit of ${handoffRef(path)} cannot be read`, {
      hint: 'git fsck --connectivity-only',
    });
  const formerly = (await readHistory(repository, commit.oid)).find(
    ({ trailers }) => trailers?.divergedFrom !== undefined,
  )?.trailers?.divergedFrom;
  const format = await objectFormat(repository, commit.oid);
  for (const topic of asideNames(path.topic, formerly)) {
    const batch = new ObjectBatch(format);
    const oid = renamed(batch, commit, note, path.topic, topic);
    const aside = { component: path.component, topic };
    const state = taken.isFreeFor(aside, oid);
    if (state === 'taken') continue;
    await batch.store(options);
    return { path: aside, oid, isThere: state === 'there', secure: () => batch.secure(repository) };
  }
  throw new Failure('integrity', `no name is free for another line of ${path.topic}`, {
    hint: 'git handoff list --all',
  });
}

/** The note, the owner, the author and the time stay: nothing was written, it is only called otherwise. */
function renamed(batch: ObjectBatch, tip: LoadedCommit, note: Oid, former: Topic, topic: Topic): Oid {
  if (tip.trailers === undefined || tip.recorded === undefined)
    throw new Failure('internal', 'a tip without trailers was to be set aside');
  const { summary, seconds, name, mail } = tip;
  return addCommit(batch, {
    parents: [tip],
    note,
    recorded: { ...tip.recorded, topic },
    summary,
    trailers: { ...tip.trailers, takenFrom: undefined, succeeds: undefined, divergedFrom: former },
    author: { name, email: mail },
    seconds,
  }).oid;
}

const MAX_TOPIC = 100;
const MAX_TRIES = 10_000;

/**
 * Names for the line of a topic that is set aside, in the order in which they are tried: `<topic>-2`, `<topic>-3` …
 * A line that was set aside before (`formerly` is what it was called then) is numbered on.
 */
function* asideNames(topic: Topic, formerly: Topic | undefined): Generator<Topic> {
  const isNumbered = formerly !== undefined && topic.startsWith(formerly);
  const stem = isNumbered && /^-\d+$/.test(topic.slice(formerly.length)) ? formerly : topic;
  for (let number = 2; number < MAX_TRIES; number++) {
    const ending = `-${number}`;
    const name = parseTopic(`${stem.slice(0, MAX_TOPIC - ending.length).replace(/-$/, '')}${ending}`);
    if (name !== undefined && name !== topic) yield name;
  }
}
