import { join, relative } from 'node:path';
import { appendEvents, readLedgers } from '../../sessions/journal.ts';
import { Failure } from '../../domain/failure.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { sameState } from '../../domain/ledger/file-state.ts';
import type { DirtyPath, TreeStatus } from '../../domain/ledger/tree-status.ts';
import { claimOwners } from '../../domain/ledger/vanished.ts';
import type { Oid, SessionId } from '../../domain/names.ts';
import { type SnapshotItem, contentOf } from '../../domain/snapshot.ts';
import { peerName } from '../../domain/owner-name.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { asCheckedOut } from '../../git/filters.ts';
import { listTree } from '../../git/list-tree.ts';
import { scratchStore, hashFiles } from '../../git/scratch-store.ts';
import { diskState, stampOf, readTreeStatus } from '../../git/work-tree.ts';
import { realPath } from '../../host/disk.ts';
import { worktreeId } from '../../host/folders.ts';
import type { Budget } from '../../host/io.ts';
import { putFile, obstacle, isOccupied } from '../../host/put-file.ts';
import { takeSnapshot } from '../../snapshot/take.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import { type JudgedSession, sidesOf } from '../../sessions/records.ts';
import { isSolo } from '../../sessions/solo.ts';
import type { CommandResult } from '../result.ts';
import { judgedSessions } from '../workspace.ts';
import { readKept, wantedPaths } from './contents.ts';
import { type KnownRescue, type Rescues, openRescues, rescuePlace, select, sessionOf } from './rescues.ts';

interface RestoreOptions {
  readonly which: string;
  readonly paths: readonly string[];
  /** Uncommitted changes there may be written over; they are kept as a rescue first. */
  readonly force: boolean;
  readonly session: string | undefined;
}

export interface RestoreValue {
  /** The rescue that it came from. */
  readonly number: number;
  /** The rescue that holds what was written over; `null`: nothing was. */
  readonly saved: number | null;
  readonly items: readonly {
    readonly path: string;
    /** False: it was there already, the very same. */
    readonly written: boolean;
  }[];
}

/** Everything that a restore is decided by. */
interface Restoring {
  readonly cwd: string;
  readonly top: string;
  readonly rescues: Rescues;
  readonly rescue: KnownRescue;
  readonly plans: readonly RestoredFile[];
  readonly before: TreeStatus;
  readonly self: SessionId | undefined;
  readonly judged: readonly JudgedSession[];
  readonly now: number;
  readonly budget: Budget;
}

/**
 * Brings files of a rescue back into this working tree. All or none: what would be written over is looked at first.
 *
 * @throws Failure `not-found`; `refused` for uncommitted changes without `force`; `not-owner` for those of another live
 * session; `environment` in a bare repository
 */
export async function restoreRescued(
  { which, paths, force, session: option }: RestoreOptions,
  context: Context,
): Promise<CommandResult<RestoreValue>> {
  const { cwd, now, budget } = context;
  const rescues = await openRescues(context);
  const { top, workspace, settings } = rescues;
  if (top === undefined)
    throw new Failure('environment', 'there is no working tree here', { hint: 'git worktree list' });
  const { rescue, items: kept } = await select(cwd, rescues, { which, paths: wantedPaths(paths, cwd, top) });
  const before = await readTreeStatus(top, { now });
  const plans = await planFiles(top, kept, before);
  const self = findSession(context, workspace.sessions, option)?.id;
  const judged = judgedSessions(workspace, settings, now);
  const restoring = { cwd, top, rescues, rescue, plans, before, self, judged, now, budget };
  checkDirty(restoring, force);
  const saved = await saveDirty(restoring);
  await writeFiles(restoring);
  await claimRestored(restoring);
  const items = plans.map(({ file: { path }, state }) => ({ path, written: state !== 'same' }));
  const notices = [...workspace.notices, ...headNotices(restoring)];
  return { value: { number: rescue.number, saved: saved ?? null, items }, notices };
}

const inState = (plans: readonly RestoredFile[], wanted: RestoredFile['state']) =>
  plans.filter(({ state }) => state === wanted).map(({ file }) => file);

