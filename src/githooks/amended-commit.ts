import type { SessionLedger } from '../domain/ledger/claims.ts';
import { sameState, type FileState } from '../domain/ledger/file-state.ts';
import { type Sides, namedPeer, namesOwn } from '../domain/ledger/ownership.ts';
import { type SessionId, canMean } from '../domain/names.ts';
import { changedPaths } from '../git/commits.ts';
import type { HeadState } from '../git/head.ts';

const TRAILER = /^[ \t]*Claude-Session-Id[ \t]*:[ \t]*(\S+)/gim;

/**
 * The other live session whose commit HEAD is at, and `--amend` would rewrite: told by the ids in its message, else
 * by the ledgers, which remember what each session's commits were made of.
 */
export async function amendedSession(
  cwd: string,
  { place, commit }: HeadState,
  sides: Sides,
  ledgers: readonly SessionLedger[],
): Promise<SessionId | undefined> {
  if (place.oid === null || commit === undefined) return undefined;
  const named = [...commit.message.matchAll(TRAILER)].map(([, id = '']) => id);
  if (named.some((one) => namesOwn(one, sides))) return undefined;
  const peer = named.map((one) => namedPeer(one, sides)).find((id) => id !== undefined);
  if (peer !== undefined) return peer;
  // A short form that matches several sessions says nothing.
  const isDoubtful = named.some((one) => [...sides.foreign].some((id) => canMean(one, id)));
  if (named.length > 0 && !isDoubtful) return undefined;
  const [parent = null] = commit.parents;
  const recorded = ledgers.filter(({ commits }) => commits.some((one) => one.parent === parent));
  if (recorded.length === 0) return undefined;
  const made = new Map((await changedPaths(cwd, parent, place.oid)).map(({ path, index }) => [path, index]));
  const makers = recorded
    .filter(({ commits }) => commits.some((one) => one.parent === parent && fits(one.paths, made)))
    .map(({ session }) => session);
  if (makers.some((session) => sides.own.has(session))) return undefined;
  return makers.find((session) => sides.foreign.has(session));
}

/** Every path that was let through is in the commit, as it was. One whose paths nobody remembers fits nothing. */
function fits(
  paths: readonly (readonly [string, FileState])[],
  made: ReadonlyMap<string, FileState>,
): boolean {
  return (
    paths.length > 0 &&
    paths.every(([path, state]) => made.has(path) && sameState(made.get(path) ?? null, state))
  );
}
