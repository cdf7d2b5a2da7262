import {
  type Belonging,
  decideBelonging,
  type PathClaims,
  type SessionGroups,
  claimsOn,
  rankClaims,
} from '../domain/ledger/ownership.ts';
import { withRevived, sinceStart } from '../domain/ledger/claim-events.ts';
import type { OpenClaim, SessionLedger } from '../domain/ledger/claims.ts';
import type { DirtyPath, TreeStatus } from '../domain/ledger/tree-status.ts';
import { type SessionId, agentOfOwner, sessionOfOwner } from '../domain/names.ts';
import { related, succeededBy } from '../domain/session.ts';
import { scratchStore } from '../git/scratch.ts';
import { changedAt, readTreeStatus } from '../git/worktrees.ts';
import {
  knownWorktreeId,
  ensureFolder,
  removeFile,
  repositoryFolder,
  nameHash,
  share,
} from '../host/folders.ts';
import { type JudgedSession, groupSessions } from '../sessions/records.ts';
import { isLoneSession } from '../sessions/lone-session.ts';
import { type LedgerPlace, appendEvents, readLedgers, readRunningAgents } from '../sessions/journal.ts';
import { settledClaims } from './settle-claims.ts';
import { changesSince, readLast, readStart } from './windows.ts';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { escapeLine, Failure, shellWord } from '../domain/messages.ts';
import { type FoundRepository, discoverRepository } from '../git/discover.ts';
import { quietly, realPath, lstatOf } from '../host/disk.ts';

export interface WorkTree {
  readonly top: string;
  readonly gitDir: string;
  readonly commonDir: string;
}

/** The uncommitted changes of a working tree, and what the ledgers say about them. */
export interface DirtyWork {
  readonly tree: WorkTree;
  /** `undefined`: no session was ever here. */
  readonly place: LedgerPlace | undefined;
  readonly status: TreeStatus;
  readonly ledgers: readonly SessionLedger[];
  /** The live session that works alone here, with claims on what it has changed since it began. No ledger has these yet. */
  readonly lone: { readonly session: SessionId; readonly claims: ReadonlyMap<string, OpenClaim> } | undefined;
}

/** The person or session that asks who owns a path. */
export interface Asker {
  readonly groups: SessionGroups;
  readonly areOne: (a: SessionId, b: SessionId) => boolean;
}

/** Describes who asks. `asking` is an owner, or `undefined` for a person. */
export function askerOf(
  asking: SessionId | undefined,
  sessions: readonly JudgedSession[],
  commonDir: string,
): Asker {
  const records = sessions.map(({ record }) => record);
  const areRelated = (a: SessionId, b: SessionId) =>
    related(a, b, records) || succeededBy(a, records).includes(b) || succeededBy(b, records).includes(a);
  const areSiblings = (a: SessionId, b: SessionId) =>
    a !== b && [a, b].every((one) => agentOfOwner(one) !== undefined);
  return {
    groups: groupSessions(asking, sessions, readRunningAgents(commonDir)),
    areOne: (a, b) => !areSiblings(a, b) && areRelated(sessionOfOwner(a), sessionOfOwner(b)),
  };
}

/**
 * Reads the work in a working tree: first the ledgers, then one `git status`. `now`: milliseconds since the epoch. `keep`:
 * whether to keep the contents of changed files, for claims made from this status.
 */
export async function lookAtWork(
  tree: WorkTree,
  sessions: readonly JudgedSession[],
  now: number,
  { keep = false }: { readonly keep?: boolean } = {},
): Promise<DirtyWork> {
  const { place, ledgers, worktreeId } = ledgersOf(tree);
  const live = sessions.filter((one) => one.liveness === 'live' && one.worktreeId === worktreeId);
  const session = live.find(({ record }) => isLoneSession(tree.gitDir, record.session))?.record.session;
  const start = place === undefined || session === undefined ? undefined : readStart(place, session);
  const known = start ?? (place === undefined ? undefined : readLast(place));
  const status = await readTreeStatus(tree.top, {
    now,
    ...(known === undefined ? {} : { known }),
    ...(keep ? { scratch: scratchStore(tree.commonDir) } : {}),
  });
  const lone =
    session === undefined || start === undefined
      ? undefined
      : {
          session,
          claims: sinceStart(session, await changesSince(tree.top, start, status), (path) =>
            Math.max(start.at, changedAt(tree.top, path) ?? 0),
          ),
        };
  return { ...workSeen(tree, status, { place, ledgers }), lone };
}

