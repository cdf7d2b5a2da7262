import { dirname, relative, sep } from 'node:path';
import type { SessionLedger } from '../domain/ledger/claims.ts';
import { emptyLedger } from '../domain/journal/fold.ts';
import { type SessionId, sessionOfOwner } from '../domain/names.ts';
import { type FoundRepository, discoverRepository } from '../git/discover.ts';
import { realPath } from '../host/disk.ts';
import { isInitialised, knownWorktreeId } from '../host/folders.ts';
import { type Budget, beforeAnswer } from '../host/io.ts';
import { type LedgerPlace, readLedgers } from '../sessions/journal.ts';
import { isLoneSession } from '../sessions/lone-session.ts';

/** A worktree with its ledger. */
export interface WorkPlace extends LedgerPlace {
  readonly top: string;
  readonly gitDir: string;
}

/** A path of a worktree; `path` is relative to its top, with `/`. */
export interface PlacedPath {
  readonly found: FoundRepository;
  readonly path: string;
}

/** The worktree that a path lies in: the path's own, wherever the session works. */
export function placePath(absolute: string, follows: boolean): PlacedPath | undefined {
  const real = realPath(absolute, follows);
  const found = discoverRepository(dirname(real));
  if (found === undefined) return undefined;
  const path = relative(found.workTree, real).replaceAll(sep, '/');
  return path === '' || path.startsWith('../') || path.startsWith('.git/') ? undefined : { found, path };
}

/**
 * The worktree's ledger when this session keeps one there: it is on record and not alone. A lone session costs
 * nothing.
 */
export function ledgerOf(found: FoundRepository, session: SessionId): WorkPlace | undefined {
  const { commonDir, gitDir } = found;
  const worktreeId = knownWorktreeId(gitDir);
  if (worktreeId === undefined || !isInitialised(commonDir) || isLoneSession(gitDir, session))
    return undefined;
  return { commonDir, gitDir, worktreeId, top: realPath(found.workTree) };
}

/** The ledgers of a worktree, the owner's own (maybe empty) told apart. */
export interface Ledgers {
  readonly all: readonly SessionLedger[];
  readonly self: SessionLedger;
  /** Those of other sessions and, to a sub-agent, of its siblings; not those of a session's own sub-agents. */
  readonly others: readonly SessionLedger[];
}

/** Reads the ledgers of a worktree, for a session of it, or a sub-agent as an owner. */
export function openLedgers(place: LedgerPlace, owner: SessionId): Ledgers {
  const all = readLedgers(place);
  const self = all.find((one) => one.session === owner) ?? emptyLedger(owner);
  const session = sessionOfOwner(owner);
  const isOwn = (id: SessionId) =>
    id === owner || id === session || (owner === session && sessionOfOwner(id) === session);
  return { all, self, others: all.filter((one) => !isOwn(one.session)) };
}

/** Ids of what others have told; one that arrives need not hear of what was before it. */
export function undeliveredIds({ others, self }: Ledgers): string[] {
  return others.flatMap(({ news }) => news.map(({ id }) => id)).filter((id) => !self.notified.has(id));
}

/** Milliseconds that one look at the working tree may take; what takes longer is not known. */
export function lookTimeoutMs({ budget }: { readonly budget: Budget }): number {
  return beforeAnswer(budget);
}
