import { askerOf } from '../../changes/dirty-work.ts';
import { withoutOperation } from '../../changes/operations.ts';
import { putLast, readLast } from '../../changes/windows.ts';
import type { SessionPart } from '../../changes/session-parts.ts';
import { counted, escapeLine, Failure, listed, shellWord } from '../../domain/messages.ts';
import type { WorktreeEvent } from '../../domain/journal/events.ts';
import { isStaged } from '../../domain/ledger/ownership.ts';
import { sameState } from '../../domain/ledger/tree-status.ts';
import { type SessionId, peerName, peerNames, sessionOfOwner, shortOid } from '../../domain/names.ts';
import { commitsOf } from '../../git/log.ts';
import { unfinishedOperation } from '../../git/operations.ts';
import { committer } from '../../git/repository.ts';
import { readTreeStatus } from '../../git/worktrees.ts';
import { worktreeId } from '../../host/folders.ts';
import { succeededBy } from '../../domain/session.ts';
import { isAllowedOnce } from '../../sessions/bypass.ts';
import type { Context } from '../../sessions/caller.ts';
import { news, recordRefusal } from '../../sessions/happenings.ts';
import { type LedgerPlace, appendEvents } from '../../sessions/journal.ts';
import { clientsOf } from '../../sessions/records.ts';
import { applyPlan } from '../../snapshot/restore.ts';
import { type TakeBackPlan, type TakenBack, planTakeBack } from './take-back.ts';
import { keepFirst } from '../../snapshot/take.ts';
import { type Rendered, type TextContext } from '../../ui/terminal.ts';
import type { CommandResult } from '../verb.ts';
import {
  type SessionWork,
  UNUSABLE,
  type WorkOptions,
  workOfSession,
  readSessionWork,
  sessionNamed,
} from './session-work.ts';

interface UndoValue {
  readonly session: string;
  readonly rescue: number;
  readonly items: readonly { readonly path: string }[];
  /** The session's commits, newest first: they stay. */
  readonly commits: readonly string[];
}

/**
 * Takes only one session's uncommitted changes out of the working tree and the index: all or none. A rescue keeps them first.
 *
 * @throws Failure `usage` for a person who names no session, `not-owner` for the work of another session that is live,
 * `not-found` when there is nothing to undo, `refused` for changes that a rescue cannot keep, or that cannot be separated from
 * others', `lost-race` when a file changes meanwhile
 */
export async function undo(options: WorkOptions, context: Context): Promise<CommandResult<UndoValue>> {
  const scene = await readSessionWork(options, context);
  const { self, work, judged } = scene;
  const session = options.of === undefined ? self : sessionNamed(options.of, scene);
  if (session === undefined) {
    throw new Failure('usage', 'whose changes should be undone?', { hint: 'git handoff diff --stat' });
  }
  const { parts, staged } = await workOfSession(scene, session);
  requirePermission(scene, session, parts);
  const plan = await withoutMerged(scene, session, await planTakeBack(work.tree, parts, staged));
  const commits = await ownCommits(scene, session, context);
  if (plan.refused.length > 0) throw refusal(scene, options, plan);
  if (plan.paths.length === 0) throw nothing(scene, session, commits);
  const place = work.place ?? { commonDir: work.tree.commonDir, worktreeId: worktreeId(work.tree.gitDir) };
  // The rescue also refers to the contents that remain after the undo: these must be stored first.
  await plan.batch.storeMany({ cwd: work.tree.top });
  const rescue = await keep(scene, place, session, plan, context);
  await applyPlan(work.tree, plan.paths);
  await record(scene, place, plan);
  await tell(scene, place, { session, rescue, plan }, context);
  const items = plan.paths.map(({ path }) => ({ path }));
  const value = { session, rescue, items, commits };
  return { value, notices: scene.notices, clients: clientsOf(judged) };
}