/** Joins a status with the ledgers. A session that works alone keeps no ledger, so its changes are missing. */
export function workSeen(
  tree: WorkTree,
  status: TreeStatus,
  { place, ledgers }: Pick<DirtyWork, 'place' | 'ledgers'> = ledgersOf(tree),
): DirtyWork {
  const shown = withRevived(ledgers, (path) => status.dirty.get(path));
  return { tree, place, status, ledgers: shown, lone: undefined };
}

function ledgersOf({ gitDir, commonDir }: WorkTree) {
  const worktreeId = knownWorktreeId(gitDir);
  const place = worktreeId === undefined ? undefined : { commonDir, worktreeId };
  return { worktreeId, place, ledgers: place === undefined ? [] : readLedgers(place) };
}

/**
 * Returns the open claims on a dirty path: the asker's and, separately, everybody else's. A claim in `unrecorded` counts only if
 * its session has no claim on record for the path.
 */
export function openClaims(
  work: DirtyWork,
  { path, head }: DirtyPath,
  { groups }: Asker,
  unrecorded: readonly OpenClaim[] = [],
): PathClaims {
  const isOnRecord = (one: OpenClaim) =>
    work.ledgers.some(({ session, claims }) => session === one.session && claims.has(path));
  const more = unrecorded.filter((one) => one.path === path && !isOnRecord(one));
  const claims = claimsOn(path, work.ledgers, groups, head, more);
  const lone = work.lone?.claims.get(path);
  if (lone === undefined || claims.own.length + claims.foreign.length > 0) return claims;
  return rankClaims([lone, ...claims.left], groups);
}

/** Decides to whom a dirty path belongs. */
export function belongingOf(
  work: DirtyWork,
  dirty: DirtyPath,
  asker: Asker,
  unrecorded?: readonly OpenClaim[],
): Belonging {
  return decideBelonging(openClaims(work, dirty, asker, unrecorded), asker.areOne);
}

/** Records which claims the status ends or revives. Does nothing in a repository that we cannot write to. */
export async function settleClaims({ place, tree, ledgers, status }: DirtyWork): Promise<void> {
  if (place === undefined) return;
  const settled = await settledClaims({ ...place, ...tree }, ledgers, status);
  for (const [session, entries] of settled) {
    // If this caller cannot write, the next caller records the events.
    quietly(() => appendEvents(place, session, entries));
  }
}

/** A `<path>` argument, the working tree that contains it, and its path from the top; `''` is the whole tree. */
export interface PathArgument {
  readonly typed: string;
  readonly tree: WorkTree;
  readonly path: string;
}

/** The prefix of a pathspec that names exactly one path from the top of the working tree. */
export const TOP_LITERAL = ':(top,literal)';

/**
 * Finds which working tree of the repository contains a path. `current`: the working tree around `cwd`, if any.
 *
 * @throws Failure `usage` for a path outside of the repository
 */
