import { join } from 'node:path';
import { withoutOperation } from '../../changes/finishing.ts';
import { appendEvents, readLedger } from '../../sessions/journal.ts';
import { operationText } from '../../changes/operations.ts';
import { findStale } from '../../changes/stale-paths.ts';
import { Failure } from '../../domain/failure.ts';
import type { SessionLedger } from '../../domain/ledger/claims.ts';
import type { WorktreeEvent } from '../../domain/journal/events.ts';
import { sameState, type FileState } from '../../domain/ledger/file-state.ts';
import { namedPeer, namesOwn, claimsOn, strong } from '../../domain/ledger/ownership.ts';
import type { Share } from '../../domain/ledger/shares.ts';
import type { Oid, SessionId } from '../../domain/names.ts';
import { peerName } from '../../domain/owner-name.ts';
import { shellWord } from '../../domain/surfacing.ts';
import { changedPaths, parentsOf } from '../../git/commits.ts';
import type { Operation } from '../../git/operations.ts';
import { whileMoved } from '../../git/private-index.ts';
import { runGit } from '../../git/run.ts';
import { headCommit } from '../../git/session-commits.ts';
import { stagedPaths, unmergedPaths } from '../../git/staged.ts';
import { lstatOf } from '../../git/stat.ts';
import { takeLock } from '../../host/process-lock.ts';
import type { Context } from '../../sessions/caller.ts';
import { readClients } from '../../sessions/records.ts';
import type { CommandResult } from '../result.ts';
import type { CommitShape } from '../shapes.ts';
import {
  type CommitPlan,
  type GitCommitOptions,
  type MadeCommit,
  attemptCommit,
  changing,
  opensEditor,
  type Again,
  commitAgain,
  doubtNotices,
  olderNotices,
  passedNotices,
} from './commit/attempt.ts';
import { composeContended } from './commit/compose.ts';
import { healIndex } from './commit/heal-index.ts';
import { requireOwnership, unfinishedHere } from './commit/requirements.ts';
import { type CommitScene, readScene } from './commit/scene.ts';

interface CommitOptions extends GitCommitOptions {
  readonly pathspecs: readonly string[];
  readonly session: string | undefined;
  /** A person can use an editor here. */
  readonly isAtTerminal: boolean;
}

/**
 * Commits this session's own paths and nothing else, with git's own hooks, signing and editor. Where another live
 * session has changed the same file, only this session's hunks go in.
 *
 * @throws Failure `usage` without a message where no editor can ask for one, `not-found` when nothing is the session's to commit, `not-owner` for another's path or commit,
 * `refused` when git or a hook says no, `lost-race` when HEAD moved at every try
 */
export async function commit(options: CommitOptions, context: Context): Promise<CommandResult<CommitShape>> {
  await requireMessage(options, context);
  const attempt = () => commitOnce(options, context);
  const done = opensEditor(options) ? await attempt() : await whileMoved(attempt);
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
    hint: `git handoff commit ${options.amend ? '--amend ' : ''}-m '<message>'${paths}`,
  });
}

async function commitOnce(
  options: CommitOptions,
  context: Context,
): Promise<CommandResult<CommitShape> | 'moved'> {
  const { pathspecs, session } = options;
  const scene = await readScene({ pathspecs, session, person: { hint: 'git commit' } }, context);
  const again = commitAgain(scene, options);
  requireOwnership(scene, again, context.now);
  const { now } = context;
  const operation = unfinishedHere(scene, now);
  if (options.amend) await requireOwnCommit(scene);
  const { plan, passed } =
    operation === undefined
      ? await planCommit(scene, options, again)
      : await planFinish(scene, operation, pathspecs);
  if (operation === undefined) claimNamed(scene, scene.shares.whole, now);
  const done = await whileAlone(scene.work.tree.gitDir, scene.self, async () => {
    const made = await attemptCommit(scene, plan, options, now);
    if (made !== 'moved' && !options.amend && !options.allowEmpty && operation === undefined)
      await requireContent(scene, made);
    return made === 'moved' ? made : { made, healed: await healIndex(scene, made, now) };
  });
  if (done === 'moved') return done;
  const { made, healed } = done;
  endClaims(scene, [...plan.whole, ...plan.entries.keys()], context.now);
  const said = [...doubtNotices(scene), ...olderNotices(scene), ...passedNotices(passed, scene)];
  const notices = [...scene.notices, ...said, ...(healed ? [] : [UNHEALED])];
  return { value: await shapeOf(scene, plan, made), notices };
}

