import type { WorkTree } from '../../changes/dirty-work.ts';
import { escapeLine, Failure, shellWord } from '../../domain/messages.ts';
import type { OpenClaim, SessionLedger } from '../../domain/ledger/claims.ts';
import { sameState, type DirtyPath, type TreeStatus } from '../../domain/ledger/tree-status.ts';
import { claimOwners } from '../../domain/ledger/vanished.ts';
import { type SessionId, peerName, sessionOfOwner } from '../../domain/names.ts';
import type { SnapshotItem } from '../../domain/snapshot.ts';
import { diskState } from '../../git/worktrees.ts';
import { worktreeId } from '../../host/folders.ts';
import type { Budget } from '../../host/io.ts';
import type { Context } from '../../sessions/caller.ts';
import { readLedgers, readRunningAgents } from '../../sessions/journal.ts';
import { type JudgedSession, groupSessions } from '../../sessions/records.ts';
import { isLoneSession } from '../../sessions/lone-session.ts';
import type { RestorePlan } from '../../snapshot/plan.ts';
import { restoreSnapshot } from '../../snapshot/restore.ts';
import { keepFirst } from '../../snapshot/take.ts';
import type { CommandResult } from '../verb.ts';
import { findOwner, judgedSessions, pathFrom, requireWorkTree } from '../workspace.ts';
import {
  type FoundObject,
  type KnownRescue,
  findObject,
  isUndone,
  type Rescues,
  type Wanted,
  openRescues,
  select,
  sessionOf,
} from './rescues.ts';

interface RestoreOptions extends Wanted {
  /** Whether to overwrite uncommitted changes, which are first saved as a rescue. */
  readonly force: boolean;
  readonly session: string | undefined;
}

export interface RestoreValue {
  /** The rescue that was restored; `null`: an object that `rescue search` found. */
  readonly number: number | null;
  readonly oid: string;
  /** The rescue that holds what was overwritten; `null` when nothing was. */
  readonly saved: number | null;
  readonly items: readonly {
    readonly path: string;
    /** Whether the restore removed a file that `git handoff undo` had brought back. */
    readonly removed: boolean;
    /** False when the file already had this content, or was already gone. */
    readonly written: boolean;
  }[];
}

interface Scene {
  readonly cwd: string;
  readonly place: WorkTree;
  readonly rescues: Rescues;
  readonly rescue: KnownRescue | FoundObject;
  readonly items: readonly SnapshotItem[];
  readonly self: SessionId | undefined;
  readonly judged: readonly JudgedSession[];
  readonly ledgers: readonly SessionLedger[];
  readonly now: number;
  readonly budget: Budget;
}

/**
 * Restores files of a rescue to this working tree, all or none: it first checks everything that it would overwrite.
 *
 * @throws Failure `not-found`; `refused` for uncommitted changes without `force`; `not-owner` for those of another live
 * session; `environment` in a bare repository
 */
export async function restoreRescued(
  { which, paths, force, session: option }: RestoreOptions,
  context: Context,
): Promise<CommandResult<RestoreValue>> {
  const { cwd, now, budget } = context;
  const rescues = await openRescues(context, paths);
  const { workspace, settings } = rescues;
  const place = rescues.tree ?? (await requireWorkTree(workspace.repository));
  const { rescue, items } =
    (await findObject(cwd, { which, paths: rescues.paths })) ?? (await select(cwd, rescues, which));
  const ledgers = rescues.place === undefined ? [] : readLedgers(rescues.place);
  const self = findOwner(context, workspace, option);
  const judged = judgedSessions(workspace, settings, now);
  const scene = { cwd, place, rescues, rescue, items, self, judged, ledgers, now, budget };
  let saved: number | undefined;
  const check = async (plan: RestorePlan) => {
    const [refused] = plan.refused;
    if (refused !== undefined) throw inTheWay(refused, rescue);
    checkDirty(scene, plan, force);
    saved = await saveDirty(scene, plan);
    return ownersOf(scene, plan);
  };
  const withIndex = isUndone(rescue);
  const done = await restoreSnapshot(place, { items }, { how: { kind: 'whole', withIndex }, now, check });
  const value = {
    number: rescue.kind === 'found' ? null : rescue.number,
    oid: rescue.oid,
    saved: saved ?? null,
    items: done.paths.map(({ path, disk, writes }) => ({ path, removed: disk === null, written: writes })),
  };
  return { value, notices: [...workspace.notices, ...headNotices(rescue, done)] };
}

const overwritten = ({ paths }: RestorePlan) => paths.filter(({ overwrites }) => overwrites);

