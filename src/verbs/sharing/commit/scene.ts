import { join, resolve } from 'node:path';
import type { DirtyWork } from '../../../changes/dirty-work.ts';
import { pathWords } from '../../../changes/hint-words.ts';
import { findStale, withUndone } from '../../../changes/stale-paths.ts';
import { ownersOf, unrecordedClaims } from '../../../changes/session-parts.ts';
import { readStart, readWindows } from '../../../changes/windows.ts';
import { Failure } from '../../../domain/failure.ts';
import {
  type SessionGroups,
  claimsOn,
  strong,
  type Shares,
  differsOnDisk,
  divideWork,
  type Share,
} from '../../../domain/ledger/ownership.ts';
import { type TreeStatus, stagedBetween } from '../../../domain/ledger/tree-status.ts';
import { isUpToDate } from '../../../domain/ledger/stale.ts';
import type { SessionId } from '../../../domain/names.ts';
import { shellWord } from '../../../domain/surfacing.ts';
import { hashFiles, scratchStore } from '../../../git/scratch-store.ts';
import { lstatOf } from '../../../host/disk.ts';
import type { Context } from '../../../sessions/caller.ts';
import { type SessionWork, readSessionWork } from '../session-work.ts';

/** All facts by which `commit`, `stage --mine` and `write --with-work` decide, read again at each try. */
export interface CommitScene extends Omit<SessionWork, 'self'> {
  /** Who commits, as an owner. */
  readonly self: SessionId;
  readonly shares: Shares;
  /** Paths that the session took out of the index and left on the disk (`git rm --cached`). */
  readonly untracked: readonly string[];
  /** The sessions whose claims a commit of this session ends. */
  readonly owners: ReadonlySet<SessionId>;
  /** The worktree's index, absolute. */
  readonly indexFile: string;
  /** A path as the caller types it in its folder, for hints. */
  readonly typed: (path: string) => string;
  /** What `typedPaths` returns, but as plain paths: `git handoff take` takes no patterns. */
  readonly plainPaths: (paths: readonly string[]) => string;
}

interface SceneOptions {
  readonly pathspecs: readonly string[];
  readonly session: string | undefined;
  /** What a person should type instead or, if the command is for persons, too, the person's id. */
  readonly person: { readonly hint: string } | { readonly id: SessionId };
}

/**
 * Reads the scene for the session that runs the command.
 *
 * @throws Failure as `readSessionWork` does, and `usage` for a person
 */
export async function readScene(options: SceneOptions, context: Context): Promise<CommitScene> {
  const scene = await readSessionWork(options, { ...context, keep: false });
  const { work, asker, judged, named, now, here } = scene;
  const { gitDir, commonDir, top } = work.tree;
  const self = scene.self ?? personIn(options);
  const owners = ownersOf(self, asker, judged);
  const dirty = [...work.status.dirty.values()].filter(differsOnDisk);
  const unrecorded = await unrecordedClaims(self, work, owners, now);
  const facts = { dirty, ledgers: work.ledgers, groups: asker.groups, owners, unrecorded, named };
  return {
    ...scene,
    self,
    shares: await withoutStale(self, work, divideWork(facts), asker.groups),
    owners,
    untracked: untrackedPaths(self, work, owners).filter((path) => named?.has(path) !== false),
    indexFile: resolve(top, context.env['GIT_INDEX_FILE'] ?? join(gitDir, 'index')),
    typed: (path) => shellWord(here(path)),
    plainPaths: (paths) => pathWords(commonDir, paths, here),
  };
}

function personIn({ person }: SceneOptions): SessionId {
  if ('id' in person) return person.id;
  throw new Failure('usage', 'this command is for agents: a person commits with git itself', person);
}

function untrackedPaths(self: SessionId, work: DirtyWork, owners: ReadonlySet<SessionId>): string[] {
  const { place, status, ledgers, tree } = work;
  const before: TreeStatus[] = [];
  if (place !== undefined) {
    const start = readStart(place, self);
    if (work.lone?.session === self && start !== undefined) before.push(start);
    before.push(...readWindows(place, self).map((window) => window.status));
  }
  const recent = new Set(before.flatMap((then) => stagedBetween(then, status).map(({ path }) => path)));
  const onRecord = (path: string) =>
    ledgers.some(
      ({ session, staged }) => owners.has(session) && staged.get(path)?.some(({ state }) => state === null),
    );
  return [...status.dirty.values()]
    .filter(
      ({ head, index, path }) => head !== null && index === null && (recent.has(path) || onRecord(path)),
    )
    .map(({ path }) => path)
    .filter((path) => lstatOf(join(tree.top, path))?.isFile() === true);
}

/**
 * Finds files whose content is older than HEAD's, or that still hold another session's commit after HEAD has lost it. The
 * commit takes only this session's hunks of such a file. A file in which it has none is left out or refused.
 */
async function withoutStale(
  self: SessionId,
  work: DirtyWork,
  shares: Shares,
  groups: SessionGroups,
): Promise<Shares> {
  const { top, gitDir, commonDir } = work.tree;
  const known = shares.whole.map((share) => ({ share, candidate: candidateOf(share) }));
  const doubtful = known.filter(({ candidate }) => !isUpToDate(candidate)).map(({ candidate }) => candidate);
  if (doubtful.length === 0) return shares;
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
  const whole: Share[] = [];
  const contended = [...shares.contended];
  const refused = [...shares.refused];
  const left = [...shares.left];
  for (const share of shares.whole) {
    const { path } = share.dirty;
    const isLeft = undone.some((change) => change.path === path);
    const others = isLeft ? strong(claimsOn(path, ledgers, groups, share.dirty.head).foreign) : [];
    const [claim] = others;
    if (claim === undefined && !stale.has(path)) whole.push(share);
    else if (share.mine.length > 0) contended.push({ ...share, others });
    else if (claim === undefined) left.push({ path, owner: undefined });
    else refused.push({ path, claim });
  }
  return { whole, contended, refused, left };
}

const candidateOf = ({ dirty, mine }: Share) => ({
  path: dirty.path,
  head: dirty.head,
  next: dirty.disk,
  own: mine,
});
