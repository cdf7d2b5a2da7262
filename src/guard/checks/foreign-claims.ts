import { withRevived } from '../../domain/ledger/claim-ends.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { type SessionGroups, claimsOn } from '../../domain/ledger/ownership.ts';
import type { TreeStatus } from '../../domain/ledger/tree-status.ts';
import { settledClaims } from '../../changes/settle-claims.ts';
import { appendEvents } from '../../sessions/journal.ts';
import type { TreeCall, Effect } from '../call.ts';
import type { OpenLedger, TreeFacts } from '../facts.ts';
import { aliveBeside, isChanged } from './by-ledger.ts';
import { type Ledgers, type WorkPlace, lookTimeoutMs } from '../../changes/work-place.ts';

/** The open claims of other live sessions, not their touches. */
export interface ForeignClaims {
  readonly claims: readonly OpenClaim[];
  /** Claims of sessions no longer at work, as the look shows them; empty without a look. */
  readonly left: readonly OpenClaim[];
  readonly snapshot: TreeStatus | undefined;
  readonly groups: SessionGroups;
  /** Whether git did not answer in time, so that the ledgers alone decided. */
  readonly isByLedger: boolean;
  /** What the look shows of all claims, to be written to the ledgers whatever becomes of the call. */
  readonly settle: readonly Effect[];
}

/**
 * Returns the claims of other live sessions on paths, by a fresh look at the disk and the live refs. When git does not
 * answer in time, the ledger decides.
 */
export async function foreignClaims(
  call: TreeCall,
  facts: TreeFacts,
  { place, ledgers }: OpenLedger,
  paths: readonly string[],
  seen?: TreeStatus,
): Promise<ForeignClaims> {
  const { all } = ledgers;
  const look = async () => seen ?? (await facts.git()).look(place.top, paths);
  const looked = await Promise.all([facts.people(), look()]).catch((error: unknown) => {
    call.log('open', `decided by recorded changes alone: ${String(error)}`);
    return undefined;
  });
  if (looked === undefined) return claimsByLedger(call, place, ledgers, paths);
  const [groups, snapshot] = looked;
  // The look covered these paths only: it says nothing about claims on others.
  const asked = new Set(paths);
  const only = <T>(claims: ReadonlyMap<string, T>) =>
    new Map([...claims].filter(([path]) => asked.has(path)));
  const known = all.map((one) => ({ ...one, claims: only(one.claims), ended: only(one.ended) }));
  const settled = await settledClaims(place, known, snapshot, { timeoutMs: lookTimeoutMs(call) });
  const ended = [...settled].flatMap(([owner, entries]) =>
    entries.flatMap((entry) => (entry.t === 'end' ? [`${owner} ${entry.path}`] : [])),
  );
  const shown = withRevived(known, (path) => snapshot.dirty.get(path));
  const open = paths.map((path) => claimsOn(path, shown, groups, snapshot.dirty.get(path)?.head));
  const isOpen = ({ session, path }: OpenClaim) => !ended.includes(`${session} ${path}`);
  const claims = open.flatMap(({ foreign }) => foreign).filter(isOpen);
  const left = open.flatMap((one) => one.left).filter(isOpen);
  const run = async () => {
    for (const [owner, entries] of settled) appendEvents(place, owner, entries);
    return [];
  };
  return { claims, left, snapshot, groups, isByLedger: false, settle: [{ kind: 'do', when: 'judged', run }] };
}

/** Does the same without git: a claim counts as long as the file's bytes differ from what HEAD had. */
export function claimsByLedger(
  call: TreeCall,
  place: WorkPlace,
  { all, self }: Ledgers,
  paths: readonly string[],
): ForeignClaims {
  const groups = { own: new Set([self.session]), foreign: aliveBeside(call, place, all) };
  const bases = all.flatMap(({ claims }) => paths.flatMap((path) => claims.get(path) ?? []));
  const claims = paths.flatMap((path) => {
    const base = bases.find((claim) => claim.path === path)?.base ?? null;
    return isChanged(place.top, { path, base }) ? claimsOn(path, all, groups, base).foreign : [];
  });
  return { claims, left: [], snapshot: undefined, groups, isByLedger: true, settle: [] };
}
