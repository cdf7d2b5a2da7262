import { readLedgers } from '../../sessions/journal.ts';
import { timestamp } from '../../domain/messages.ts';
import {
  type AutomaticReason,
  type HandoffCommit,
  NOTE_FILE,
  type RecordedState,
} from '../../domain/handoff.ts';
import {
  type Oid,
  type SessionId,
  type WithClients,
  peerName,
  sessionOfOwner,
  topicsOverlap,
} from '../../domain/names.ts';
import { splitNote, type NoteSections, noteSections } from '../../domain/note/sections.ts';
import {
  type FindingCode,
  type HeadRelation,
  type NoteFinding,
  type Situation,
  finding,
  siblingFindings,
  treeFindings,
  triedFindings,
} from '../../domain/verification/findings.ts';
import { type NamedPaths, importantPaths, type NamedPath } from '../../domain/verification/named-paths.ts';
import { type Branches, listBranches } from '../../git/branches.ts';
import { loadCommits } from '../../git/commits.ts';
import { relate } from '../../git/histories.ts';
import { lastChange } from '../../git/log.ts';
import { movedFiles, existsInside, treeEntries } from '../../git/named-files.ts';
import { unfinishedOperation } from '../../git/operations.ts';
import {
  type Repository,
  type TreeState,
  committer,
  personOf,
  readTreeState,
  topLevel,
} from '../../git/repository.ts';
import type { GitOptions } from '../../git/run.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { requireTip, typedTopic } from '../../notes/topic-argument.ts';
import { commitOwner } from '../../notes/person-name.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import { type Context, findSession, worktreeName } from '../../sessions/caller.ts';
import { clientsOf, groupSessions } from '../../sessions/records.ts';
import { handoffShape } from '../handoff-shape.ts';
import type { CommandResult } from '../verb.ts';
import { carriedFacts } from '../work/unpack.ts';
import { openJudged } from '../workspace.ts';
import { type FoundBranch, findBranch, type Chosen, chooseNote } from './branch-place.ts';
import { treesHere } from './trees-here.ts';
import { parseTried } from '../../domain/tried.ts';
import type { BootShape } from '../shapes.ts';

/** How long one check of the repository may take; a check that takes longer is left out. */
const LOOK_MS = 3000;

interface BootOptions {
  readonly topic: string | undefined;
  readonly session: string | undefined;
}

/**
 * Checks a note against the repository, for a session that will continue from it. Changes nothing, and opens no file that the
 * note names. Exit status 1: the note is stale.
 */
export async function boot(options: BootOptions, context: Context): Promise<CommandResult<BootShape>> {
  const { cwd } = context;
  const git = { cwd, timeoutMs: context.budget.part(LOOK_MS).left() };
  const [{ repository, sessions, judged, notices }, branches, tree] = await Promise.all([
    openJudged(context),
    listBranches(git, { with: 'worktrees' }),
    readTreeState(git).catch(() => undefined),
  ]);
  const [chosen, top] = await Promise.all([chooseNote(repository, options.topic), topLevel(repository)]);
  const { state } = chosen;
  const tip = requireTip(state);
  const written = await writtenVersion(cwd, tip);
  const note = (state.note ?? Buffer.alloc(0)).toString('utf8');
  const sections = noteSections(splitNote(note).body);
  const named = importantPaths(sections.importantFiles ?? '', top);
  const caller = findSession(context, sessions, options.session);
  const reader = caller?.id ?? personOf(await committer(cwd));
  const { foreign } = groupSessions(reader, judged, []);
  const owner = tip.trailers?.owner;
  const records = { clients: clientsOf(judged) };
  const looked = { branches, tree, top, git, foreign, records };
  const tried = parseTried(tip.trailers?.tried);
  const here = await treesHere(
    tried,
    [branches.heads.get(state.branch)?.oid, tree?.head],
    [owner, caller?.id],
    context,
  );
  const findings = [
    ...noteFindings(state),
    ...(await repositoryFindings(repository, chosen, written, named, looked)),
    ...triedFindings(tried, here),
    ...(owner !== undefined && foreign.has(owner)
      ? [finding({ code: 'owner-live', who: peerName(owner, records) }, owner)]
      : []),
    ...siblings(chosen, [reader, ...(caller?.succeeded ?? [])]),
  ];
  const stale = findings.some(({ verdict }) => verdict === 'stale');
  const shape = handoffShape(state, tip, caller?.id);
  const carried = await carriedFacts(repository, state, tip, { top, now: context.now });
  return {
    value: { ...shape, ...inherited(tip, written, sections), stale, findings, carried },
    notices: [...notices, ...(await reportIllegalMoves(repository, [state], context.now))],
    exitCode: stale ? 1 : 0,
  };
}

