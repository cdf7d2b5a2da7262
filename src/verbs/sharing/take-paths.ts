import {
  type Asker,
  type DirtyWork,
  type WorkTree,
  askerOf,
  lookAtWork,
  openClaims,
  type PathArgument,
  isNamed,
  parsePathArgument,
} from '../../changes/dirty-work.ts';
import { type LedgerPlace, appendEvents } from '../../sessions/journal.ts';
import { commandOwner, putStart, readStart } from '../../changes/windows.ts';
import { escapeLine, Failure, listed } from '../../domain/messages.ts';
import { chainChanges, atWorkBeside } from '../../domain/ledger/ownership.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import type { WorktreeEvent } from '../../domain/journal/events.ts';
import { claimEvents } from '../../domain/journal/compact.ts';
import type { DirtyPath } from '../../domain/ledger/tree-status.ts';
import { shortId, type SessionId, peerName, peerNames, sessionOfOwner } from '../../domain/names.ts';
import { committer, personOf } from '../../git/repository.ts';
import { isAllowedOnce } from '../../sessions/bypass.ts';
import { isInitialised, worktreeId } from '../../host/folders.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import { news, recordRefusal } from '../../sessions/happenings.ts';
import { type JudgedSession, clientsOf, putRecord } from '../../sessions/records.ts';
import { removeLoneSession } from '../../sessions/lone-session.ts';
import type { CommandResult } from '../verb.ts';
import type { TakenPathShape } from '../shapes.ts';
import { openJudged, workTreeOf } from '../workspace.ts';
import { prefixIn } from './status.ts';

interface TakePathsOptions {
  readonly paths: readonly string[];
  readonly session: string | undefined;
}

export interface TakePathsValue {
  /** The top of the working tree, and the folder in it where the command runs; both empty in a bare repository. */
  readonly worktree: string;
  readonly prefix: string;
  readonly items: readonly TakenPathShape[];
}

/**
 * Takes over other sessions' uncommitted changes: records the new owner, and tells the former ones. The files stay as
 * they are. Takes all paths or none: all names are checked before the first claim moves.
 */
export async function takePaths(
  options: TakePathsOptions,
  context: Context,
): Promise<CommandResult<TakePathsValue>> {
  const { cwd, now } = context;
  const { repository, judged, notices } = await openJudged(context);
  const { commonDir } = repository;
  if (!isInitialised(commonDir)) {
    throw new Failure('not-found', 'no session is on record in this repository', {
      hint: 'git handoff init',
    });
  }
  const current = await workTreeOf(repository);
  const named = options.paths.map((path) => parsePathArgument(path, cwd, commonDir, current));
  const taker = await takerOf(options, context, judged, commonDir);
  const plans: { work: DirtyWork; targets: readonly Target[] }[] = [];
  for (const tree of new Set(named.map((one) => one.tree.gitDir))) {
    const here = named.filter((one) => one.tree.gitDir === tree);
    const work = await lookAtWork(here[0]?.tree as WorkTree, judged, now, { keep: true });
    plans.push({ work, targets: targetsOf(here, work, taker.asker) });
  }
  for (const { work, targets } of plans) requireLeft(work, targets, taker, context);
  const items: TakenPathShape[] = [];
  for (const { work, targets } of plans) items.push(...(await takeIn(work, targets, taker, judged)));
  const worktree = current?.top ?? '';
  return { value: { worktree, prefix: prefixIn(worktree, cwd), items }, notices, clients: clientsOf(judged) };
}

/**
 * Refuses to let an agent take the changes of a session at work, unless a person allowed it. The owner gets a request.
 *
 * @throws Failure `not-owner`
 */
