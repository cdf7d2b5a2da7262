import { join, basename } from 'node:path';
import { type OtherTree, overlapsElsewhere } from '../../changes/overlaps.ts';
import { ledgerOf } from '../../changes/windows.ts';
import { type UnknownValue, unknownValueText } from '../../domain/settings.ts';
import { isMarkerFileName } from '../../domain/marker.ts';
import { type SessionId, shortId, ownerName } from '../../domain/names.ts';
import { related } from '../../domain/session.ts';
import { hasNothing, startupText, MAX_NOTES, type StartupFacts } from '../../domain/startup.ts';
import { randomHex } from '../../git/hash.ts';
import { FILES, LIVE } from '../../git/namespace.ts';
import { listRefs, type Ref } from '../../git/refs.ts';
import { type Repository, openRepository } from '../../git/repository.ts';
import { listWorktrees, readTreeStatus } from '../../git/worktrees.ts';
import { entries, readText, realPath } from '../../host/disk.ts';
import { hasMarker } from '../../install/hook-block.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { type Budget, beforeAnswer, inTime } from '../../host/io.ts';
import { memoryFolder } from '../../host/marker-files.ts';
import { rememberFiles, settleCopies } from '../../notes/guarded-files.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import { judgeBranches, type BranchStaleness, stalenessOf } from '../../notes/staleness.ts';
import { type TopicState, readTopics } from '../../notes/topic.ts';
import { appendSessionEvents, readJournals } from '../../sessions/journal.ts';
import { type JudgedSession, removeRecords, sessionsFrom } from '../../sessions/records.ts';
import type { TreeCall, Finding } from '../call.ts';
import { installedHooks } from '../checks/hook-files.ts';
import { deliverRequests } from '../effects/news.ts';
import { tidy } from '../effects/tidy.ts';
import { closeSettled, noteGone, closeOwn } from './automatic.ts';
import { type Registered, register } from './registration.ts';
import { ago } from '../../domain/messages.ts';
import type { AutomaticReason, HandoffCommit } from '../../domain/handoff.ts';
import { noteExcerpt } from '../../domain/note/sections.ts';
import type { Staleness } from '../../domain/staleness.ts';
import { loadCommits } from '../../git/commits.ts';
import { commitOwner } from '../../notes/person-name.ts';
import { MAX_AUTOMATIC, byAge, rankIn, typedTopic } from '../../notes/topic-argument.ts';

/** How long to keep records of ended sessions, for `sessions --all` and to find continued conversations. Milliseconds. */
const KEEP_ENDED_MS = 7 * 86_400_000;

/**
 * Registers the session, and tells it what others left here and who else is at work. If time is short, the text may be left
 * out, but never the start list and the record: without them the session's work would have no owner.
 */
export async function sessionStart(call: TreeCall): Promise<readonly Finding[]> {
  const repository = await openRepository(call.tree.folder);
  // The topics do not depend on the session's record, so we read them meanwhile.
  const topics = readTopics(repository);
  topics.catch(() => undefined);
  const options = { content: true, timeoutMs: beforeAnswer(call.budget) };
  const records = await listRefs(repository, [LIVE, FILES], options);
  const registered = await register(call, sessionsFrom(records));
  const budget = call.budget.part(beforeAnswer(call.budget));
  const text = await inTime(
    writeStartText(call, { repository, records, topics, registered, budget }),
    budget,
  ).catch((error: unknown) => {
    call.log('error', `the start text could not be written: ${String(error)}`);
    return 'late' as const;
  });
  if (text === undefined) return [];
  const notices = registered.notices.map((line) => `\n${line}`).join('');
  const who = ownerName(call.session, { client: registered.record.client });
  const short = `git-handoff: you are ${who}. What others left here could not be read in time. To read it: git handoff boot`;
  return [{ kind: 'tell', text: text === 'late' ? `${short}${notices}` : text }];
}

interface Started {
  readonly repository: Repository;
  /** The refs of sessions and file copies, with their content, as they were before this session was recorded. */
  readonly records: readonly Ref[];
  readonly topics: Promise<TopicState[]>;
  readonly registered: Registered;
  readonly budget: Budget;
}

