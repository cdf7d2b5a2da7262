import { basename, join } from 'node:path';
import { CLOCK_SLACK_MS, sameState, type FileState, type HeadPlace } from '../domain/ledger/tree-status.ts';
import type { OthersOperation, StagedPath } from '../domain/ledger/mixing.ts';
import { type SessionGroups, claimsOn, strong } from '../domain/ledger/ownership.ts';
import { type Oid, type SessionId, shortId } from '../domain/names.ts';
import {
  type Operation,
  unfinishedOperation,
  isSquashing,
  madePaths,
  mergedPaths,
  mergedTree,
  resolvedPaths,
} from '../git/operations.ts';
import { freePath } from '../host/disk.ts';
import { type LedgerPlace, appendEvents, readLedger, readLedgers } from '../sessions/journal.ts';
import { readStart, readWindows } from './windows.ts';
import type { SessionLedger } from '../domain/ledger/claims.ts';
import { changedPaths } from '../git/commits.ts';

/** Records that this session began the operation, unless that is on record already. */
export function putBeginner(
  place: LedgerPlace,
  session: SessionId,
  { mark, at }: Operation,
  merged?: Oid,
): void {
  if (readLedger(place, session).operations.some((one) => one.mark === mark)) return;
  appendEvents(place, session, [{ t: 'operation', mark, merged, at }]);
}

/** Returns the sessions that began the operation according to their journals; usually one. */
export function readBeginners(place: LedgerPlace | undefined, { mark }: Operation): SessionId[] {
  const ledgers = place === undefined ? [] : readLedgers(place);
  return ledgers
    .filter(({ operations }) => operations.some((one) => one.mark === mark))
    .map(({ session }) => session);
}

export interface Unfinished {
  readonly operation: Operation;
  /** The operation, with the other live session that began it; `undefined` if we know of none. */
  readonly others: OthersOperation | undefined;
  /** Whether we know that the asking session began it. */
  readonly isOwn: boolean;
}

/** Finds the unfinished operation of a worktree, and whether another live session began it and has to finish it. */
export function findUnfinished(
  gitDir: string,
  place: LedgerPlace | undefined,
  groups: SessionGroups,
): Unfinished | undefined {
  const operation = unfinishedOperation(gitDir);
  if (operation === undefined) return undefined;
  if (place === undefined) return { operation, others: undefined, isOwn: false };
  const recorded = readBeginners(place, operation);
  const beginners = recorded.length > 0 ? recorded : loneBeginners(place, groups, operation);
  const other = beginners.find((session) => groups.foreign.has(session));
  const isOwn =
    beginners.some((session) => groups.own.has(session)) ||
    (beginners.length === 0 && runsNow(place, groups, operation));
  if (other === undefined || isOwn) return { operation, others: undefined, isOwn };
  return { operation, others: { name: operation.name, session: other, at: operation.at }, isOwn };
}

/** Whether a running command of the asking session, and none of another session, started before the operation. */
function runsNow(place: LedgerPlace, { own, foreign }: SessionGroups, { at }: Operation): boolean {
  const running = readWindows(place).filter(({ from }) => from - CLOCK_SLACK_MS <= at);
  return (
    running.some(({ session }) => own.has(session)) && !running.some(({ session }) => foreign.has(session))
  );
}

/**
 * Returns the other sessions that had begun to work alone before the operation began. A session that works alone does not
 * record its operations, so any of these may have begun it.
 */
function loneBeginners(place: LedgerPlace, { foreign }: SessionGroups, { at }: Operation): SessionId[] {
  return [...foreign].filter((session) => (readStart(place, session)?.at ?? Infinity) <= at);
}

/** "a merge", "an am". */
export function operationText(name: string): string {
  return `${name === 'am' ? 'an' : 'a'} ${name}`;
}

/** Says who began the operation, for a refusal. */
export function whoBeganText({ name }: OthersOperation, who: string, when: string): string {
  return `${who} began ${operationText(name)} here ${when} and has not finished it: a commit would finish or continue it, with that session's changes`;
}

/** Returns a path for a worktree of the session's own: an unused folder beside the working tree, relative to its top. */
export function ownWorktree(top: string, session: SessionId): string {
  const folder = basename(top).replace(/[^A-Za-z0-9_-]+/g, '-');
  const name = `${folder}-${shortId(session).replace('/', '-')}`.replace(/^-+/, '');
  return `../${basename(freePath(join(top, '..', name)))}`;
}

