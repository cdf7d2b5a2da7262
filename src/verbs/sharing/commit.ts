import { join } from 'node:path';
import { recordedMakers, withoutOperation, operationText } from '../../changes/operations.ts';
import { appendEvents, readLedger } from '../../sessions/journal.ts';
import { findStale } from '../../changes/stale-paths.ts';
import { escapeLine, Failure, shellWord } from '../../domain/messages.ts';
import type { WorktreeEvent } from '../../domain/journal/events.ts';
import { sameState, type FileState } from '../../domain/ledger/tree-status.ts';
import type { StagedPath } from '../../domain/ledger/mixing.ts';
import { namedPeer, namesOwn, claimsOn, doubts, hasStaged, strong } from '../../domain/ledger/ownership.ts';
import { type Oid, peerName } from '../../domain/names.ts';
import { changedPaths, parentsOf } from '../../git/commits.ts';
import { ObjectBatch } from '../../git/objects.ts';
import type { Operation } from '../../git/operations.ts';
import { setEntries, whileLocked, whileMoved } from '../../git/scratch.ts';
import { objectFormat, openRepository } from '../../git/repository.ts';
import { runGit } from '../../git/run.ts';
import { headCommit } from '../../git/log.ts';
import { stagedPaths, unmergedPaths } from '../../git/staged.ts';
import { takeLock } from '../../host/process-lock.ts';
import { StateMerger } from '../../snapshot/three-way.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../verb.ts';
import type { CommitShape } from '../shapes.ts';
import {
  composeContended,
  composeShare,
  type Again,
  type Composed,
  commitAgain,
  passedNotices,
  requireOwnership,
  unfinishedHere,
} from './commit/compose.ts';
import { type GitCommitOptions, type IndexPlan, makeCommit, opensEditor } from './commit/git-commit.ts';
import { type CommitScene, type Share, readScene } from './commit/scene.ts';

interface CommitOptions extends GitCommitOptions {
  readonly pathspecs: readonly string[];
  readonly session: string | undefined;
  /** Whether a person can use an editor here. */
  readonly isAtTerminal: boolean;
}

const isAmend = ({ words }: CommitOptions) => words.includes('--amend');

/**
 * Commits this session's own paths and nothing else, with git's own hooks, signing and editor. If another live
 * session has changed a file, too, only this session's hunks go in.
 *
 * @throws Failure `usage` without a message where no editor can open, `not-found` if the session changed nothing, `not-owner`
 * for another's path or commit, `refused` when git or a hook says no, `lost-race` when HEAD moved at every try
 */
export async function commit(options: CommitOptions, context: Context): Promise<CommandResult<CommitShape>> {
  await requireMessage(options, context);
  const attempt = () => commitOnce(options, context);
  const { gitDir } = await openRepository(context.cwd);
  const done = await withCommitLock(gitDir, () => (opensEditor(options) ? attempt() : whileMoved(attempt)));
  if (done !== 'moved') return done;
  throw new Failure('lost-race', 'another commit came first; nothing was committed', {
    hint: "git handoff commit -m '<message>'",
  });
}

/** Without a terminal, git's own default editor would wait for keys that nobody can press. */
async function requireMessage(options: CommitOptions, { cwd, env }: Context): Promise<void> {
  if (!opensEditor(options) || options.isAtTerminal) return;
  if ([env['GIT_EDITOR'], env['VISUAL'], env['EDITOR']].some((editor) => editor !== undefined)) return;
  if ((await runGit(['config', '--get', 'core.editor'], { cwd })).code === 0) return;
  const paths = options.pathspecs.length === 0 ? '' : ` -- ${options.pathspecs.map(shellWord).join(' ')}`;
  throw new Failure('usage', 'a commit needs a message, and there is no terminal to ask for one', {
    hint: `git handoff commit ${isAmend(options) ? '--amend ' : ''}-m '<message>'${paths}`,
  });
}

type CommitPlan = IndexPlan & Pick<Composed, 'passed'>;