interface Seen {
  /** Where git runs, and the time limit for each check. */
  readonly git: GitOptions;
  readonly branches: Branches;
  readonly tree: TreeState | undefined;
  readonly top: string | undefined;
  /** The other live sessions. */
  readonly foreign: ReadonlySet<SessionId>;
  readonly records: WithClients;
}

const LEFT: Readonly<Record<AutomaticReason, string>> = {
  compaction: "before its session's context was compacted",
  'session-end': 'when its session ended',
  death: 'after its session died',
};

function noteFindings({ tip, illegal }: Chosen['state']): NoteFinding[] {
  const { state, automatic } = tip?.trailers ?? {};
  return [
    ...(state === 'closed' ? [finding({ code: 'note-closed' })] : []),
    ...(automatic === undefined ? [] : [finding({ code: 'note-automatic', when: LEFT[automatic] })]),
    ...(illegal === undefined ? [] : [finding({ code: 'note-moved', why: illegal.reason })]),
  ];
}

async function repositoryFindings(
  repository: Repository,
  { state: { branch } }: Chosen,
  written: HandoffCommit,
  named: NamedPaths,
  seen: Seen,
): Promise<NoteFinding[]> {
  const { branches, tree, top, git } = seen;
  const base = written.trailers?.base;
  const found = await findBranch(git, repository.branch, { branch, mail: written.mail }, branches);
  const { place, merged, onDisk, elsewhere } = found;
  const disk = tree !== undefined && top !== undefined && onDisk ? { top, state: tree } : undefined;
  // A deleted branch has no tip: the note's files are compared with what is checked out.
  const tip = found.tip ?? (onDisk ? tree?.head : undefined);
  const [head, files] = await Promise.all([
    headRelation(git, found, base, tree?.head),
    // A branch that exists nowhere has no files to compare.
    place.code === 'branch-absent' ? [] : fileFindings(named.paths, { git, base, tip, elsewhere, disk }),
  ]);
  // `onDisk` is true for a deleted branch, too, which cannot be checked out.
  const isCheckedOut = onDisk && place.code !== 'branch-deleted';
  return [
    finding({ ...place, branch }),
    ...(merged === undefined ? [] : [finding({ ...merged, branch })]),
    finding({ ...head, branch }),
    ...files,
    ...(named.left === 0 ? [] : [finding({ code: 'files-left', count: `${named.left}` })]),
    ...comparedTree(repository, written.recorded, isCheckedOut, seen),
  ];
}

async function headRelation(
  git: GitOptions,
  { place, tip }: FoundBranch,
  base: Oid | undefined,
  checkedOut: Oid | undefined,
): Promise<HeadRelation> {
  if (tip === undefined) {
    const isUnborn = place.code === 'branch-unborn' && base === undefined;
    return { code: isUnborn ? 'head-unborn' : 'head-none' };
  }
  if (base === undefined) return { code: 'head-first' };
  const relation = await relate(git, tip, base);
  // A note that is written during a rebase is about HEAD, which is then detached from the branch.
  if (place.code !== 'branch-here' || checkedOut === undefined || checkedOut === tip) return relation;
  if (!LACKS_BASE.includes(relation.code)) return relation;
  const toHead = await relate(git, checkedOut, base);
  return toHead.code === 'head-equal' || toHead.code === 'head-ahead' ? toHead : relation;
}

const LACKS_BASE: readonly FindingCode[] = ['head-behind', 'head-diverged', 'head-reworded'];

/** Returns everything that the note says. Without a heading for the goal, the note's summary is the goal. */
function inherited(tip: HandoffCommit, written: HandoffCommit, sections: NoteSections) {
  const automatic: AutomaticReason | null = tip.trailers?.automatic ?? null;
  return {
    automatic,
    writer: written.trailers?.owner ?? 'unknown',
    writerText: commitOwner(written) ?? 'unknown',
    writtenAt: timestamp(written.seconds * 1000),
    writtenOn: written.trailers?.base ?? null,
    goal: sections.goal ?? tip.summary,
    goalIsSummary: sections.goal === undefined,
    currentState: sections.state ?? null,
    nextAction: sections.nextAction ?? null,
    stopConditions: sections.stopConditions ?? null,
  };
}

/** Returns the version that wrote the note's text: a take, close or reopen keeps the text, but records a later state. */
async function writtenVersion(cwd: string, tip: HandoffCommit): Promise<HandoffCommit> {
  if (tip.parents.length === 0) return tip;
  const oid = await lastChange({ cwd }, tip.oid, NOTE_FILE);
  if (oid === undefined || oid === tip.oid) return tip;
  const [written] = await loadCommits({ cwd }, [oid]);
  return written ?? tip;
}