function requireLeft(
  { place, tree }: DirtyWork,
  targets: readonly Target[],
  { session, asker: { groups } }: Taker,
  context: Context,
): void {
  if (session === undefined) return;
  const claims = targets.flatMap(({ others }) => others);
  const claimants = claims.map((claim) => claim.session);
  const owners = atWorkBeside(claimants, groups);
  if (owners.length === 0 || isAllowedOnce(tree.commonDir, sessionOfOwner(session), context.now)) return;
  const held = claims.filter((claim) => owners.includes(claim.session));
  const asked =
    place === undefined ? undefined : ({ place, from: session, wish: 'edit', claims: held } as const);
  const paths = [...new Set(held.map(({ path }) => escapeLine(path)))];
  const [it, is] = owners.length === 1 ? ['it', 'is'] : ['they', 'are'];
  const text = `${listed(paths)}: uncommitted work of ${peerNames(owners, groups)}, which ${is} at work; nothing was taken, and ${it} will learn that you asked. Work on something else; if you cannot, ask the user`;
  recordRefusal({ commonDir: tree.commonDir, session, text, asked, now: context.now });
  throw new Failure('not-owner', text, { hint: 'git handoff status' });
}

async function takerOf(
  { session: option }: TakePathsOptions,
  context: Context,
  judged: readonly JudgedSession[],
  commonDir: string,
): Promise<Taker> {
  const { now } = context;
  const found = findSession(context, judged, option);
  const known = found?.isPerson === true ? undefined : found?.id;
  const session = known && commandOwner(commonDir, known, context.env);
  if (known !== undefined && !judged.some(({ record }) => record.session === known)) {
    throw new Failure('not-found', `session ${escapeLine(shortId(known))} is not on record here`, {
      hint: 'git handoff sessions --all',
    });
  }
  const id = found?.id ?? personOf(await committer(context.cwd));
  return { session, id: session ?? id, asker: askerOf(session, judged, commonDir), now };
}

function targetsOf(named: readonly PathArgument[], work: DirtyWork, asker: Asker): Target[] {
  const targets = new Map<string, Target>();
  for (const one of named)
    for (const target of pathsBelow(one, work, asker)) targets.set(target.dirty.path, target);
  return [...targets.values()];
}

/** The path itself or, for a folder, everything in it that somebody has claimed. */
function pathsBelow({ typed, path }: PathArgument, work: DirtyWork, asker: Asker): Target[] {
  const target = (dirty: DirtyPath): Target => {
    const { own, foreign, left } = openClaims(work, dirty, asker);
    return { dirty, own, others: [...foreign, ...left] };
  };
  const exact = work.status.dirty.get(path);
  if (exact !== undefined) return [target(exact)];
  const below = [...work.status.dirty.values()].filter((dirty) => isNamed(dirty.path, path));
  const claimed = below.map(target).filter(({ own, others }) => own.length + others.length > 0);
  if (claimed.length > 0) return claimed;
  const name = escapeLine(typed);
  const message =
    below.length === 0 ? `${name} has no uncommitted change` : `no session has changed anything in ${name}`;
  throw new Failure('not-found', message, { hint: 'git handoff status' });
}

interface Taker {
  /** The session or running sub-agent that takes; `undefined`: a person, who has no claims. */
  readonly session: SessionId | undefined;
  /** The name under which the take is recorded. */
  readonly id: SessionId | undefined;
  readonly asker: Asker;
  readonly now: number;
}

interface Target {
  readonly dirty: DirtyPath;
  readonly own: readonly OpenClaim[];
  readonly others: readonly OpenClaim[];
}

/** Moves the claims on paths of one worktree to the taker, and tells their owners. */
async function takeIn(
  work: DirtyWork,
  targets: readonly Target[],
  taker: Taker,
  judged: readonly JudgedSession[],
): Promise<TakenPathShape[]> {
  const place = work.place ?? { commonDir: work.tree.commonDir, worktreeId: worktreeId(work.tree.gitDir) };
  if (taker.session !== undefined) await enter(work, place, sessionOfOwner(taker.session), judged);
  const taken = targets.map((target) => takePath(work, place, target, taker));
  reportTake(place, taken, taker);
  return taken;
}