async function commitOnce(
  options: CommitOptions,
  context: Context,
): Promise<CommandResult<CommitShape> | 'moved'> {
  const { pathspecs, session } = options;
  const { now } = context;
  const scene = await readScene({ pathspecs, session, person: { hint: 'git commit' } }, context);
  const again = commitAgain(scene, options);
  requireOwnership(scene, again, now);
  const operation = unfinishedHere(scene, now);
  if (isAmend(options)) await requireOwnCommit(scene);
  const plan =
    operation === undefined
      ? await planCommit(scene, options, again)
      : await planFinish(scene, operation, pathspecs);
  if (operation === undefined) claimNamed(scene, now);
  const commit = await makeCommit(scene, plan, options, now);
  if (commit === 'moved') return 'moved';
  const isIndexed = await bringIndex(scene, commit, now);
  endClaims(scene, [...plan.whole, ...plan.entries.keys()], now);
  const notices = [...scene.notices, ...noticesOf(scene, plan), ...(isIndexed ? [] : [NOT_INDEXED])];
  return { value: await shapeOf(scene, plan, commit), notices };
}

const NOT_INDEXED =
  'the commit was made, but the index could not be written; to fix it: git reset -q -- <its paths>';

async function planCommit(scene: CommitScene, options: CommitOptions, again: Again): Promise<CommitPlan> {
  const { whole, entries: composed, passed } = await composeShare(scene, again);
  const headOf = (path: string) => scene.work.status.dirty.get(path)?.head ?? null;
  const entries = new Map([...composed].filter(([path, state]) => !sameState(state, headOf(path))));
  const mayBeEmpty = isAmend(options) || options.words.includes('--allow-empty');
  if (whole.length + entries.size === 0 && !mayBeEmpty) throw nothingToCommit(scene, options, passed);
  return { whole, entries, passed };
}

function nothingToCommit(
  scene: CommitScene,
  { pathspecs }: CommitOptions,
  passed: readonly Share[],
): Failure {
  const where =
    pathspecs.length === 0 ? 'no uncommitted change is this session’s' : 'nothing has changed there';
  const [why = where] = passedNotices(passed, scene);
  return new Failure('not-found', `nothing to commit: ${why}`, { hint: 'git handoff status' });
}

/**
 * Plans the commit that finishes this session's merge or pick: everything staged except other sessions' work. If others changed
 * a file, too, only this session's hunks of it go in.
 *
 * @throws Failure `usage` when paths are named, because git makes no partial commit during a merge; `refused` for a conflict
 */
async function planFinish(
  scene: CommitScene,
  operation: Operation,
  pathspecs: readonly string[],
): Promise<CommitPlan> {
  const what = operationText(operation.name);
  if (pathspecs.length > 0) {
    throw new Failure('usage', `${what} is in progress here and is committed as a whole`, {
      hint: 'git handoff commit --no-edit',
    });
  }
  const { work, asker, self, shares, typedPaths } = scene;
  const { tree, status, place, ledgers } = work;
  const { groups } = asker;
  const { top: cwd, gitDir, commonDir } = tree;
  const unmerged = await unmergedPaths(cwd);
  if (unmerged.length > 0) {
    const more = unmerged.length > 1 ? ` (and ${unmerged.length - 1} more)` : '';
    throw new Failure('refused', `${unmerged[0]}${more} is in conflict; nothing was committed`, {
      hint: `git add${typedPaths(unmerged)}`,
    });
  }
  const at = { cwd, gitDir, head: status.head, ledger: place, ledgers, groups, self };
  const judged = await withoutOperation(at, operation, await stagedPaths(cwd));
  const checked = judged.map((staged) => {
    return { staged, ...claimsOn(staged.path, ledgers, groups, staged.head) };
  });
  const candidates = checked
    .filter(({ own, foreign }) => own.length === 0 && strong(foreign).length === 0)
    .map(({ staged: { path, head, index }, own }) => ({ path, head, next: index, own }));
  const where = { cwd, gitDir, commonDir, head: status.head, seen: [], groups };
  const { stale } = await findStale(where, candidates);
  const entries = new Map<string, FileState>();
  const contended = new Set<string>();
  for (const { staged, own, foreign } of checked) {
    const { path, head } = staged;
    const isOthers = strong(foreign).length > 0;
    if (isOthers && own.length > 0) contended.add(path);
    else if (isOthers || stale.has(path)) entries.set(path, head);
  }
  const both = shares.contended.filter(({ dirty }) => contended.has(dirty.path));
  const composed = await composeContended(
    { ...scene, shares: { ...shares, whole: [], contended: both } },
    { done: 'committed', command: undefined },
  );
  for (const [path, state] of composed.entries) entries.set(path, state);
  return { whole: [], entries, passed: composed.passed, finishes: true };
}

