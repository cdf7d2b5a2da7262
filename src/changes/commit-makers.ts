import type { SessionLedger } from '../domain/ledger/claims.ts';
import { sameState } from '../domain/ledger/file-state.ts';
import type { Oid, SessionId } from '../domain/names.ts';
import { changedPaths } from '../git/commits.ts';

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
