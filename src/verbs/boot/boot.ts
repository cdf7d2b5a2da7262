import type { AutomaticReason, HandoffCommit } from '../../domain/handoff.ts';
import { splitNote } from '../../domain/note/document.ts';
import { type NoteSections, noteSections } from '../../domain/note/sections.ts';
import { type NamedPaths, importantPaths } from '../../domain/verification/important-files.ts';
import type { HeadRelation, VerificationFacts } from '../../domain/verification/facts.ts';
import { verify } from '../../domain/verification/verify.ts';
import type { Oid } from '../../domain/names.ts';
import { type Branches, type Limits, listBranches } from '../../git/branches.ts';
import { readSettings } from '../../git/config.ts';
import { relate } from '../../git/history-relation.ts';
import { type TreeState, readTreeState } from '../../git/named-files.ts';
import { type Repository, topLevel } from '../../git/repository.ts';
import { clientsOf } from '../../sessions/records.ts';
import { type FoundBranch, findBranch } from './branch-place.ts';
import { type Chosen, chooseNote } from './choose-note.ts';
import { fileFacts } from './file-facts.ts';
import { bootLimits } from './limits.ts';
import { orLost } from './lost-base.ts';
import { commitOwner } from '../../notes/person-name.ts';
import { foreignLive, siblingFacts } from './people.ts';
import { treeFact } from './tree-fact.ts';
import { writtenVersion } from './written-version.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import { requireTip } from '../../notes/find-topic.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import type { BootShape } from './boot-shape.ts';
import { handoffShape } from '../handoff-shape.ts';
import { timestamp } from '../../domain/age.ts';
import { judgedSessions, openWorkspace } from '../workspace.ts';
import { carriedFacts } from '../work/work-facts.ts';

interface BootOptions {
  readonly topic: string | undefined;
  readonly session: string | undefined;
}

/**
 * Checks a note against the repository, for a session that is to go on from it. Changes nothing, and opens nothing that
 * the note names.
 */
export async function boot(options: BootOptions, context: Context): Promise<CommandResult<BootShape>> {
  const { cwd } = context;
  const limits = bootLimits(context.budget);
  const [{ repository, sessions, notices }, branches, tree, settings] = await Promise.all([
    openWorkspace(context),
    listBranches(cwd, { ...limits, with: 'worktrees' }),
    readTreeState(cwd, limits).catch(() => undefined),
    readSettings(cwd),
  ]);
  const [chosen, top] = await Promise.all([
    chooseNote(repository, options.topic, limits),
    topLevel(repository),
  ]);
  const { state, beside } = chosen;
  const tip = requireTip(state);
  const written = await writtenVersion(cwd, tip);
  const note = (state.note ?? Buffer.alloc(0)).toString('utf8');
  const sections = noteSections(splitNote(note).body);
  const named = importantPaths(sections.importantFiles ?? '', top);
  const reader = findSession(context, sessions, options.session)?.id;
  const judged = judgedSessions({ repository, sessions }, settings, context.now);
  const foreign = foreignLive(reader, judged);
  const owner = tip.trailers?.owner;
  const looked = { branches, tree, top, limits };
  const found = await repositoryFacts(repository, chosen, written, named, looked, foreign);
  const facts = {
    ...found,
    head: await orLost(cwd, found.head, written, sessions, limits),
    liveOwner: owner !== undefined && foreign.has(owner) ? owner : undefined,
    clients: clientsOf(judged),
    siblings: siblingFacts(state, beside),
  };
  const verification = verify(facts);
  const shape = handoffShape(state, tip, reader);
  const carried = await carriedFacts(repository, state, tip, { top, context });
  return {
    value: { ...shape, ...inherited(tip, written, sections), ...verification, carried },
    notices: [...notices, ...(await reportIllegalMoves(repository, [state], context.now))],
    exitCode: verification.stale ? 1 : 0,
  };
}

interface Seen {
  /** For each look. */
  readonly limits: Limits;
  readonly branches: Branches;
  readonly tree: TreeState | undefined;
  readonly top: string | undefined;
}

/** Everything but the people. */
async function repositoryFacts(
  repository: Repository,
  { state }: Chosen,
  written: HandoffCommit,
  named: NamedPaths,
  { branches, tree, top, limits }: Seen,
  foreign: Parameters<typeof treeFact>[4],
): Promise<Omit<VerificationFacts, 'liveOwner' | 'siblings'>> {
  const { branch } = state;
  const base = written.trailers?.base;
  const found = await findBranch(repository, branch, { base, mail: written.mail, limits }, branches);
  const disk = tree !== undefined && top !== undefined && found.onDisk ? { top, state: tree } : undefined;
  // Of a deleted branch the files that are checked out are left to compare with.
  const tip = found.tip ?? (found.onDisk ? tree?.head : undefined);
  const elsewhere = found.place.kind === 'elsewhere' ? found.place.worktree : undefined;
  const [head, files] = await Promise.all([
    headRelation(repository, found, base, tree?.head, limits),
    // Of a branch that is nowhere no file can be told.
    found.place.kind === 'absent'
      ? []
      : fileFacts(named.paths, { cwd: repository.cwd, limits, base, tip, elsewhere, disk }),
  ]);
  return {
    branch,
    closed: state.tip?.trailers?.state === 'closed',
    automatic: state.tip?.trailers?.automatic,
    movedByHand: state.illegal?.reason,
    place: found.place,
    merged: found.merged,
    head,
    files,
    filesLeft: named.left,
    tree: treeFact(repository, tree, written.recorded, isRecordedPlace(found), foreign),
  };
}

/** A branch that is gone was not what is checked out now. */
const isRecordedPlace = ({ onDisk, place }: FoundBranch) => onDisk && place.kind !== 'deleted';

async function headRelation(
  { cwd }: Repository,
  { place, tip }: FoundBranch,
  base: Oid | undefined,
  checkedOut: Oid | undefined,
  limits: Limits,
): Promise<HeadRelation> {
  if (tip === undefined) {
    return place.kind === 'unborn' && base === undefined ? { kind: 'unborn' } : { kind: 'none' };
  }
  if (base === undefined) return { kind: 'first' };
  const relation = await relate(cwd, tip, base, limits);
  // In a rebase HEAD has left the branch already; a note that was written meanwhile is about HEAD.
  if (place.kind !== 'here' || checkedOut === undefined || checkedOut === tip) return relation;
  if (relation.kind !== 'diverged' && relation.kind !== 'behind') return relation;
  const toHead = await relate(cwd, checkedOut, base, limits);
  return toHead.kind === 'equal' || toHead.kind === 'ahead' ? toHead : relation;
}

/** What the note says, whole; where it has none of the headings its summary is the goal. */
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
    said: sections.state ?? null,
    nextAction: sections.nextAction ?? null,
    stopConditions: sections.stopConditions ?? null,
  };
}
