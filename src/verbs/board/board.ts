import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, basename, dirname } from 'node:path';
import { counted, escapeLine, escapeText, Failure, shellWord } from '../../domain/messages.ts';
import { NOTE_FILE } from '../../domain/handoff.ts';
import type { SessionJournal } from '../../domain/journal/fold.ts';
import { type Oid, ownerId, parseSessionId } from '../../domain/names.ts';
import { runningOwners } from '../../domain/ledger/sub-agents.ts';
import { parseWorkSize, workSizeText } from '../../domain/snapshot.ts';
import { type ChainCommit, handoffChains } from '../../git/commits.ts';
import { discoverRepository } from '../../git/discover.ts';
import { realPath } from '../../host/disk.ts';
import { logCommits } from '../../git/log.ts';
import { readSettings } from '../../git/config.ts';
import { decodeBranch } from '../../git/namespace.ts';
import { readObjects } from '../../git/objects.ts';
import { openRepository, topLevel, type InRepository, type Repository } from '../../git/repository.ts';
import { listWorktrees } from '../../git/worktrees.ts';
import { isInitialised, repositoryFolder, knownWorktreeId } from '../../host/folders.ts';
import { listRefused, type RefusedText } from '../../notes/lost.ts';
import { personName } from '../../notes/person-name.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { readTopics, type TopicState } from '../../notes/topic.ts';
import type { Context } from '../../sessions/caller.ts';
import { readAllJournals } from '../../sessions/journal.ts';
import { listSessions } from '../../sessions/records.ts';
import type {
  Board,
  BoardStep,
  BoardTopic,
  BoardVersion,
  BoardCommit,
  BoardRefusal,
  BoardSession,
} from '../../ui/board/shape.ts';
import { type Rendered } from '../../ui/terminal.ts';
import { putOutput } from '../../host/output-file.ts';
import { workSizes } from '../sharing/diff.ts';
import type { CommandResult } from '../verb.ts';
import type { BoardShape } from '../shapes.ts';
import { judgedSessions } from '../workspace.ts';
import { Lanes } from './lanes.ts';

/** How every page of ours begins: only a file with this beginning may be replaced. */
const PAGE_START = '<!doctype html>\n<html lang="en" data-git-handoff="board">';
const MAX_PAGE_BYTES = 256 * 1024 * 1024;
/** The file mode: a page contains notes, so only its owner may read it. */
const OWNER_ONLY = 0o600;

/**
 * Writes one page that shows sessions, handoffs, commits and refusals over time.
 *
 * @param typed the file; `-` is standard output
 * @throws Failure `refused` or `usage` when the file is not ours to replace, `environment` when it cannot be written
 */
export async function board(typed: string | undefined, context: Context): Promise<CommandResult<BoardShape>> {
  const repository = await openRepository(context.cwd);
  const { commonDir, cwd } = repository;
  const [found, { ASSETS }, { boardPage }] = await Promise.all([
    collectBoard(repository, context),
    import('../../ui/board/assets.ts'),
    import('../../ui/board/page.ts'),
  ]);
  const page = Buffer.from(boardPage(found, ASSETS, PAGE_START));
  const value = {
    sessions: found.sessions.length,
    handoffs: found.topics.length,
    refusals: found.refusals.length,
    work: found.sessions.flatMap(({ id, work = [] }) => work.map((one) => ({ session: id, ...one }))),
    bytes: page.length,
  };
  if (typed === '-') return { value: { ...value, file: null }, bytes: page };
  const path = resolve(cwd, typed ?? join(ownFolder(commonDir), 'board.html'));
  await putOutput(page, {
    path,
    typed,
    top: await topLevel(repository),
    commonDir,
    limit: MAX_PAGE_BYTES,
    mode: OWNER_ONLY,
    refuse(found) {
      if (found.subarray(0, PAGE_START.length).equals(Buffer.from(PAGE_START))) return undefined;
      const name = typed ?? path;
      const message = `${escapeLine(name)} exists, and git handoff board did not write it`;
      return new Failure('refused', message, { hint: `ls -ld -- ${shellWord(name)}` });
    },
  });
  return { value: { ...value, file: path } };
}

/** Our folder in the repository or, if it has none, a new temporary folder. */
function ownFolder(commonDir: string): string {
  return isInitialised(commonDir) ? repositoryFolder(commonDir) : mkdtempSync(join(tmpdir(), 'git-handoff-'));
}