/** An agent may undo its own changes and those of sessions that are over. A person may undo any session's changes. */
function requirePermission(scene: SessionWork, session: SessionId, parts: readonly SessionPart[]): void {
  const { self, asker, work, now } = scene;
  const { groups } = asker;
  const owners = [session, ...parts.flatMap(({ mine }) => mine.map((claim) => claim.session))];
  // The changes of a session that is over may include those of a live session that it started.
  const live = owners.find((owner) => groups.foreign.has(owner));
  if (self === undefined || live === undefined) return;
  const { commonDir } = work.tree;
  if (isAllowedOnce(commonDir, sessionOfOwner(self), now)) return;
  const claims = parts.flatMap(({ mine }) => mine);
  const { place } = work;
  const asked = place === undefined ? undefined : ({ place, from: self, wish: 'discard', claims } as const);
  const text = `${peerName(live, groups)} is at work: only the user may undo its changes; nothing was undone`;
  recordRefusal({ commonDir, session: self, text, asked, now });
  throw new Failure('not-owner', text, { hint: `git handoff diff ${shellWord(session)} --stat` });
}

/** Refuses changes that an unfinished merge, pick or revert has staged: the commit that finishes it must contain them. */
async function withoutMerged(
  { work: { tree, status, place, ledgers }, judged }: SessionWork,
  session: SessionId,
  plan: TakeBackPlan,
): Promise<TakeBackPlan> {
  const { top: cwd, gitDir } = tree;
  const staged = plan.paths.map(({ part }) => part.dirty).filter(isStaged);
  const { groups } = askerOf(session, judged, tree.commonDir);
  const finishing = { cwd, gitDir, head: status.head, ledger: place, ledgers, groups, self: session };
  const kept = new Set(await withoutOperation(finishing, unfinishedOperation(gitDir), staged));
  const isMerged = ({ part: { dirty } }: TakenBack) => isStaged(dirty) && !kept.has(dirty);
  const merged = plan.paths.filter(isMerged).map(({ part }) => ({ part, why: 'operation' }) as const);
  return {
    ...plan,
    paths: plan.paths.filter((one) => !isMerged(one)),
    refused: [...plan.refused, ...merged],
  };
}

const WHY = {
  overlap: 'its changes overlap or touch those of others',
  unknown: 'its changes cannot be separated from those of others (not text, or too large)',
  staged: 'what is staged there cannot be separated from the changes of others',
  conflict: 'it is in conflict',
  submodule: 'it is a submodule',
  unusable: UNUSABLE,
  operation: 'it is part of an unfinished merge, pick or revert',
  occupied: 'something that git does not list is in the way',
  filter: 'git would write the rest of it differently (filters, line endings)',
} as const;

function refusal(scene: SessionWork, { of }: WorkOptions, { refused, paths }: TakeBackPlan): Failure {
  const { asker, typedPaths } = scene;
  const { groups } = asker;
  const lines = refused.map(({ part, why }) => {
    const ids = part.others.map((one) => one.session);
    const others = ids.length === 0 ? '' : ` (${peerNames(ids, groups)})`;
    return `${escapeLine(part.dirty.path)}: ${WHY[why]}${others}`;
  });
  const rest = paths.map(({ path }) => path);
  const whose = of === undefined ? '' : ` ${shellWord(of)}`;
  const hint =
    rest.length === 0
      ? `git handoff diff${whose}${typedPaths(refused.map(({ part }) => part.dirty.path))}`
      : `git handoff undo${whose}${typedPaths(rest)}`;
  return new Failure('refused', `nothing was undone: ${listed(lines)}`, { hint });
}

function nothing({ asker }: SessionWork, session: SessionId, commits: readonly string[]): Failure {
  const message = `${peerName(session, asker.groups)} has no uncommitted change there`;
  const hint = commits.length === 0 ? 'git handoff status' : revert(commits);
  return new Failure('not-found', message, { hint });
}

const revert = (commits: readonly string[]) => `git revert --no-edit ${commits.join(' ')}`;

const MAX_NAMED = 20;

/** The session's commits on this branch, newest first, as git abbreviates them. */
async function ownCommits(
  { work: { tree, status }, named }: SessionWork,
  session: SessionId,
  { budget }: Context,
): Promise<string[]> {
  // If paths are named, only their uncommitted changes are meant: a commit may have changed other paths, too.
  if (named !== undefined || status.head.oid === null) return [];
  const options = { cwd: tree.top, timeoutMs: budget.left() };
  const commits = await commitsOf(options, [session], ['--no-merges', status.head.oid]);
  return commits.slice(0, MAX_NAMED).map(({ oid }) => shortOid(oid));
}