/** Puts the session on record in the worktree from which it takes: from now on no session is alone there. */
async function enter(
  { tree, lone }: DirtyWork,
  place: LedgerPlace,
  session: SessionId,
  judged: readonly JudgedSession[],
): Promise<void> {
  const own = judged.filter(({ record }) => record.session === session);
  const here = own.find((one) => one.worktreeId === place.worktreeId);
  if (here?.record.ended === null) return;
  const known = (own.find(({ liveness }) => liveness === 'live') ?? own[0])?.record;
  if (known === undefined) return;
  if (lone !== undefined && lone.session !== session) {
    appendEvents(place, lone.session, [...lone.claims.values()].flatMap(claimEvents));
  }
  await putRecord({ cwd: tree.top }, place.worktreeId, known, here?.oid);
  if (lone?.session !== session) removeLoneSession(tree.gitDir);
}

function takePath(work: DirtyWork, place: LedgerPlace, target: Target, taker: Taker): TakenPathShape {
  const { dirty, own, others } = target;
  const { session, now } = taker;
  const from = [...new Set(others.map((claim) => claim.session))];
  const shape = { path: dirty.path, worktree: work.tree.top, from, to: session ?? null };
  if (from.length === 0 && (session === undefined || own.length > 0)) return { ...shape, taken: false };
  // The taker's claim is added first: the path then has two owners for a moment, but never none.
  if (session !== undefined) appendEvents(place, session, handedOver(target, session, now));
  for (const former of from) endClaim(work, place, former, dirty, taker);
  return { ...shape, taken: true };
}

/** The events for the taker's ledger: claims that join the taker's own changes to the path with those of the others. */
function handedOver({ dirty, own, others }: Target, session: SessionId, now: number): WorktreeEvent[] {
  const { path, head, disk } = dirty;
  const mine = own.filter((claim) => claim.session === session);
  const all = [...mine, ...others];
  const base = all[0]?.base ?? head;
  const changes = all.length === 0 ? [{ before: head, after: disk }] : chainChanges(base, all);
  const fresh: WorktreeEvent[] =
    mine.length === 0 ? [] : [{ t: 'end', path, why: 'taken', by: session, at: now }];
  const sure = { evidence: 'explicit', weak: false, at: now } as const;
  return [...fresh, ...changes.map((change) => ({ t: 'claim', path, base, ...change, ...sure }) as const)];
}

function endClaim(
  { lone }: DirtyWork,
  place: LedgerPlace,
  former: SessionId,
  dirty: DirtyPath,
  { id, session, now }: Taker,
): void {
  const by = id === undefined ? {} : { by: id };
  appendEvents(place, former, [{ t: 'end', path: dirty.path, why: 'taken', ...by, at: now }]);
  // No ledger has a lone session's changes: those that a person takes are recorded as older than the session.
  if (session !== undefined || lone?.session !== former) return;
  const start = readStart(place, former);
  if (start !== undefined) {
    putStart(place, former, { ...start, dirty: new Map(start.dirty).set(dirty.path, dirty) });
  }
}

function reportTake(
  place: LedgerPlace,
  taken: readonly TakenPathShape[],
  { session, asker, now }: Taker,
): void {
  for (const former of new Set(taken.flatMap(({ from }) => from as readonly SessionId[]))) {
    const paths = taken.filter(({ from }) => from.includes(former)).map(({ path }) => path);
    const who = session === undefined ? 'A person' : peerName(session, asker.groups);
    const hands = session === undefined ? 'their hands' : 'its hands';
    const text =
      `${who} took ${listed(paths.map(escapeLine))}: your uncommitted change there is in ${hands} now. ` +
      'Do not commit it; see: git handoff status';
    appendEvents(place, session ?? former, [news(text, now, { to: former, paths, about: 'take' })]);
  }
}