/** Only reads. Prints no notices: some are printed only once, and are meant for a session. */
async function collectBoard(repository: Repository, context: Context): Promise<Board> {
  const { cwd, now } = context;
  const { commonDir } = repository;
  const [states, sessions, settings, worktrees] = await Promise.all([
    readTopics(repository),
    listSessions(repository),
    readSettings(cwd),
    listWorktrees({ cwd }),
  ]);
  const judged = judgedSessions({ repository, sessions }, settings, now);
  const journals = readAllJournals(commonDir);
  const lanes = new Lanes(judged, now, journals.flatMap(runningOwners));
  const { topics, complete: allVersions } = await boardTopics(repository, states, lanes);
  const [{ commits, complete: allCommits }, notes] = await Promise.all([
    boardCommits(repository, lanes),
    boardNotes(repository, topics),
  ]);
  const refused = await listRefused(repository);
  const { refusals, complete: allRefusals } = boardRefusals(journals, lanes, refused);
  const places = new Map(
    worktrees.flatMap((worktree) => {
      const id = knownWorktreeId(worktree.gitDir);
      return id === undefined ? [] : [[id, worktree] as const];
    }),
  );
  const works = await boardWork(context, [...places.values()], lanes);
  const versions = topics.reduce((sum, topic) => sum + topic.versions.length, 0);
  const held = Object.keys(notes).length;
  return {
    v: 1,
    repository: escapeLine(nameOf(commonDir)),
    at: now,
    initialised: isInitialised(commonDir),
    sessions: lanes.sessions(places).map((one, n) => ({ ...one, ...(works.get(n) ?? {}) })),
    topics,
    commits,
    refusals,
    notes,
    limits: [
      allVersions || 'Older versions of handoffs are left out, or could not be read.',
      allCommits ||
        `Sessions' commits are shown only if they are among the newest ${LOOK_COMMITS} of all branches and HEAD.`,
      allRefusals || `Only the newest ${MAX_REFUSALS} refusals are shown.`,
      held === versions ||
        `This page has the texts of only ${held} of ${versions} versions, the newest ones.`,
    ].filter((text) => text !== true),
  };
}

/** What each session has changed and not committed, by the number of its lane. An unreadable worktree counts as unchanged. */
async function boardWork(
  context: Context,
  places: readonly { readonly path: string }[],
  lanes: Lanes,
): Promise<ReadonlyMap<number, Pick<BoardSession, 'work'>>> {
  const found = new Map<number, { readonly work: NonNullable<BoardSession['work']> }>();
  const here = discoverRepository(realPath(context.cwd))?.workTree;
  for (const { path } of places) {
    const git = realPath(path) === here ? 'git' : `git -C ${shellWord(path)}`;
    const sizes = await workSizes({ ...context, cwd: path }).catch(() => []);
    for (const { session, since, at, ...size } of sizes) {
      lanes.trace(session, { at: since });
      const lane = lanes.trace(session, { at });
      const work = { ...size, command: escapeLine(`${git} handoff diff ${session}`) };
      found.set(lane, { work: [...(found.get(lane)?.work ?? []), work] });
    }
  }
  return found;
}

/** The folder name by which people know the repository. */
function nameOf(commonDir: string): string {
  const name = basename(commonDir);
  return name === '.git' ? basename(dirname(commonDir)) : name.replace(/\.git$/, '');
}

/** Prints where the board is, and how much it shows. */
export function renderBoard({ file, sessions, handoffs, refusals }: BoardShape): Rendered {
  const what = `${counted(sessions, 'session')}, ${counted(handoffs, 'handoff')}, ${counted(refusals, 'refusal')}`;
  return `${escapeLine(file ?? '-')}\n${what}\n`;
}

/** The most versions that a page shows; older ones are left out. */
const MAX_VERSIONS = 30_000;

