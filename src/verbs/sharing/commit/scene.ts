import { join } from 'node:path';
import type { DirtyWork } from '../../../changes/dirty-work.ts';
import { findStale, withUndone } from '../../../changes/stale-paths.ts';
import { ownersOf, stagedBy, unrecordedClaims } from '../../../changes/session-parts.ts';
import { readWindows } from '../../../changes/windows.ts';
import { Failure } from '../../../domain/messages.ts';
import type { OpenClaim } from '../../../domain/ledger/claims.ts';
import {
  type PathPart,
  type SessionGroups,
  claimsOn,
  divideWork,
  isUsable,
  strong,
} from '../../../domain/ledger/ownership.ts';
import { isUpToDate } from '../../../domain/ledger/stale.ts';
import type { SessionId } from '../../../domain/names.ts';
import { hashFiles, indexFileOf, scratchStore } from '../../../git/scratch.ts';
import { lstatOf } from '../../../host/disk.ts';
import type { Context } from '../../../sessions/caller.ts';
import { type SessionWork, readSessionWork } from '../session-work.ts';

/** A path that a commit takes, in whole or in part, or must not take. */
export interface Share extends PathPart {
  /** Other live sessions' claims, without those that only warn. */
  readonly others: readonly OpenClaim[];
}

interface Shares {
  /** Paths that are taken as they are on the disk. */
  readonly whole: readonly Share[];
  /** Only the session's own hunks are taken: others changed the file, too, or, if `others` is empty, it is older than HEAD. */
  readonly contended: readonly Share[];
  /** Paths that the command line names, but another live session owns. */
  readonly refused: readonly Share[];
  /** Paths that are not taken, with their owner if there is one. */
  readonly left: readonly { readonly path: string; readonly owner: SessionId | undefined }[];
}

/** All facts by which `commit`, `stage --mine` and `write --with-work` decide, read again at each try. */
export interface CommitScene extends Omit<SessionWork, 'self'> {
  /** The session or running sub-agent that commits. */
  readonly self: SessionId;
  readonly shares: Shares;
  /** Paths that the session took out of the index and left on the disk (`git rm --cached`). */
  readonly untracked: readonly string[];
  /** The sessions whose claims a commit of this session ends. */
  readonly owners: ReadonlySet<SessionId>;
  /** The worktree's index, absolute. */
  readonly indexFile: string;
}

interface SceneOptions {
  readonly pathspecs: readonly string[];
  readonly session: string | undefined;
  /** What a person should type instead, or the person's id if persons may run the command, too. */
  readonly person: { readonly hint: string } | { readonly id: SessionId };
}

/**
 * Reads the scene for the session that runs the command.
 *
 * @throws Failure as `readSessionWork` does, and `usage` for a person
 */
export async function readScene(options: SceneOptions, context: Context): Promise<CommitScene> {
  const scene = await readSessionWork(options, { ...context, keep: false });
  const { work, asker, judged, named, now } = scene;
  const self = scene.self ?? personIn(options);
  const owners = ownersOf(self, asker, judged);
  const { groups } = asker;
  const parts = divideWork(work, groups, owners, await unrecordedClaims(self, work, owners, now));
  const own = parts.filter((part) => isWanted(part, named) && strong(part.claims.foreign).length === 0);
  const stale = await stalePaths(self, work, own, groups);
  return {
    ...scene,
    self,
    shares: chooseShares(parts, named, stale),
    owners,
    untracked: untrackedPaths(self, work, owners).filter((path) => named?.has(path) !== false),
    indexFile: indexFileOf(work.tree, context.env),
  };
}

function personIn({ person }: SceneOptions): SessionId {
  if ('id' in person) return person.id;
  throw new Failure('usage', 'this command is for agents: a person commits with git itself', person);
}