/**
 * git makes a commit of nothing where a hook takes out of the index all that was to go in.
 *
 * @throws Failure `refused` when that happened; HEAD is where it was
 */
async function requireContent({ work }: CommitScene, { commit, base }: MadeCommit): Promise<void> {
  const { top } = work.tree;
  if (base === null || (await changedPaths(top, base, commit)).length > 0) return;
  await runGit(['update-ref', '-m', 'git handoff commit: undone', 'HEAD', base, commit], { cwd: top });
  const message = 'nothing was committed: a hook of this repository took everything out of the index';
  throw new Failure('refused', message, { hint: 'git handoff status' });
}

const UNHEALED =
  'the commit was made, but the index could not be written; to fix it: git reset -q -- <its paths>';

async function planCommit(
  scene: CommitScene,
  options: CommitOptions,
  again: Again,
): Promise<{ plan: CommitPlan; passed: readonly Share[] }> {
  const { shares, untracked, work } = scene;
  const { entries: hunks, passed } = await composeContended(scene, again);
  const composed = new Map(hunks);
  for (const path of untracked) composed.set(path, null);
  const entries = changing(composed, (path) => work.snapshot.dirty.get(path)?.head ?? null);
  const whole = shares.whole.map(({ dirty }) => dirty.path).filter((path) => !untracked.includes(path));
  if (whole.length + entries.size === 0 && !options.amend && !options.allowEmpty)
    throw nothingToCommit(scene, options, passed);
  const isEmpty = whole.length === 0 && !options.amend;
  // `--only` takes a name for everything below it: a folder may stand where this session's file stood.
  const isFolder = (path: string) => lstatOf(join(work.tree.top, path))?.isDirectory() === true;
  const isPrivate = entries.size > 0 || isEmpty || whole.some(isFolder);
  return { plan: { whole, entries, isPrivate }, passed };
}

function nothingToCommit(
  scene: CommitScene,
  { pathspecs }: CommitOptions,
  passed: readonly Share[],
): Failure {
  const [others] = passedNotices(passed, scene);
  if (others !== undefined)
    return new Failure('not-found', `nothing to commit: ${others}`, { hint: 'git handoff status' });
  const where =
    pathspecs.length === 0 ? 'no uncommitted change is this session’s' : 'nothing has changed there';
  return new Failure('not-found', `nothing to commit: ${where}`, { hint: 'git handoff status' });
}

