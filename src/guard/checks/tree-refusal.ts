import type { Verdict } from '../../agents/dialect.ts';
import { isWhollyMine, strong } from '../../domain/ledger/ownership.ts';
import type { DirtyPath, Snapshot } from '../../domain/ledger/snapshot.ts';
import type { TreeReach } from '../../shell/tree-reach.ts';
import type { SessionId } from '../../domain/names.ts';
import type { GitVerbCall, ShellEffects } from '../../shell/effects.ts';
import { type FoundRepository, discoverRepository } from '../../git/discover.ts';
import { realPath } from '../../host/disk.ts';
import type { Scene } from '../scene.ts';
import { BY_LEDGER } from './by-ledger.ts';
import { reachAt, reachedPaths } from './reach.ts';
import { treeRefusal } from './tree-hints.ts';
import { typedIn } from './typed.ts';
import type { Ledgers, WorkPlace } from '../../changes/work-place.ts';

/** What a refusal is decided by. */
export interface Look {
  readonly found: FoundRepository;
  readonly place: WorkPlace;
  readonly snapshot: Snapshot;
  readonly effects: ShellEffects;
  readonly ledgers: Ledgers;
  /** git did not say in time: the snapshot is what the ledgers have. */
  readonly isByLedger?: boolean;
}

/**
 * Refuses a branch switch, a stash, a reset and their kin that would carry away or destroy what another live session
 * has not committed. Only for those paths: a command that leaves them alone goes on.
 */
export async function refuseTreeVerbs(
  scene: Scene,
  session: SessionId,
  { found, place, snapshot, effects, ledgers, isByLedger = false }: Look,
): Promise<Verdict | undefined> {
  for (const call of effects.gitCalls) {
    const reach = reachHere(call, scene, place, snapshot);
    if (reach === undefined || staysHere(reach, snapshot.head.ref)) continue;
    if (reach.ignored !== false && !isByLedger) {
      const { refuseIgnored } = await import('./ignored-files.ts');
      const refusal = await refuseIgnored(scene, session, found, place, reach);
      if (refusal !== undefined) return refusal;
    }
    const isReached = reachedPaths(reach, place.top);
    const { all, self } = ledgers;
    const candidates = all
      .filter((ledger) => ledger.session !== session)
      .flatMap(({ claims }) => [...claims.keys()])
      .filter((path) => isReached(snapshot.dirty.get(path)));
    if (candidates.length === 0) continue;
    const { claimsByLedger, foreignClaims } = await import('./foreign-claims.ts');
    const paths = [...new Set(candidates)];
    const seen = isByLedger
      ? claimsByLedger(scene, place, ledgers, paths)
      : await foreignClaims(scene, found, place, ledgers, paths, snapshot);
    const hit = strong(seen.claims);
    if (hit.length === 0) continue;
    const mine = [...self.claims.keys()].filter((path) => {
      const dirty = snapshot.dirty.get(path);
      return isMeant(reach, dirty) && isReached(dirty) && isWhollyMine(dirty, all, seen.sides);
    });
    const owners = hit.map((claim) => claim.session);
    const why = seen.isByLedger ? BY_LEDGER : '';
    return { kind: 'deny', reason: treeRefusal(reach, hit, mine, typedIn(scene, place), why), owners };
  }
  return undefined;
}

/** The reach of a call that runs in this worktree. */
function reachHere(
  call: GitVerbCall,
  scene: Scene,
  { gitDir, top }: WorkPlace,
  snapshot: Snapshot,
): TreeReach | undefined {
  const cwd = call.cwd ?? scene.cwd;
  if (discoverRepository(realPath(cwd))?.gitDir !== gitDir) return undefined;
  return reachAt(call, cwd, scene, { top, snapshot });
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