/** Refuses to overwrite uncommitted changes: another live session's always, any others unless `force` is set. */
function checkDirty(scene: Scene, plan: RestorePlan, force: boolean): void {
  const { rescue, rescues, self, judged, place, cwd, ledgers } = scene;
  const { paths, status } = plan;
  const dirty = overwritten(plan);
  if (dirty.length === 0) return;
  const groups = groupSessions(self, judged, readRunningAgents(rescues.workspace.repository.commonDir));
  const claim = (self === undefined ? [] : ledgers)
    .filter(({ session }) => groups.foreign.has(session))
    .flatMap(({ claims }) => [...claims.values()])
    .find((one) => dirty.some(({ path }) => path === one.path && !isOwnComing(one, path, scene, status)));
  if (claim !== undefined) {
    const message = `${escapeLine(claim.path)} has uncommitted changes of ${peerName(claim.session, groups)}, which is at work`;
    throw new Failure('not-owner', message, { hint: 'git handoff status' });
  }
  if (force) return;
  const names = dirty.map(({ path }) => escapeLine(path)).join(', ');
  const words = paths.map(({ path }) => shellWord(pathFrom(cwd, place.top)(path)));
  throw new Failure('refused', `this would overwrite uncommitted changes: ${names}`, {
    hint: `git handoff rescue restore --force ${rescue.number} -- ${words.join(' ')}`,
  });
}

/** Whether restored content belongs to the caller or, if a command replaced it, to the session that claims the path. */
function isOwnComing(claim: OpenClaim, path: string, scene: Scene, status: TreeStatus): boolean {
  const { rescue, self } = scene;
  const owner = formerOwner(scene, path);
  // A file that `undo` saved may contain others' changes, too.
  if (owner !== null && self !== undefined && owner === sessionOfOwner(self)) return !isUndone(rescue);
  return (
    owner === sessionOfOwner(claim.session) &&
    !sameState(status.dirty.get(claim.path)?.disk ?? null, claim.after)
  );
}

/** Saves what will be overwritten. What cannot be saved is not overwritten. */
async function saveDirty(
  { rescues, rescue, place: { top, gitDir }, self, ledgers, now, budget }: Scene,
  plan: RestorePlan,
): Promise<number | undefined> {
  const { status } = plan;
  const entries = overwritten(plan).flatMap(({ path, raw, stamp }): DirtyPath[] => {
    const known = status.dirty.get(path) ?? { path, raw, head: null, index: null, disk: null, stamp };
    // The file may be on the disk although git does not list it (ignored) or reports it as deleted (no longer tracked).
    const disk = known.disk ?? diskState(top, { path, raw });
    // A file that has just vanished has nothing to save or to overwrite.
    return disk === null ? [] : [{ ...known, disk }];
  });
  if (entries.length === 0) return undefined;
  const command = `git handoff rescue restore --force ${rescue.number}`;
  const owners = claimOwners(ledgers);
  return keepFirst(
    { cwd: top, worktreeId: worktreeId(gitDir) },
    { ...status, dirty: new Map(entries.map((entry) => [entry.path, entry])) },
    {
      reason: { kind: 'before', command, session: self === undefined ? null : sessionOfOwner(self), at: now },
      ownerOf: (path) => owners.get(path) ?? null,
    },
    { limits: rescues.settings.rescue, now, budget },
  );
}

/** Returns the owner of each restored file: the session that lost the file, if it is at work, or else the caller. */
function ownersOf(scene: Scene, { paths }: RestorePlan) {
  const { place, judged, self } = scene;
  const live = new Set(
    judged.filter(({ liveness }) => liveness === 'live').map(({ record }) => record.session),
  );
  const isLone = [...live].some((session) => isLoneSession(place.gitDir, session));
  const written = new Set(isLone ? [] : paths.filter(({ writes }) => writes).map(({ path }) => path));
  return (path: string) => {
    if (!written.has(path)) return undefined;
    const former = formerOwner(scene, path);
    const isOthers = former !== null && former !== (self && sessionOfOwner(self)) && live.has(former);
    return isOthers ? former : self;
  };
}

function formerOwner({ rescue, items }: Scene, path: string): SessionId | null {
  const item = items.find((one) => one.path === path);
  return item === undefined ? null : sessionOf(rescue, item);
}

/** Warns that restored files lack what was committed since. */
function headNotices(rescue: Scene['rescue'], { status }: RestorePlan): string[] {
  if (rescue.kind === 'stash')
    return [`to merge it instead of replacing whole files: git stash apply ${rescue.oid}`];
  if (rescue.kind === 'found') return ['the files came back whole: look at git diff before you commit them'];
  return rescue.base === status.head.oid
    ? []
    : ['HEAD has moved since then, and the files came back whole: look at git diff before you commit them'];
}

function inTheWay({ path, why }: RestorePlan['refused'][number], { kind, number }: Scene['rescue']): Failure {
  return new Failure('refused', `${escapeLine(path)} cannot be restored: ${escapeLine(why)}`, {
    hint:
      kind === 'found'
        ? `git handoff rescue search -- ${shellWord(`:/${path}`)}`
        : `git handoff rescue show --raw ${number} -- ${shellWord(`:/${path}`)}`,
  });
}