/** Claims each whole file on which the session had no sure claim, perhaps because it was only named. */
function claimNamed(scene: CommitScene, now: number): void {
  const { place, lone } = scene.work;
  if (place === undefined || lone?.session === scene.self) return;
  const entries = scene.shares.whole
    .filter(({ mine }) => !mine.some(({ weak }) => !weak))
    .map(({ dirty }): WorktreeEvent => {
      const { path, head, disk } = dirty;
      const change = { base: head, before: head, after: disk };
      return { t: 'claim', path, ...change, evidence: 'explicit', weak: false, at: now };
    });
  appendEvents(place, scene.self, entries);
}

/**
 * Lets a session amend only its own commit.
 *
 * @throws Failure `not-owner` when HEAD's commit is another session's, or when nobody knows whose it is
 */
async function requireOwnCommit(scene: CommitScene): Promise<void> {
  const { self, owners, asker, work } = scene;
  const { groups } = asker;
  const head = await headCommit({ cwd: work.tree.top });
  if (head === undefined) {
    throw new Failure('usage', 'there is no commit yet to amend', {
      hint: "git handoff commit -m '<message>'",
    });
  }
  const { oid, sessions } = head;
  const others = [...groups.own, ...groups.foreign].filter((id) => !owners.has(id));
  const stranger = sessions.find((id) => !namesOwn(id, { own: owners, foreign: new Set(others) }));
  const isKnown = sessions.length > 0 || work.lone?.session === self || (await isOnRecord(scene, oid));
  if (isKnown && stranger === undefined) return;
  const whose =
    stranger === undefined
      ? 'is not known to be this session’s'
      : `was made by ${peerName(namedPeer(stranger, groups) ?? stranger, groups)}`;
  throw new Failure('not-owner', `the commit ${oid.slice(0, 12)} at HEAD ${whose}; it stays as it is`, {
    hint: "git handoff commit -m '<message>'",
  });
}

/** Whether a ledger says that the session made a commit without a trailer, or moved HEAD to it. */
async function isOnRecord({ owners, work }: CommitScene, oid: Oid): Promise<boolean> {
  const ledgers = work.ledgers.filter(({ session }) => owners.has(session));
  if (ledgers.some(({ moves }) => moves.some((move) => move.oid === oid))) return true;
  const { top } = work.tree;
  const [parent = null] = await parentsOf(top, oid);
  return (await recordedMakers(top, { oid, parent }, ledgers)).length > 0;
}

/** Lets one `git handoff commit` run at a time in a working tree, so that each begins with the HEAD that the last one made. */
const LOCK_FILE = 'handoff-commit.lock';
/** How long to wait for another `git handoff commit`, with its hooks and editor. Milliseconds. */
const PATIENCE_MS = 60_000;

/** Calls `run` while no `git handoff commit` runs in this working tree. */
export async function withCommitLock<T>(gitDir: string, run: () => Promise<T>): Promise<T> {
  const lock = await takeLock(join(gitDir, LOCK_FILE), 'commit', PATIENCE_MS);
  if (lock.kind === 'busy') {
    throw new Failure('environment', 'another git handoff commit is still running here', {
      hint: 'git handoff sessions',
    });
  }
  try {
    return await run();
  } finally {
    lock.release();
  }
}

/**
 * Updates the worktree's index after a commit: otherwise the next plain `git commit` would revert this one. Entries with the
 * old content get HEAD's new content, merged with what another session staged on the same path. All other entries stay.
 * Returns false when the index could not be written.
 */
async function bringIndex(scene: CommitScene, commit: Oid, now: number): Promise<boolean> {
  const { top } = scene.work.tree;
  const base = scene.work.status.head.oid;
  const [made, staged] = await Promise.all([changedPaths(top, base, commit), stagedPaths(top)]);
  const entries = new Map<string, FileState>();
  for (const change of made) {
    const stale = staged.find(({ path }) => path === change.path);
    // Somebody's later commit has changed the path again: its entry is not ours to set.
    if (stale === undefined || !sameState(stale.head, change.index)) continue;
    const next = await entryAfter(scene, change, stale.index, now);
    if (next !== undefined) entries.set(change.path, next);
  }
  if (entries.size === 0) return true;
  return (await whileLocked(() => setEntries(top, entries))).code === 0;
}