/** Writes the start text; `undefined` when it would tell the session nothing new. */
async function writeStartText(call: TreeCall, started: Started): Promise<string | undefined> {
  const { session } = call;
  const { repository, records, registered } = started;
  const isChanged = await settleNotes(call, started);
  const { reading, judging } = judgedTopics(started, isChanged);
  const peers = livePeers(registered, session);
  const copies = records.filter(({ name }) => name.startsWith(FILES));
  const [states, notes, files, worktrees] = await Promise.all([
    reading,
    reading.then((read) => startupNotes(repository, read, judging, { session, now: call.now })),
    settleCopies(call.cwd, copies, session).finally(() => rememberFiles(call.cwd, call.machine.files.all())),
    peers.length === 0 ? [] : listWorktrees({ cwd: call.tree.folder }),
  ]);
  const ledger = ledgerOf(call.tree, session);
  const notices = [
    ...registered.notices,
    ...(ledger === undefined ? [] : await deliverRequests(call, ledger)),
    ...files,
    ...(await reportIllegalMoves(repository, states, call.now)),
    ...lostHooks(repository.commonDir),
    ...newUnknownSettings(call, call.settings.unknown),
  ];
  const old = registered.others.filter((one) => isOld(one, call.now));
  await removeRecords(repository, old);
  const kept = registered.others.filter((one) => !old.includes(one));
  tidy(call, kept);
  const branches = new Map(worktrees.map(({ gitDir, branch }) => [knownWorktreeId(gitDir), branch]));
  await closeOwn(call, repository, registered, states);
  const worktree = knownWorktreeId(repository.gitDir);
  const elsewhere = peers.filter(({ worktreeId }) => worktreeId !== worktree);
  const overlaps = elsewhere.length === 0 ? [] : await overlapsOf(call, elsewhere, started.budget);
  const facts = {
    session,
    client: registered.record.client,
    branch: repository.branch,
    ...notes,
    peers: peers.map(({ record, worktreeId }) => ({
      session: shortId(record.session),
      client: record.client,
      where: worktreeId === worktree ? undefined : (branches.get(worktreeId) ?? 'a detached HEAD'),
      shared: overlaps.find(({ id }) => id === worktreeId)?.overlaps.map(({ path }) => path) ?? [],
    })),
    files: predecessorFiles(call),
    notices,
  };
  if (hasItsNotes(call, registered) && hasNothing(facts)) return undefined;
  return startupText(facts, randomHex(8));
}

/** Finds paths changed both here and by peers elsewhere. If this fails, an edit of such a path still reports the overlap. */
async function overlapsOf(
  { tree, session, now, log }: TreeCall,
  peers: readonly JudgedSession[],
  budget: Budget,
): Promise<OtherTree[]> {
  const top = realPath(tree.workTree);
  const options = { asking: session, timeoutMs: beforeAnswer(budget), now };
  try {
    const { dirty } = await readTreeStatus(top, { ...options, namesOnly: true });
    return await overlapsElsewhere({ ...tree, top }, dirty.values(), peers, options);
  } catch (error) {
    log('open', `the changes in other worktrees were not read: ${String(error)}`);
    return [];
  }
}

/** Reads the topics again if some have just changed, and judges which are stale. */
function judgedTopics({ repository, topics, budget }: Started, isChanged: boolean) {
  const reading = isChanged ? readTopics(repository) : topics;
  const judging = judgeBranches(repository, reading, budget.part(beforeAnswer(budget)));
  judging.catch(() => undefined);
  return { reading, judging };
}

/** Writes the notes of sessions that are gone, and closes needless ones. Returns false if nothing changed. */
async function settleNotes(call: TreeCall, { repository, registered, topics }: Started): Promise<boolean> {
  const isNoted = await noteGone(call, registered);
  return (await closeSettled(call, repository, registered, await topics)) || isNoted;
}

/** Whether the session continues a conversation that heard at its beginning how to leave a note. */
function hasItsNotes({ event: { source } }: TreeCall, { isNew, record }: Registered): boolean {
  return source === 'clear'
    ? record.succeeds !== null
    : !isNew && (source === 'compact' || source === 'resume');
}

/** Returns the sessions at work that are neither ancestors nor descendants of this one. */
function livePeers({ record, others }: Registered, session: SessionId): JudgedSession[] {
  const records = [record, ...others.map((one) => one.record)];
  return others.filter((one) => one.liveness === 'live' && !related(session, one.record.session, records));
}

function isOld({ record, liveness, silentMs }: JudgedSession, now: number): boolean {
  if (record.ended !== null) return now - record.ended.at > KEEP_ENDED_MS;
  return liveness !== 'live' && (silentMs ?? 0) > KEEP_ENDED_MS;
}

function predecessorFiles(call: TreeCall) {
  const folder = memoryFolder(call.cwd, call.machine.home, call.machine.env);
  return entries(folder)
    .filter(isMarkerFileName)
    .map((name) => {
      const { owner } = call.machine.files.read(join(folder, name));
      return { name, owner: owner === undefined ? undefined : shortId(owner) };
    });
}

/** Returns lines about settings with unknown values, except those that a session on record has already heard. */
function newUnknownSettings(
  { tree: { commonDir }, session, now }: TreeCall,
  unknown: readonly UnknownValue[],
) {
  const known = readJournals(commonDir).flatMap(({ notified }) => [...notified.keys()]);
  const fresh = unknown.map(unknownValueText).filter((line) => !known.includes(`setting:${line}`));
  if (fresh.length > 0) {
    const ids = fresh.map((line) => `setting:${line}`);
    appendSessionEvents(commonDir, session, [{ t: 'notified', ids, at: now }]);
  }
  return fresh;
}