export function parsePathArgument(
  typed: string,
  cwd: string,
  commonDir: string,
  current: WorkTree | undefined,
): PathArgument {
  if (typed === '') throw new Failure('usage', 'a path is empty', { hint: 'git handoff status' });
  const absolute = realPath(absoluteOf(typed, cwd, current), false);
  const found = repositoryOf(absolute, commonDir);
  if (found !== undefined && isSame(found.commonDir, commonDir)) {
    const { gitDir, workTree } = found;
    const tree = current?.gitDir === gitDir ? current : { gitDir, commonDir, top: realPath(workTree) };
    const path = inside(tree.top, absolute);
    if (path !== undefined) return { typed, tree, path };
  }
  // With GIT_WORK_TREE, the current working tree may be a folder without a `.git`.
  const path = found === undefined && current !== undefined ? inside(current.top, absolute) : undefined;
  if (path !== undefined && current !== undefined) return { typed, tree: current, path };
  const hint =
    found === undefined ? 'git handoff status' : `git -C ${shellWord(found.workTree)} handoff status`;
  throw new Failure('usage', `${escapeLine(typed)} is not a path in this repository's worktrees`, { hint });
}

/** Resolves a path: from the top if it begins with `TOP_LITERAL` (as in our lists) or `:/` (as in our hints), else from `cwd`. */
function absoluteOf(typed: string, cwd: string, current: WorkTree | undefined): string {
  const prefix = [TOP_LITERAL, ':/'].find((one) => typed.startsWith(one));
  if (prefix === undefined || current === undefined) return resolve(cwd, typed);
  return resolve(current.top, typed.slice(prefix.length));
}

/** Finds the repository of a path. A submodule's folder belongs to the repository around it. */
function repositoryOf(absolute: string, commonDir: string): FoundRepository | undefined {
  const isFolder = lstatOf(absolute)?.isDirectory() === true;
  const at = isFolder ? discoverRepository(absolute) : undefined;
  if (at !== undefined && isSame(at.commonDir, commonDir)) return at;
  return discoverRepository(dirname(absolute));
}

const isSame = (a: string, b: string) => realPath(a) === realPath(b);

function inside(top: string, absolute: string): string | undefined {
  const path = relative(realPath(top), absolute).replaceAll(sep, '/');
  return path === '..' || path.startsWith('../') || /^\.git(?:\/|$)/.test(path) ? undefined : path;
}

/** Whether a path is the named path or inside it. */
export function isNamed(path: string, named: string): boolean {
  return named === '' || path === named || path.startsWith(`${named}/`);
}

/**
 * `handoff/before/<worktree id>/<session>/<hash of the path>` keeps a file as it was right before a session's tool changed it,
 * until the call is over. Comparing that copy with the file shows what the session changed.
 */

/** Bytes. We do not copy a bigger file, so we cannot tell the session's change to it from others' changes. */
const MAX_COPY = 1 << 20;

const beforeFolder = ({ commonDir, worktreeId }: LedgerPlace, session: SessionId) =>
  `${repositoryFolder(commonDir)}/before/${worktreeId}/${session}`;

const fileOf = (place: LedgerPlace, session: SessionId, path: string) =>
  `${beforeFolder(place, session)}/${nameHash(path)}`;

/** Keeps a file's content before a tool changes it. If that fails, keeps nothing and reports no error. */
export function keepBefore(place: LedgerPlace, session: SessionId, top: string, path: string): void {
  const copy = fileOf(place, session, path);
  // Without a copy, the ledger has to tell what the file held.
  quietly(() => {
    const file = `${top}/${path}`;
    const stat = statSync(file, { throwIfNoEntry: false });
    removeFile(copy);
    if (stat?.isFile() !== true || stat.size > MAX_COPY) return;
    ensureFolder(beforeFolder(place, session));
    // `copyFileSync` first truncates the copy: ext4 then flushes it to the disk, which makes writing and removing it slow.
    writeFileSync(copy, readFileSync(file), { mode: 0o600, flag: 'wx' });
    share(copy);
  });
}

/** Returns the content that was kept, and deletes the copy. */
export function takeBefore(place: LedgerPlace, session: SessionId, path: string): Buffer | undefined {
  const copy = fileOf(place, session, path);
  return quietly(() => {
    const content = readFileSync(copy);
    removeFile(copy);
    return content;
  });
}

/** Deletes all copies that were kept for a session in a worktree. */
export function removeBefore(place: LedgerPlace, session: SessionId): void {
  rmSync(beforeFolder(place, session), { recursive: true, force: true });
}
