import { CLOCK_SLACK_MS, sameState, type FileState } from '../domain/ledger/file-state.ts';
import type { StagedPath } from '../domain/ledger/mixing.ts';
import type { HeadPlace } from '../domain/ledger/tree-status.ts';
import type { Oid, SessionId } from '../domain/names.ts';
import { isSquashing, madePaths, mergedPaths, mergedTree, resolvedPaths } from '../git/finishing.ts';
import type { Operation } from '../git/operations.ts';
import type { LedgerPlace } from '../sessions/journal.ts';
import { readMerged } from './operations.ts';
import { readWindows } from './windows.ts';
import type { SessionLedger } from '../domain/ledger/claims.ts';
import { changedPaths } from '../git/commits.ts';

/** Where an operation is finished. */
interface FinishingPlace {
  readonly cwd: string;
  readonly gitDir: string;
  readonly head: HeadPlace;
  readonly ledger: LedgerPlace | undefined;
  readonly self: SessionId;
}

/**
 * What a commit has to be judged by: what is staged, but for what the operation that the commit finishes has staged by
 * itself.
 */
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
  return { made, merged, resolved };
}

/**
 * The tree that this operation merged: it was another before the command that began it. A revert may have begun with
 * what somebody had staged (`-n`), which is in that tree, too.
 */
function ownTree({ gitDir, ledger, self }: FinishingPlace, operation: Operation): Oid | undefined {
  const tree = mergedTree(gitDir);
  if (tree === undefined || ledger === undefined || operation.name === 'revert') return undefined;
  if (readMerged(ledger, operation).includes(tree)) return tree;
  const began = readWindows(ledger, self).some(
    ({ from, merged }) => operation.at >= from - CLOCK_SLACK_MS && merged !== tree,
  );
  return began ? tree : undefined;
}

/** What a merge, pick, revert or squash that is being finished has put into the index by itself. */
export interface Finishing {
  /** What its own commits make of each path that they change; several for several heads. */
  readonly made: ReadonlyMap<string, readonly FileState[]>;
  /** What git merged for it, where that differs from HEAD; `undefined`: not known to be this operation's. */
  readonly merged: ReadonlyMap<string, FileState> | undefined;
  /** Paths that were in conflict; their content now is the resolution. */
  readonly resolved: ReadonlySet<string>;
}

/** Whether the operation itself staged this: it is nobody's uncommitted work. Everything else is judged as ever. */
export function isOfOperation({ path, index }: StagedPath, { made, merged, resolved }: Finishing): boolean {
  if (resolved.has(path)) return true;
  const states = made.get(path);
  if (states === undefined) return false;
  const result = merged?.get(path);
  if (result !== undefined) return sameState(result, index);
  return states.some((state) => sameState(state, index));
}

/**
 * The sessions whose ledgers remember that such a commit of theirs was let through: every path that they noted is in the
 * commit as it was. For a commit whose message names no session. A commit that noted no path is like none.
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