/** Refuses to write over uncommitted changes, unless they are nobody else's and it is asked for. */
function checkDirty(restoring: Restoring, force: boolean): void {
  const { rescues, rescue, plans, self, judged, top, cwd } = restoring;
  const dirty = inState(plans, 'dirty');
  if (dirty.length === 0) return;
  const place = rescuePlace(rescues.workspace.repository, top);
  const sides = sidesOf(self, judged);
  const claim = (place === undefined || self === undefined ? [] : readLedgers(place))
    .filter(({ session }) => sides.foreign.has(session))
    .flatMap(({ claims }) => [...claims.values()])
    .find((claim) => dirty.some((file) => file.path === claim.path && !isOwnComing(claim, file, restoring)));
  if (claim !== undefined) {
    throw new Failure(
      'not-owner',
      `${escapeLine(claim.path)} has uncommitted changes of ${peerName(claim.session, sides)}, which is at work`,
      { hint: `git handoff take -- ${shellWord(`${top}/${claim.path}`)}` },
    );
  }
  if (force) return;
  const names = dirty.map(({ path }) => escapeLine(path)).join(', ');
  const words = plans.map(({ file }) => shellWord(relative(realPath(cwd), join(realPath(top), file.path))));
  throw new Failure('refused', `this would overwrite uncommitted changes: ${names}`, {
    hint: `git handoff rescue restore --force ${rescue.number} -- ${words.join(' ')}`,
  });
}

/**
 * Whether what comes back to a path is its owner's: the caller's own work, or that of the session which claims the path, in
 * whose place a command has put something since.
 */
function isOwnComing(claim: OpenClaim, file: SnapshotItem, { rescue, self, before }: Restoring): boolean {
  const owner = sessionOf(rescue, file);
  if (owner === self) return true;
  return owner === claim.session && !sameState(before.dirty.get(claim.path)?.disk ?? null, claim.after);
}

/** Keeps what is about to be written over; what cannot be kept is not written over. */
async function saveDirty({ rescues, rescue, plans, before, self, top, now, budget }: Restoring) {
  const dirty = inState(plans, 'dirty');
  if (dirty.length === 0) return undefined;
  const { repository } = rescues.workspace;
  const entries = dirty.map((file): DirtyPath => {
    const listed = before.dirty.get(file.path);
    const named = { path: file.path, ...(file.name === undefined ? {} : { raw: file.name }) };
    const disk = diskState(top, named);
    return listed ?? { ...named, head: null, index: null, disk, stamp: stampOf(top, named) };
  });
  const command = `git handoff rescue restore --force ${rescue.number}`;
  const place = rescuePlace(repository, top);
  const owners = claimOwners(place === undefined ? [] : readLedgers(place));
  const ownerOf = (path: string) => owners.get(path) ?? null;
  const occasion = { reason: { kind: 'before', command, session: self ?? null, at: now }, ownerOf } as const;
  const saved = await takeSnapshot(
    { cwd: top, worktreeId: worktreeId(repository.gitDir) },
    { ...before, dirty: new Map(entries.map((entry) => [entry.path, entry])) },
    occasion,
    { limits: rescues.settings.rescue, now, budget },
  );
  const [skipped] = saved?.skipped ?? [];
  if (skipped === undefined) return saved?.number;
  throw new Failure(
    'refused',
    `${escapeLine(skipped.path)} could not be saved first, so nothing was written`,
    {
      hint: `mv -- ${shellWord(skipped.path)} ${shellWord(`${skipped.path}.mine`)}`,
    },
  );
}

/** A snapshot's own bytes come back as they were; what git has stored is written as a checkout writes it. */
async function writeFiles({ plans, top }: Restoring): Promise<void> {
  for (const { file, mode, content, state } of plans) {
    if (state === 'same') continue;
    const isStored = file.raw === undefined && mode !== '120000';
    const bytes = isStored ? await asCheckedOut(top, file.path, content.oid) : content.bytes;
    putFile(top, { path: pathBytes(file), mode, content: bytes, isPrivate: file.isPrivate === true });
  }
}