/** Every handoff with its versions; `complete` is false when older versions were left out or could not be read. */
async function boardTopics(
  repository: InRepository,
  states: readonly TopicState[],
  lanes: Lanes,
): Promise<{ topics: BoardTopic[]; complete: boolean }> {
  const tips = states.flatMap(({ tip }) => tip ?? []);
  const chains = await handoffChains(
    { cwd: repository.cwd },
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

/** A topic's commits, from the tip back to the root or as far as they were read. */
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

function workText(text: string | undefined): string {
  const size = parseWorkSize(text);
  return size === undefined ? 'uncommitted work' : `uncommitted work: ${workSizeText(size)}`;
}

/** The step of a version, according to its trailers; only `git handoff check` judges whether the step was legal. */
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

/** The most versions whose texts are read, the newest first. */
const MAX_NOTES = 500;
/** The most bytes in one text, and in all texts together. */
const [MAX_NOTE_BYTES, MAX_NOTES_BYTES] = [64 * 1024, 1024 * 1024];

/** Texts of the newest versions, as many as there is room for. A note that is too large is left out. */
async function boardNotes(
  repository: InRepository,
  topics: readonly BoardTopic[],
): Promise<Record<string, string>> {
  const newest = topics
    .flatMap(({ versions }) => versions)
    .sort((a, b) => b.at - a.at)
    .slice(0, MAX_NOTES)
    .map(({ oid }) => ({ name: `${oid}:${NOTE_FILE}`, mostBytes: MAX_NOTE_BYTES, oid }));
  const found = await readObjects({ cwd: repository.cwd }, newest);
  const notes: Record<string, string> = {};
  let left = MAX_NOTES_BYTES;
  for (const [at, { oid }] of newest.entries()) {
    const { type, size = 0, content } = found[at] ?? {};
    if (type !== 'blob' || content?.length !== size || size > left) continue;
    left -= size;
    notes[oid] = escapeText(content.toString('utf8'));
  }
  return notes;
}

/** How many of the newest commits are searched for trailers. */
const LOOK_COMMITS = 5000;
const MAX_REFUSALS = 2000;
/** The most characters of one refusal. */
const MAX_DETAIL = 2000;

/** The commits that sessions made, according to the trailers. */
async function boardCommits(
  repository: InRepository,
  lanes: Lanes,
): Promise<{ commits: BoardCommit[]; complete: boolean }> {
  const looked = await logCommits({ cwd: repository.cwd }, ['--branches', 'HEAD'], LOOK_COMMITS);
  const signed = looked.filter(({ sessions }) => sessions.length > 0);
  const shapes = signed.map(({ oid, seconds, subject, sessions, branch }): BoardCommit => {
    const at = seconds * 1000;
    const ids = [...new Set(sessions.flatMap((id) => parseSessionId(id) ?? []))];
    const by = ids.map((id) => lanes.trace(id, { at, branch }));
    const named = branch === undefined ? {} : { branch: escapeLine(branch) };
    return { oid, at, by, subject: escapeLine(subject), ...named };
  });
  return { commits: shapes, complete: looked.length < LOOK_COMMITS };
}

/** The refusals in sessions' journals, and the refused notes whose texts were kept, newest first. */
export function boardRefusals(
  journals: readonly Pick<SessionJournal, 'session' | 'refusals'>[],
  lanes: Lanes,
  texts: readonly RefusedText[] = [],
): { refusals: BoardRefusal[]; complete: boolean } {
  const kept = texts.map(refusedWrite);
  // The journal records the refusal of a note, too, but not where the note's text is kept.
  const isKept = new Set(kept.map(({ at, session }) => `${at} ${session}`));
  const told = journals.flatMap(({ session, refusals }) =>
    refusals.flatMap(({ at, text, agent }) =>
      isKept.has(`${at} ${session}`) ? [] : { at, session: ownerId(session, agent), detail: text },
    ),
  );
  const all = [...told, ...kept].sort((a, b) => b.at - a.at);
  const refusals = all.slice(0, MAX_REFUSALS).map(({ at, session, detail }): BoardRefusal => {
    const by = session === null ? {} : { by: lanes.trace(session, { at }) };
    return { at, ...by, detail: escapeText(detail.slice(0, MAX_DETAIL)) };
  });
  return { refusals, complete: all.length <= MAX_REFUSALS };
}

function refusedWrite({ path, number, details }: RefusedText) {
  const name = typedTopic(decodeBranch(path.component) ?? path.component, path.topic);
  const why = details.reason === 'not-owner' ? 'another session owned it' : details.reason;
  const detail = `${name} was not written: ${why}. The text is kept: git handoff show ${name} --lost=${number}`;
  return { at: details.at, session: parseSessionId(details.session ?? '') ?? null, detail };
}