function comparedTree(
  repository: Repository,
  recorded: RecordedState | undefined,
  isCheckedOut: boolean,
  { tree, foreign, records }: Seen,
): NoteFinding[] {
  if (tree === undefined) return [finding({ code: 'tree-none' })];
  const worktree = recorded?.worktree ?? null;
  const here = worktreeName(repository) ?? null;
  if (!isCheckedOut || recorded === undefined || worktree !== here) {
    const where = worktree === null || worktree === here ? '' : ` (${worktree})`;
    return [finding({ code: 'tree-elsewhere', where })];
  }
  const others = foreignWork(repository, tree, foreign);
  const operation = unfinishedOperation(repository.gitDir)?.name;
  return treeFindings({ now: tree.dirty, then: recorded.dirty, others, operation }, records);
}

/** Counts the dirty paths that other live sessions have changed, from the ledgers alone. */
function foreignWork(
  { gitDir, commonDir }: Repository,
  { paths }: TreeState,
  foreign: ReadonlySet<SessionId>,
): { session: SessionId; paths: number }[] {
  const worktreeId = knownWorktreeId(gitDir);
  if (worktreeId === undefined || foreign.size === 0) return [];
  const isDirty = (path: string) => paths.some((one) => path === one || path.startsWith(`${one}/`));
  return readLedgers({ commonDir, worktreeId })
    .filter(({ session }) => foreign.has(sessionOfOwner(session)))
    .map(({ session, claims }) => ({ session, paths: [...claims.keys()].filter(isDirty).length }))
    .filter(({ paths: count }) => count > 0);
}

/** Judges the branch's other open notes. The reader's own notes never count as overlapping with the chosen one. */
function siblings({ state, beside }: Chosen, own: readonly (SessionId | undefined)[]): NoteFinding[] {
  return beside.flatMap(({ tip, topic, branch }) => {
    if (topic === state.topic || tip?.trailers?.state !== 'open') return [];
    const { owner, automatic } = tip.trailers;
    return siblingFindings({
      name: typedTopic(branch, topic),
      who: commitOwner(tip) ?? '',
      newer: tip.seconds > (state.tip?.seconds ?? 0),
      overlaps: !own.includes(owner) && topicsOverlap(topic, state.topic),
      automatic: automatic !== undefined,
    });
  });
}

interface FileScene {
  readonly git: GitOptions;
  readonly base: Oid | undefined;
  readonly tip: Oid | undefined;
  /** The top of another worktree that has the note's branch checked out, and may have the files uncommitted. */
  readonly elsewhere: string | undefined;
  /** The working tree, if it is the note's; `undefined` when only commits are compared. */
  readonly disk: { readonly top: string; readonly state: TreeState } | undefined;
}

type Entries = ReadonlyMap<string, string>;

/** Tells what became of the files that a note names. Reads git's data and checks that files exist, but never opens them. */
async function fileFindings(named: readonly NamedPath[], scene: FileScene): Promise<NoteFinding[]> {
  const { git, base, tip } = scene;
  const paths = named.flatMap(({ path }) => path ?? []);
  const [before, after] = await Promise.all([
    base === undefined ? undefined : treeEntries(git, base, paths),
    tip === undefined ? undefined : treeEntries(git, tip, paths),
  ]);
  const isGone = (path: string) => before?.has(path) === true && after?.has(path) === false;
  const moved =
    base !== undefined && tip !== undefined && paths.some(isGone)
      ? await movedFiles(git, base, tip)
      : undefined;
  return named.flatMap(({ text, path, sure }) => {
    if (path === undefined) return [finding({ code: 'file-unsafe', path: text }, text)];
    const isKnown = before?.has(path) === true;
    const situation = fileSituation(path, { before, after, moved: moved ?? new Map() }, scene);
    // A word that is perhaps no path is not reported as a missing file.
    return situation.code === 'file-missing' && !isKnown && !sure
      ? []
      : [finding({ ...situation, path }, path)];
  });
}

type FileCode = 'file-present' | 'file-changed' | 'file-moved' | 'file-missing' | 'file-uncompared';

function fileSituation(
  path: string,
  { before, after, moved }: { before: Entries | undefined; after: Entries | undefined; moved: Entries },
  { disk, elsewhere }: FileScene,
): Situation<FileCode, 'path'> {
  const isDirty = disk?.state.paths.some((one) => one === path || one.startsWith(`${path}/`)) === true;
  const isTracked = after?.has(path) === true;
  const top = disk?.top ?? elsewhere;
  const there = top === undefined || (isTracked && !isDirty) ? isTracked : existsInside(top, path);
  const known = before?.has(path) === true;
  if (!there) {
    const to = disk?.state.moved.get(path) ?? moved.get(path);
    if (to !== undefined) return { code: 'file-moved', to };
    return { code: 'file-missing', gone: known ? 'gone' : "not here, and not in the note's base" };
  }
  if (before === undefined) return { code: 'file-uncompared' };
  const how = [
    ...(known && isTracked && before.get(path) !== after.get(path) ? ['by commits'] : []),
    ...(isDirty && known ? ['not committed'] : []),
  ];
  return how.length === 0 ? { code: 'file-present' } : { code: 'file-changed', how: how.join(', ') };
}