/**
 * Returns a line if commits go unchecked because another program rewrote the git hooks (husky does so at every `npm
 * install`) or removed them. We repair nothing unasked: what a hook manager does is its user's decision.
 */
function lostHooks(commonDir: string): string[] {
  const lost = installedHooks(commonDir).filter((path) => !hasOurBlock(path));
  if (lost.length === 0) return [];
  const names = [...new Set(lost.map((path) => basename(path)))].filter((name) =>
    /^[a-z-]{1,40}$/.test(name),
  );
  // `--client none` leaves the clients' hooks as they are.
  const command = 'git handoff init --yes --client none';
  return [
    `Another program rewrote the git hooks ${names.join(', ')}: commits go unchecked. To restore git-handoff’s: ${command}`,
  ];
}

/** Whether our block is in a hook, or in the copy that the pre-commit framework keeps and runs first. */
const hasOurBlock = (path: string) => [path, `${path}.legacy`].some((file) => hasMarker(readText(file)));

/** How many notes of this branch come with an excerpt of their text. */
const MAX_EXCERPTS = 2;
const AUTOMATIC: Readonly<Record<AutomaticReason, string>> = {
  compaction: 'its context was compacted',
  'session-end': 'it ended without a note',
  death: 'its session died',
};
const STALE: Readonly<Record<NonNullable<Staleness>, string>> = {
  merged: 'its branch is merged',
  'branch-deleted': 'its branch is gone',
  'branch-renamed': 'its branch was renamed',
};

/**
 * Returns the open handoffs for the start text: this branch's first, then the newest. The first notes of this branch come
 * with an excerpt of their text. Handoffs for which there is no room are only counted.
 */
async function startupNotes(
  repository: Repository,
  states: readonly TopicState[],
  judging: Promise<BranchStaleness>,
  reader: { readonly session: SessionId; readonly now: number },
): Promise<Pick<StartupFacts, 'notes' | 'further' | 'automatic'>> {
  const here = repository.branch;
  const all = states.filter(isOpen);
  const written = all.filter(({ tip }) => tip.trailers?.automatic === undefined);
  const isMany = all.length - written.length > MAX_AUTOMATIC;
  const open = isMany ? written : all;
  const first = firstOf(open, here);
  const excerpted = first.slice(0, MAX_EXCERPTS).filter(({ branch }) => branch === here);
  const oids = excerpted.map(({ tip }) => tip.oid);
  const loading = loadCommits({ cwd: repository.cwd }, oids, { notes: true });
  // We await it below; until then a failure must not count as unhandled.
  loading.catch(() => undefined);
  const stale = await judging;
  const notes = first.map((state) => {
    const { branch, topic, tip } = state;
    const staleness = stalenessOf(state, stale);
    const { owner = 'unknown', to, automatic } = tip.trailers ?? {};
    return {
      name: typedTopic(branch, topic),
      own: owner === reader.session,
      owner: commitOwner(tip) ?? 'unknown',
      age: ago(tip.seconds * 1000, reader.now),
      summary: tip.summary,
      remarks: [
        ...(to === undefined ? [] : [`to ${to}`]),
        ...(automatic === undefined ? [] : [`automatic: ${AUTOMATIC[automatic]}`]),
        ...(staleness === null ? [] : [STALE[staleness]]),
      ],
    };
  });
  const excerpts = (await loading).map((commit) =>
    commit?.note === undefined ? [] : noteExcerpt(commit.note.toString('utf8')),
  );
  return {
    notes: notes.map((note, at) => ({ ...note, excerpt: excerpts[at] ?? [] })),
    further: open.length - notes.length,
    automatic: all.length - open.length,
  };
}

type OpenTopic = TopicState & { readonly tip: HandoffCommit };

const isOpen = (state: TopicState): state is OpenTopic => state.tip?.trailers?.state === 'open';

/**
 * Returns the notes for the start text: this branch's first, written ones before automatic ones, then the newest. Sorting
 * thousands of topics by comparison is slow in a new process, so we first select the best by rank (a number).
 */
function firstOf(open: readonly OpenTopic[], here: string): OpenTopic[] {
  const ranks = Float64Array.from(open, (state) => rankOf(state, here));
  const last = ranks.toSorted()[MAX_NOTES - 1] ?? Infinity;
  const ranked = open.flatMap((state, at) =>
    (ranks[at] ?? 0) <= last ? [{ state, rank: ranks[at] ?? 0 }] : [],
  );
  ranked.sort((a, b) => a.rank - b.rank || byAge(a.state, b.state));
  return ranked.slice(0, MAX_NOTES).map(({ state }) => state);
}

/** A time later than any commit's date. Seconds. */
const NEVER = 1e12;

const rankOf = (state: OpenTopic, here: string): number =>
  rankIn(state, here) * NEVER - Math.min(Math.max(state.tip.seconds, 0), NEVER - 1);