/** Keeps what will be taken back. What cannot be kept is not taken back. */
async function keep(
  { work, settings, self, now }: SessionWork,
  place: LedgerPlace,
  session: SessionId,
  { paths }: TakeBackPlan,
  { budget }: Context,
): Promise<number> {
  const { top } = work.tree;
  const others = paths.filter(({ disk, head }) => !sameState(disk, head));
  const left = new Map(others.map(({ path, disk }) => [path, disk]));
  const by = self === undefined ? null : sessionOfOwner(self);
  const reason = { kind: 'undone', command: 'git handoff undo', session: by, at: now } as const;
  return keepFirst(
    { cwd: top, worktreeId: place.worktreeId },
    { ...work.status, dirty: new Map(paths.map(({ path, part }) => [path, part.dirty])) },
    { reason, ownerOf: () => session, leftAt: (path) => left.get(path) ?? null },
    { limits: settings.rescue, now, budget },
  );
}

/** Ends the session's claims. What is left in a file belongs to whichever other session changed it last. */
async function record(
  { work, now: at }: SessionWork,
  place: LedgerPlace,
  { paths }: TakeBackPlan,
): Promise<void> {
  for (const { part, path, disk: after } of paths) {
    const before = part.dirty.disk;
    const owners = new Set(part.mine.map(({ session }) => session));
    for (const owner of owners) appendEvents(place, owner, [{ t: 'end', path, why: 'clean', at }]);
    const [other] = [...part.others].sort((a, b) => b.at - a.at);
    if (other === undefined || after === null) continue;
    const { session, base, evidence, weak } = other;
    const change: WorktreeEvent = { t: 'claim', path, base, before, after, evidence, weak, at };
    appendEvents(place, session, [change]);
  }
  // No later command may report the undone changes as lost.
  const last = readLast(place);
  if (last === undefined) return;
  putLast(place, await readTreeStatus(work.tree.top, { now: at, known: last }));
}

/** Tells the live sessions whose changes were undone, if somebody else did it. */
async function tell(
  { self, asker, judged, now }: SessionWork,
  place: LedgerPlace,
  { session, rescue, plan }: { session: SessionId; rescue: number; plan: TakeBackPlan },
  { cwd }: Context,
): Promise<void> {
  const claims = plan.paths.flatMap(({ part }) => part.mine);
  const owners = new Set([session, ...claims.map((one) => one.session)].map(sessionOfOwner));
  const records = judged.map(({ record }) => record);
  const hearers = judged.flatMap(({ record: { session: id }, liveness }) =>
    liveness === 'live' &&
    !asker.groups.own.has(id) &&
    [id, ...succeededBy(id, records)].some((one) => owners.has(one))
      ? [id]
      : [],
  );
  const who = self === undefined ? (await committer(cwd)).name || 'The user' : peerName(self, asker.groups);
  const paths = plan.paths.map(({ path }) => path);
  const text =
    `${escapeLine(who)} undid your changes in ${listed(paths.map(escapeLine))}: do not restore them. ` +
    `They are kept; to look: git handoff rescue show ${rescue}`;
  for (const to of hearers)
    appendEvents(place, self ?? session, [news(text, now, { to, paths, about: 'loss' })]);
}

/** Says what was undone, how to bring it back, and which commits stay. */
export function renderUndone(
  { session, rescue, items, commits }: UndoValue,
  { clients }: TextContext,
): Rendered {
  const paths = items.map(({ path }) => `  ${escapeLine(path)}\n`).join('');
  const [what, it] = commits.length === 1 ? ['commit stays', 'it'] : ['commits stay', 'them'];
  const stay = commits.length === 0 ? '' : `Its ${what}; to undo ${it}: ${revert(commits)}\n`;
  return (
    `undid the changes of ${peerName(session, { clients })} in ${counted(items.length, 'file')}:\n${paths}` +
    `To bring them back: git handoff rescue restore ${rescue}\n${stay}`
  );
}