async function shapeOf(scene: CommitScene, plan: CommitPlan, { commit }: MadeCommit): Promise<CommitShape> {
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

/** Puts on record what was named and is nobody's: naming a path is claiming it. */
function claimNamed(scene: CommitScene, shares: readonly Share[], now: number): void {
  const { place, lone } = scene.work;
  if (place === undefined || lone?.session === scene.self) return;
  const entries = shares
    .filter(({ mine }) => !mine.some(({ weak }) => !weak))
    .map(({ dirty }): WorktreeEvent => {
      const { path, head, disk } = dirty;
      const change = { base: head, before: head, after: disk };
      return { t: 'claim', path, ...change, evidence: 'explicit', weak: false, at: now };
    });
  appendEvents(place, scene.self, entries);
}

/** Notes that what was claimed is committed, where nothing was changed since it was looked at. */
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

/**
 * Only a session's own commit may be amended by it.
 *
 * @throws Failure `not-owner` when HEAD's commit is another's, or nothing says whose it is
 */
async function requireOwnCommit(scene: CommitScene): Promise<void> {
  const { top } = scene.work.tree;
  const head = await headCommit(top);
  if (head === undefined) {
    throw new Failure('usage', 'there is no commit yet to amend', {
      hint: "git handoff commit -m '<message>'",
    });
  }
  const { oid, sessions } = head;
  const owners = [...scene.owners];
  const { own, foreign } = scene.asker.sides;
  const others = [...own, ...foreign].filter((id) => !scene.owners.has(id));
  const sides = { own: scene.owners, foreign: new Set(others) };
  const stranger = sessions.find((id) => !namesOwn(id, sides));
  const isOwn =
    sessions.length > 0
      ? stranger === undefined
      : scene.work.lone?.session === scene.self || (await isOnRecord(scene, oid, owners));
  if (isOwn) return;
  const whose =
    stranger === undefined
      ? 'is not known to be this session’s'
      : `was made by ${peerName(namedPeer(stranger, scene.asker.sides) ?? stranger, scene.asker.sides)}`;
  throw new Failure('not-owner', `the commit ${oid.slice(0, 12)} at HEAD ${whose}; it stays as it is`, {
    hint: "git handoff commit -m '<message>'",
  });
}

/** Without a trailer, the ledger tells: HEAD was moved there, or a commit like it was let through. */
async function isOnRecord(scene: CommitScene, oid: Oid, owners: readonly SessionId[]): Promise<boolean> {
  const { top } = scene.work.tree;
  const ledgers = scene.work.ledgers.filter(({ session }) => owners.includes(session));
  if (ledgers.some(({ moves }) => moves.some((move) => move.oid === oid))) return true;
  const [parent = null] = await parentsOf(top, oid);
  const found = ledgers.flatMap(({ commits }) => commits).filter((commit) => commit.parent === parent);
  if (found.length === 0) return false;
  const made = await changedPaths(top, parent, oid);
  return found.some((commit) => fits(commit, made));
}

function fits(
  { paths }: SessionLedger['commits'][number],
  made: Awaited<ReturnType<typeof changedPaths>>,
): boolean {
  return paths.every(([path, state]) => {
    const there = made.find((change) => change.path === path);
    return there !== undefined && sameState(there.index, state);
  });
}

/**
 * One `git handoff commit` at a time in a working tree. `git commit --only` reads the index before it locks it:
 * of two at once, the second writes the index back as it was before the first, whose files the next plain commit
 * would then take back.
 */
const LOCK_FILE = 'handoff-commit.lock';
/** How long a commit of another session (its hooks, its editor) is waited for. Milliseconds. */
const PATIENCE_MS = 60_000;

/** Runs what writes the index while no other `git handoff commit` of this working tree does. */
export async function whileAlone<T>(gitDir: string, self: SessionId, run: () => Promise<T>): Promise<T> {
  const lock = await takeLock(join(gitDir, LOCK_FILE), self, PATIENCE_MS);
  if (lock.kind === 'busy') {
    const who = peerName(lock.by, { clients: await readClients({ cwd: gitDir }) });
    throw new Failure('environment', `${who} is still committing here`, {
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
 * What finishes a merge or a pick of this session's: everything that is staged, but for other sessions' work. Of files
 * that both changed this session's hunks go in.
 *
 * @throws Failure `usage` when paths are named, for git makes no partial commit then; `refused` while paths are in
 * conflict
 */
async function planFinish(
  scene: CommitScene,
  operation: Operation,
  pathspecs: readonly string[],
): Promise<{ plan: CommitPlan; passed: readonly Share[] }> {
  const what = operationText(operation.name);
  if (pathspecs.length > 0) {
    throw new Failure('usage', `${what} is in progress here and is committed as a whole`, {
      hint: 'git handoff commit --no-edit',
    });
  }
  const { work, asker, typedPaths } = scene;
  const { tree, snapshot, place } = work;
  const unmerged = await unmergedPaths(tree.top);
  if (unmerged.length > 0) {
    const more = unmerged.length > 1 ? ` (and ${unmerged.length - 1} more)` : '';
    throw new Failure('refused', `${unmerged[0]}${more} is in conflict; nothing was committed`, {
      hint: `git add${typedPaths(unmerged)}`,
    });
  }
  const { self } = scene;
  const at = { cwd: tree.top, gitDir: tree.gitDir, head: snapshot.head, ledger: place, self };
  const judged = await withoutOperation(at, operation, await stagedPaths(tree.top));
  const sides = judged.map((staged) => ({
    staged,
    ...claimsOn(staged.path, work.ledgers, asker.sides, staged.head),
  }));
  const candidates = sides
    .filter(({ own, foreign }) => own.length === 0 && strong(foreign).length === 0)
    .map(({ staged: { path, head, index }, own }) => ({ path, head, next: index, own }));
  const { top: cwd, gitDir, commonDir } = tree;
  const where = { cwd, gitDir, commonDir, head: snapshot.head, seen: [], sides: asker.sides };
  const { stale } = await findStale(where, candidates);
  const entries = new Map<string, FileState>();
  const contended = new Set<string>();
  for (const { staged, own, foreign } of sides) {
    const { path, head } = staged;
    const isOthers = strong(foreign).length > 0;
    if (isOthers && own.length > 0) contended.add(path);
    else if (isOthers || stale.has(path)) entries.set(path, head);
  }
  const { shares } = scene;
  const both = shares.contended.filter(({ dirty }) => contended.has(dirty.path));
  const composed = await composeContended(
    { ...scene, shares: { ...shares, whole: [], contended: both } },
    { done: 'committed', command: undefined },
  );
  for (const [path, state] of composed.entries) entries.set(path, state);
  return { plan: { whole: [], entries, isPrivate: true, finishes: true }, passed: composed.passed };
}
