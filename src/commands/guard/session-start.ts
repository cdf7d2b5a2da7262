import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import { isMarkerFileName } from '../../domain/marker.ts';
import type { AutomaticReason } from '../../domain/handoff.ts';
import { type SessionId, shortId, topicWords } from '../../domain/names.ts';
import { related } from '../../domain/session.ts';
import { noteExcerpt } from '../../domain/note/excerpt.ts';
import { type StartupNote, startupText } from '../../domain/startup.ts';
import { loadCommits } from '../../git/commits.ts';
import { type Repository, openRepository } from '../../git/repository.ts';
import { listWorktrees } from '../../git/worktrees.ts';
import { entries } from '../../host/disk.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { memoryFolder } from '../../host/marker-files.ts';
import { rememberFiles } from '../../store/guarded-files.ts';
import { type JudgedSession, removeRecords } from '../../store/sessions.ts';
import { type TopicState, readTopics } from '../../store/topic.ts';
import { ago } from '../../domain/age.ts';
import { byAge } from '../find-topic.ts';
import { checkGuardedFiles } from '../guarded-files.ts';
import { reportIllegalMoves } from '../report-illegal.ts';
import { typedTopic } from '../topic-argument.ts';
import { type Registered, register, twinWarning } from './registration.ts';
import { tidyLedgers } from './ledger/tidy.ts';
import type { Scene } from './scene.ts';

/** Records of sessions that are over are kept for a week, for `sessions --all` and succession. Milliseconds. */
const KEEP_ENDED_MS = 7 * 86_400_000;

/** Notes of this branch whose text is told at once. */
const MAX_EXCERPTS = 2;
const AUTOMATIC: Readonly<Record<AutomaticReason, string>> = {
  compaction: 'its context was compacted',
  'session-end': 'it ended without a note',
  death: 'its session died',
};

/** Registers the session and tells it what others left here and who is at work beside it. */
export async function sessionStart(scene: Scene, session: SessionId): Promise<Verdict> {
  const registered = await register(scene, session);
  if (registered === undefined) return { kind: 'allow' };
  await (await import('./automatic.ts')).noteGone(scene, registered);
  const repository = await openRepository(scene.cwd);
  const [states, files, worktrees] = await Promise.all([
    readTopics(repository),
    checkGuardedFiles(scene.cwd, session).finally(() => rememberFiles(scene.cwd, scene.files.all())),
    listWorktrees({ cwd: scene.cwd }),
  ]);
  const notices = [
    ...(registered.twin === undefined ? [] : [twinWarning(session, registered.twin)]),
    ...registered.notices,
    ...files,
    ...(await reportIllegalMoves(repository, states, scene.now)),
  ];
  await removeRecords(
    repository,
    registered.others.filter((one) => isOld(one, scene.now)),
  );
  if (scene.place !== undefined) tidyLedgers(scene.place, liveOnes(registered), scene.now);
  const branches = new Map(worktrees.map(({ gitDir, branch }) => [knownWorktreeId(gitDir), branch]));
  const peers = livePeers(registered, session);
  const worktree = scene.place === undefined ? undefined : knownWorktreeId(scene.place.gitDir);
  const facts = {
    session,
    branch: repository.branch,
    notes: await notesFor(repository, states, session, scene.now),
    overlaps: overlapping(repository, states),
    sharesTree: peers.some((peer) => peer.worktreeId === worktree),
    peers: peers.map(({ record, worktreeId }) => ({
      session: shortId(record.session),
      client: record.client,
      where: branches.get(worktreeId) ?? 'a detached HEAD',
    })),
    files: predecessorFiles(scene),
    notices,
  };
  return { kind: 'context', text: startupText(facts, randomBytes(8).toString('hex')) };
}

/** Open handoffs, this branch's first, then newest first; of this branch's first ones the text is told, too. */
async function notesFor(
  repository: Repository,
  states: readonly TopicState[],
  session: SessionId,
  now: number,
): Promise<StartupNote[]> {
  const here = repository.branch;
  const open = states
    .flatMap((state) => (state.tip?.trailers?.state === 'open' ? [{ ...state, tip: state.tip }] : []))
    .sort((a, b) => Number(b.branch === here) - Number(a.branch === here) || written(a, b) || byAge(a, b));
  const told = open.slice(0, MAX_EXCERPTS).filter(({ branch }) => branch === here);
  const loaded = await loadCommits(
    { cwd: repository.cwd },
    told.map(({ tip }) => tip.oid),
    { notes: true },
  );
  return open.map(({ branch, topic, tip }, at) => {
    const { owner = 'unknown', to, automatic } = tip.trailers ?? {};
    const note = at < told.length ? loaded[at]?.note : undefined;
    return {
      name: typedTopic(branch, topic),
      own: owner === session,
      owner: shortId(owner),
      age: ago(tip.seconds * 1000, now),
      summary: tip.summary,
      remarks: [
        ...(to === undefined ? [] : [`to ${to}`]),
        ...(automatic === undefined ? [] : [`automatic: ${AUTOMATIC[automatic]}`]),
      ],
      excerpt: note === undefined ? [] : noteExcerpt(note.toString('utf8')),
    };
  });
}

/** What was written comes before what was only left. */
function written(a: TopicState, b: TopicState): number {
  return Number(a.tip?.trailers?.automatic !== undefined) - Number(b.tip?.trailers?.automatic !== undefined);
}

/** Names of this branch's open handoffs, in groups that look like one piece of work. */
function overlapping(repository: Repository, states: readonly TopicState[]): string[][] {
  const groups = new Map<string, string[]>();
  for (const { branch, topic, tip } of states) {
    const words = topicWords(topic).slice(0, 2);
    if (branch !== repository.branch || tip?.trailers?.state !== 'open' || words.length < 2) continue;
    if (tip.trailers.automatic !== undefined) continue;
    const key = words.join('-');
    groups.set(key, [...(groups.get(key) ?? []), typedTopic(branch, topic)]);
  }
  return [...groups.values()].filter((names) => names.length > 1);
}

/** Sessions at work that are neither this one's parents nor its children. */
function livePeers({ record, others }: Registered, session: SessionId): JudgedSession[] {
  const records = [record, ...others.map((one) => one.record)];
  return others.filter((one) => one.liveness === 'live' && !related(session, one.record.session, records));
}

function liveOnes({ record, others }: Registered): ReadonlySet<SessionId> {
  const live = others.filter((one) => one.liveness === 'live').map((one) => one.record.session);
  return new Set([record.session, ...live]);
}

function isOld({ record, liveness, idleMs }: JudgedSession, now: number): boolean {
  if (record.ended !== null) return now - record.ended.at > KEEP_ENDED_MS;
  return liveness !== 'live' && (idleMs ?? 0) > KEEP_ENDED_MS;
}

function predecessorFiles(scene: Scene) {
  const folder = memoryFolder(scene.cwd, scene.home, scene.env);
  return entries(folder)
    .filter(isMarkerFileName)
    .map((name) => {
      const { owner } = scene.files.read(join(folder, name));
      return { name, owner: owner === undefined ? undefined : shortId(owner) };
    });
}