interface FinishingPlace {
  readonly cwd: string;
  readonly gitDir: string;
  readonly head: HeadPlace;
  readonly ledger: LedgerPlace | undefined;
  readonly ledgers: readonly SessionLedger[];
  readonly groups: SessionGroups;
  readonly self: SessionId;
}

/** Returns the staged paths to judge a commit by. If the commit finishes an operation, what the operation staged is left out. */
export async function withoutOperation(
  place: FinishingPlace,
  operation: Operation | undefined,
  staged: readonly StagedPath[],
): Promise<readonly StagedPath[]> {
  const name = operation?.name ?? (isSquashing(place.gitDir) ? 'squash' : undefined);
  if (name === undefined || staged.length === 0) return staged;
  const finishing = await readFinishing(place, name, operation, staged);
  return staged.filter((path) => !isOfOperation(path, finishing));
}

async function readFinishing(
  place: FinishingPlace,
  name: string,
  operation: Operation | undefined,
  staged: readonly StagedPath[],
): Promise<Finishing> {
  const { cwd, gitDir, head } = place;
  const tree = operation === undefined ? undefined : ownTree(place, operation);
  const [made, merged, resolved] = await Promise.all([
    madePaths(cwd, gitDir, name),
    tree === undefined || head.oid === null ? undefined : mergedPaths(cwd, head.oid, tree),
    resolvedPaths(cwd, new Map(staged.map((one) => [one.path, one.head]))),
  ]);
  for (const one of staged) if (isOthers(one, place)) resolved.delete(one.path);
  return { made, merged, resolved };
}

/** Whether a staged state is another session's work, which stays on the disk if a deletion of the file conflicts. */
function isOthers({ path, head, index }: StagedPath, { ledgers, groups }: FinishingPlace): boolean {
  const { foreign } = claimsOn(path, ledgers, groups, head);
  return strong(foreign).some(({ after }) => sameState(after, index));
}

/**
 * Returns the tree of git's last merge, if this operation made it: a journal says so, or that tree is not the one from before
 * the command that began the operation. Not for a revert: with `-n`, its tree also has what somebody had staged.
 */
function ownTree({ gitDir, ledger, self }: FinishingPlace, operation: Operation): Oid | undefined {
  const tree = mergedTree(gitDir);
  if (tree === undefined || ledger === undefined || operation.name === 'revert') return undefined;
  const isIt = (one: SessionLedger['operations'][number]) =>
    one.mark === operation.mark && one.merged === tree;
  if (readLedgers(ledger).some(({ operations }) => operations.some(isIt))) return tree;
  const began = readWindows(ledger, self).some(
    ({ from, merged }) => operation.at >= from - CLOCK_SLACK_MS && merged !== tree,
  );
  return began ? tree : undefined;
}

/** What an operation (merge, pick, revert, squash) has itself put into the index, for the commit that finishes it. */
export interface Finishing {
  /** The states that the operation's commits give to each path they change; several if it merges several heads. */
  readonly made: ReadonlyMap<string, readonly FileState[]>;
  /** The result of the merge where it differs from HEAD; `undefined` if another operation may have made it. */
  readonly merged: ReadonlyMap<string, FileState> | undefined;
  /** Paths whose conflict is resolved, except those where another session's work is staged. */
  readonly resolved: ReadonlySet<string>;
}

/** Whether the operation itself staged this state, which is then nobody's uncommitted work. */
export function isOfOperation({ path, index }: StagedPath, { made, merged, resolved }: Finishing): boolean {
  if (resolved.has(path)) return true;
  const states = made.get(path);
  if (states === undefined) return false;
  const result = merged?.get(path);
  if (result !== undefined) return sameState(result, index);
  return states.some((state) => sameState(state, index));
}

/**
 * Returns the sessions that made a commit whose message names no session. Each has recorded a commit with the same parent and
 * at least one path, and this commit gives every recorded path the recorded state.
 */
export async function recordedMakers(
  cwd: string,
  { oid, parent }: { readonly oid: Oid; readonly parent: Oid | null },
  ledgers: readonly SessionLedger[],
): Promise<SessionId[]> {
  const noted = ledgers.map(({ session, commits }) => ({
    session,
    commits: commits.filter((one) => one.parent === parent && one.paths.length > 0),
  }));
  if (noted.every(({ commits }) => commits.length === 0)) return [];
  const made = new Map((await changedPaths(cwd, parent, oid)).map(({ path, index }) => [path, index]));
  const isLike = ({ paths }: SessionLedger['commits'][number]) =>
    paths.every(([path, state]) => made.has(path) && sameState(made.get(path) ?? null, state));
  return noted.flatMap(({ session, commits }) => (commits.some(isLike) ? [session] : []));
}