function untrackedPaths(self: SessionId, work: DirtyWork, owners: ReadonlySet<SessionId>): string[] {
  const windows = work.place === undefined ? [] : readWindows(work.place, self);
  const began = windows.map(({ status }) => status);
  return stagedBy(work, owners, began)
    .filter(({ head, index }) => head !== null && index === null)
    .map(({ path }) => path)
    .filter((path) => lstatOf(join(work.tree.top, path))?.isFile() === true);
}

/** Whether the session may want to commit a path: a named one or, if none is named, one that the session changed. */
function isWanted({ dirty: { path }, mine, claims }: PathPart, named: CommitScene['named']): boolean {
  if (!isUsable(path)) return false;
  if (named !== undefined) return named.has(path);
  if (strong(mine).length > 0) return true;
  // A change that may be another's, too, is taken only if its path is named.
  const mayBeOthers = claims.foreign.length > 0 || claims.foreignTouches.some(({ weak }) => weak);
  return mine.length > 0 && !mayBeOthers;
}

/**
 * Divides the dirty paths into those that a commit of the session takes, leaves out, and must not take.
 *
 * @param stale by path, the claims on work that a commit would undo or bring back: see {@link stalePaths}
 */
export function chooseShares(
  parts: readonly PathPart[],
  named: CommitScene['named'],
  stale: ReadonlyMap<string, readonly OpenClaim[]>,
): Shares {
  const shares = { whole: [] as Share[], contended: [] as Share[], refused: [] as Share[] };
  const left: Shares['left'][number][] = [];
  for (const part of parts) {
    const { mine, claims } = part;
    const { path } = part.dirty;
    const others = stale.get(path) ?? strong(claims.foreign);
    if (!isWanted(part, named)) {
      const owner = [...others, ...mine, ...claims.own, ...claims.foreign, ...claims.left][0]?.session;
      left.push({ path, owner });
      continue;
    }
    const share = { ...part, others };
    if (others.length === 0 && !stale.has(path)) shares.whole.push(share);
    else if (mine.length > 0) shares.contended.push(share);
    else if (others.length > 0) shares.refused.push(share);
    else left.push({ path, owner: undefined });
  }
  return { ...shares, left };
}

/**
 * Finds files that are older than HEAD, or still have commits of other sessions that HEAD has lost, with those sessions' claims.
 * A commit takes only this session's hunks of a stale file; a stale file without any is left out or refused.
 */
async function stalePaths(
  self: SessionId,
  work: DirtyWork,
  parts: readonly PathPart[],
  groups: SessionGroups,
): Promise<ReadonlyMap<string, readonly OpenClaim[]>> {
  const { top, gitDir, commonDir } = work.tree;
  const doubtful = parts
    .map(({ dirty: { path, head, disk }, mine }) => ({ path, head, next: disk, own: mine }))
    .filter((one) => !isUpToDate(one));
  if (doubtful.length === 0) return new Map();
  const paths = doubtful.map(({ path }) => path);
  const oids = await hashFiles(top, paths, { scratch: scratchStore(commonDir) });
  const candidates = doubtful.map((one) => {
    const oid = oids.get(one.path);
    return one.next === null || oid === undefined ? one : { ...one, next: { ...one.next, oid } };
  });
  const windows = work.place === undefined ? [] : readWindows(work.place, self);
  const { head } = work.status;
  const last = work.ledgers.find(({ session }) => session === self)?.head;
  const seen = [last, ...windows.map(({ status }) => status.head)].map((at) => at?.oid ?? null);
  const { stale, undone } = await findStale({ cwd: top, gitDir, commonDir, head, seen, groups }, candidates);
  const ledgers = withUndone(work.ledgers, undone, groups, candidates);
  const found = new Map([...stale].map((path): [string, OpenClaim[]] => [path, []]));
  for (const { path } of undone) {
    const before = work.status.dirty.get(path)?.head;
    const others = strong(claimsOn(path, ledgers, groups, before).foreign);
    if (others.length > 0) found.set(path, others);
  }
  return found;
}