/** What came back is again the work of the session that it was taken from, if that one is at work; else the caller's. */
async function claimRestored({ rescues, rescue, plans, self, judged, top, now }: Restoring): Promise<void> {
  const { repository } = rescues.workspace;
  const place = rescuePlace(repository, top);
  const live = new Set(
    judged.filter(({ liveness }) => liveness === 'live').map(({ record }) => record.session),
  );
  if (place === undefined || [...live].some((session) => isSolo(place.gitDir, session))) return;
  const written = plans.filter(({ state }) => state !== 'same').map(({ file }) => file);
  if (written.length === 0) return;
  const paths = written.map(({ path }) => path);
  const { dirty } = await readTreeStatus(top, { now, paths, scratch: scratchStore(place.commonDir) });
  for (const file of written) {
    const former = sessionOf(rescue, file);
    const owner = former !== null && live.has(former) ? former : self;
    const entry = dirty.get(file.path);
    if (owner === undefined || entry === undefined) continue;
    const { path, head, disk } = entry;
    const claim = { t: 'claim', path, base: head, before: head, after: disk, at: now } as const;
    appendEvents(place, owner, [{ ...claim, evidence: 'explicit', weak: false }]);
  }
}

/** A file is brought back whole: what was committed since then is not in it. */
function headNotices({ rescue, before }: Restoring): string[] {
  if (rescue.kind === 'stash')
    return [`to merge it instead of replacing whole files: git stash apply ${rescue.oid}`];
  return rescue.base === before.head.oid
    ? []
    : ['HEAD has moved since then, and the files came back whole: look at git diff before you commit them'];
}

/** A file to bring back, and what stands there now. */
interface RestoredFile {
  readonly file: SnapshotItem;
  readonly mode: string;
  readonly content: { readonly oid: Oid; readonly bytes: Buffer };
  /** `same`: it is there already · `free`: nothing is lost by writing it · `dirty`: uncommitted work stands there. */
  readonly state: 'same' | 'free' | 'dirty';
}

/**
 * Looks at what each file would write over.
 *
 * @throws Failure `refused` where a folder or a link stands in the way; `integrity` when a content is gone
 */
async function planFiles(
  top: string,
  files: readonly SnapshotItem[],
  { dirty, head }: TreeStatus,
): Promise<RestoredFile[]> {
  const contents = await readKept(top, files);
  const named = files.map(({ path }) => path);
  const tracked = head.oid === null ? [] : await listTree(top, head.oid, named);
  const atHead = new Map(tracked.map((one) => [one.path, one]));
  // git may have been told not to look at a file (`git update-index --assume-unchanged`).
  const clean = tracked.filter(({ path }) => !dirty.has(path)).map(({ path }) => path);
  const onDisk = await hashFiles(top, clean, {});
  return files.map((file, at): RestoredFile => {
    const why = obstacle(top, pathBytes(file));
    if (why !== undefined) throw inTheWay(file, why);
    const { mode = '', oid: stored = null } = contentOf(file) ?? {};
    const oid = file.raw ?? stored;
    const bytes = contents[at];
    if (oid === null || bytes === undefined) throw new TypeError('no content');
    const planned = { file, mode, content: { oid, bytes } };
    const now = dirty.get(file.path);
    const there = now === undefined ? atHead.get(file.path) : now.disk;
    if (there?.oid === oid && there.mode === mode) return { ...planned, state: 'same' };
    // What git ignores is in no list, and is lost just as well.
    const isClean = now === undefined && atHead.get(file.path)?.oid === onDisk.get(file.path);
    const isFree = !isOccupied(top, pathBytes(file)) || (isClean && atHead.has(file.path));
    return { ...planned, state: isFree ? 'free' : 'dirty' };
  });
}

/** The name of a file as the disk has it. */
function pathBytes({ path, name }: SnapshotItem): Buffer {
  return name === undefined ? Buffer.from(path) : Buffer.from(name, 'latin1');
}

function inTheWay({ path }: SnapshotItem, why: string): Failure {
  return new Failure('refused', `${escapeLine(path)} cannot be restored: ${escapeLine(why)}`, {
    hint: `git handoff rescue show --raw -- ${shellWord(path)}`,
  });
}
