import { isWhollyMine, strong } from '../../domain/ledger/ownership.ts';
import type { DirtyPath } from '../../domain/ledger/snapshot.ts';
import type { TreeReach } from '../../shell/tree-reach.ts';
import type { TreeCall } from '../call.ts';
import type { CommandFacts } from '../facts.ts';
import type { Finding } from '../findings.ts';
import { idleText } from '../../sessions/idle.ts';
import { BY_LEDGER, seenBefore } from './by-ledger.ts';
import { reachedPaths, reachesHere } from './reach.ts';
import { treeRefusal, wishOf } from './tree-hints.ts';
import { typedIn } from './typed.ts';
import { claimsByLedger, foreignClaims } from './foreign-claims.ts';

/**
 * Refuses a branch switch, a stash, a reset and their kin that would carry away or destroy what another live session
 * has not committed. Only for those paths: a command that leaves them alone goes on.
 */
export async function treeVerb(call: TreeCall, facts: CommandFacts): Promise<readonly Finding[]> {
  const seen = await seenBefore(call, facts);
  if (seen === undefined) return [];
  const { place, snapshot, ledgers, isByLedger } = seen;
  const { all, self } = ledgers;
  const found: Finding[] = [];
  for (const reach of reachesHere(call, facts.effects, seen)) {
    if (staysHere(reach, snapshot.head.ref)) continue;
    const isReached = reachedPaths(reach, place.top);
    const candidates = all
      .filter((ledger) => ledger !== self)
      .flatMap(({ claims }) => [...claims.keys()])
      .filter((path) => isReached(snapshot.dirty.get(path)));
    if (candidates.length === 0) continue;
    const paths = [...new Set(candidates)];
    const { claims, sides, ...how } = isByLedger
      ? claimsByLedger(call, place, ledgers, paths)
      : await foreignClaims(call, facts, seen, paths, snapshot);
    found.push(...how.settle);
    const hit = strong(claims);
    if (hit.length === 0) continue;
    const mine = [...self.claims.keys()].filter((path) => {
      const dirty = snapshot.dirty.get(path);
      return isMeant(reach, dirty) && isReached(dirty) && isWhollyMine(dirty, all, sides);
    });
    const owners = hit.map((claim) => claim.session);
    const idle = idleText(place.commonDir, owners, sides, call.now);
    const why = `${idle}${how.isByLedger ? BY_LEDGER : ''}`;
    const inConflict = (await (await facts.git()).unmerged(place.top)).length > 0;
    const text = treeRefusal(reach, hit, { mine, inConflict }, typedIn(call, place), why, sides);
    const asked = { place, wish: wishOf(reach), claims: hit };
    return [...found, { kind: 'refuse', text, owners, asked, lift: 'person' }];
  }
  return found;
}

/** A switch to the branch that is checked out already leaves everything as it is. */
function staysHere({ verb, does, call }: TreeReach, ref: string): boolean {
  const names = call.words.filter((word) => !/^(?:-q|--quiet|--(?:no-)?progress)$/.test(word ?? ''));
  return (
    verb === 'switch' && does === 'carry' && names.length === 1 && ref === `refs/heads/${names[0] ?? ''}`
  );
}

/** What the command would have done to the session's own: `git clean` removes no tracked file, `reset` no other. */
function isMeant({ verb }: TreeReach, dirty: DirtyPath | undefined): dirty is DirtyPath {
  if (dirty === undefined) return false;
  const isUntracked = dirty.head === null && dirty.index === null;
  return verb === 'stash' || (verb === 'clean') === isUntracked;
}