/** Returns the new content of a stale entry; `undefined`: the entry stays. */
async function entryAfter(
  scene: CommitScene,
  change: StagedPath,
  index: FileState,
  now: number,
): Promise<FileState | undefined> {
  const { path } = change;
  const { shares, work } = scene;
  const has = (some: readonly Share[]) => some.find(({ dirty }) => dirty.path === path);
  // If the commit took the whole file from the disk, its content replaces any entry, even a conflict.
  if (sameState(index, change.head) || has(shares.whole) !== undefined) return change.index;
  if ((has(shares.contended)?.others.length ?? 0) === 0) {
    const dirty = work.status.dirty.get(path);
    const isOurs = dirty !== undefined && [dirty.index, dirty.disk].some((state) => sameState(state, index));
    return isOurs ? change.index : undefined;
  }
  const carried = await carryOver(work.tree.top, change, index);
  if (carried === undefined) return change.index;
  const { place, ledgers } = work;
  const event = { t: 'staged', path, state: carried, head: change.index, at: now } as const;
  for (const ledger of ledgers)
    if (place !== undefined && hasStaged(ledger, path, index)) appendEvents(place, ledger.session, [event]);
  return carried;
}

/** Merges what somebody staged on the old HEAD into the content of the new HEAD; `undefined` when that fails. */
async function carryOver(top: string, change: StagedPath, index: FileState): Promise<FileState | undefined> {
  const batch = new ObjectBatch(await objectFormat({ cwd: top }, index?.oid ?? undefined));
  const merger = new StateMerger({ cwd: top }, batch);
  try {
    const merged = await merger.merge({ base: change.head, ours: change.index, theirs: index });
    if (merged.kind !== 'merged') return undefined;
    await batch.store({ cwd: top });
    return merged.state;
  } finally {
    merger.close();
  }
}

/** Ends the claims on committed paths, except those that have changed since the scene was read. */
function endClaims(scene: CommitScene, paths: Iterable<string>, now: number): void {
  const { place, ledgers } = scene.work;
  if (place === undefined) return;
  const committed = [...paths];
  for (const session of scene.owners) {
    const seen = ledgers.find((ledger) => ledger.session === session)?.claims;
    const current = readLedger(place, session).claims;
    const over = committed.filter((path) => {
      const claim = current.get(path);
      return claim !== undefined && claim.at === (seen?.get(path)?.at ?? now);
    });
    appendEvents(
      place,
      session,
      over.map((path): WorktreeEvent => ({ t: 'end', path, why: 'committed', at: now })),
    );
  }
}

function noticesOf(scene: CommitScene, { passed }: CommitPlan): string[] {
  const { shares, asker, here } = scene;
  const also = shares.whole.flatMap(({ dirty, claims }) => {
    const [first] = doubts(claims);
    const who = first && peerName(first.session, asker.groups);
    return who === undefined
      ? []
      : [`${escapeLine(dirty.path)} was also changed while a command of ${who} ran`];
  });
  // HEAD has a change that the file on the disk lacks. The commit keeps that change, and the file stays as it is.
  const older = shares.contended.flatMap(({ dirty: { path }, others }) =>
    others.length > 0
      ? []
      : [`${path} on disk lacks a change that HEAD has: git diff HEAD -- ${shellWord(here(path))}`],
  );
  return [...also, ...older, ...passedNotices(passed, scene)];
}

async function shapeOf(scene: CommitScene, plan: CommitPlan, commit: Oid): Promise<CommitShape> {
  const { top } = scene.work.tree;
  const [parent = null] = await parentsOf(top, commit);
  const made = await changedPaths(top, parent, commit);
  return {
    commit,
    paths: made.map(({ path }) => path),
    left: scene.shares.left
      .filter(({ path }) => !plan.entries.has(path))
      .map(({ path, owner }) => ({ path, owner: owner ?? null })),
  };
}
