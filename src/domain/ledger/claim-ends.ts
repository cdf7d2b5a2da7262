import type { SessionId } from '../names.ts';
import type { OpenClaim, SessionLedger } from './claims.ts';
import type { WorktreeEvent } from '../journal/events.ts';
import { isCommitted } from '../journal/fold.ts';
import { type FileState, sameState } from './file-state.ts';
import type { TreeStatus } from './tree-status.ts';
import { namesPath } from './window-claims.ts';

/** Which claims a look at the working tree ends, and which it brings back. Pure. */

/** Returns the paths with open claims that the look shows as HEAD has them. */
export function cleanPaths(ledgers: readonly SessionLedger[], { dirty }: TreeStatus): string[] {
  const claimed = ledgers.flatMap(({ claims }) => [...claims.keys()]);
  return [...new Set(claimed)].filter((path) => !dirty.has(path));
}

/**
 * Returns what the look changes in claims. A claim on a clean path is over, but may come back unless it was committed.
 * While a commit runs, its hooks may have put the tree aside: then only a committed claim is over.
 *
 * @param heads what HEAD has at the {@link cleanPaths}
 */
export function claimsSettled(
  ledgers: readonly SessionLedger[],
  snapshot: TreeStatus,
  heads: ReadonlyMap<string, FileState>,
  commitRuns: boolean,
): Map<SessionId, WorktreeEvent[]> {
  const { at, dirty } = snapshot;
  const back = new Set(revivals(ledgers, (path) => dirty.get(path)));
  return new Map(
    ledgers.map((ledger) => {
      const over = [...ledger.claims.values()].flatMap((claim): WorktreeEvent[] => {
        const { path } = claim;
        if (dirty.has(path)) return [];
        const why = isCommitted(claim, heads.get(path) ?? null) ? 'committed' : 'clean';
        return why === 'clean' && commitRuns ? [] : [{ t: 'end', path, why, at }];
      });
      const revived = [...ledger.ended.values()].filter((claim) => back.has(claim));
      return [ledger.session, [...over, ...revived.map(({ path }) => ({ t: 'revived', path, at }) as const)]];
    }),
  );
}

/** A path's content in HEAD, and the content that replaces it on disk or in the index. */
interface Shown {
  readonly head: FileState;
  readonly disk: FileState;
}

/** Returns the ledgers with those ended claims open again whose change shows at their paths. */
export function withRevived(
  ledgers: readonly SessionLedger[],
  changeAt: (path: string) => Shown | undefined,
): SessionLedger[] {
  const back = revivals(ledgers, changeAt);
  return ledgers.map((ledger) => {
    const own = back.filter((claim) => ledger.ended.get(claim.path) === claim);
    return {
      ...ledger,
      claims: new Map([...ledger.claims, ...own.map((claim) => [claim.path, claim] as const)]),
    };
  });
}

/** Returns a ledger without the ended claims on paths that a command has just written by name: it made what is there. */
export function withoutEnded(ledger: SessionLedger, named: readonly string[]): SessionLedger {
  const ended = [...ledger.ended].filter(([path]) => !namesPath(named, path));
  return ended.length === ledger.ended.size ? ledger : { ...ledger, ended: new Map(ended) };
}

/**
 * Returns ended claims whose change shows again, over the same content of HEAD (a file may be removed twice). If an
 * open claim has made that change, too, it explains the change.
 */
function revivals(
  ledgers: readonly SessionLedger[],
  changeAt: (path: string) => Shown | undefined,
): OpenClaim[] {
  return ledgers.flatMap(({ ended }) =>
    [...ended.values()].filter(({ path, base, committed, after, at }) => {
      const change = changeAt(path);
      if (change === undefined || !sameState(change.disk, after)) return false;
      const { head, disk: state } = change;
      if (![base, ...committed].some((one) => sameState(one, head))) return false;
      const isLater = ledgers.some(
        (one) => (one.ended.get(path)?.at ?? 0) > at && shows(one.ended, path, state),
      );
      return !isLater && !ledgers.some(({ claims }) => shows(claims, path, state));
    }),
  );
}

function shows(claims: ReadonlyMap<string, OpenClaim>, path: string, state: FileState): boolean {
  const claim = claims.get(path);
  return claim !== undefined && sameState(claim.after, state);
}
