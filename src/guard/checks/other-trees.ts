import type { Verdict } from '../../agents/dialect.ts';
import type { SessionId } from '../../domain/names.ts';
import type { GitVerbCall, ShellEffects } from '../../shell/effects.ts';
import { type FoundRepository, discoverRepository } from '../../git/discover.ts';
import { realPath } from '../../host/disk.ts';
import type { Scene } from '../scene.ts';
import { type Touch, contention, discards } from './contention.ts';
import { elsewhere } from '../effects/elsewhere.ts';
import { reachAt } from './reach.ts';
import { refuseTreeVerbs } from './tree-refusal.ts';
import { ledgerOf, lookingTime, openLedgers, placeOf } from '../../changes/work-place.ts';

/** What a command would do in another worktree of the repository. */
interface There {
  readonly found: FoundRepository;
  readonly touches: Touch[];
  readonly calls: GitVerbCall[];
}

/**
 * Decides what a shell command does to other worktrees of the same repository (`git -C ../main stash`, `> ../main/f`):
 * their sessions' work is as much theirs. The session is put on record there, as by any touch.
 */
export async function otherTrees(
  scene: Scene,
  session: SessionId,
  effects: ShellEffects,
): Promise<Verdict | undefined> {
  for (const { found, touches, calls } of treesTouched(scene, effects)) {
    await elsewhere(scene, session, found);
    const place = ledgerOf(found, session);
    if (place === undefined) continue;
    const ledgers = openLedgers(place, session);
    const blocked = await contention(scene, found, place, session, touches, ledgers);
    if (blocked !== undefined) return blocked;
    if (calls.length === 0) continue;
    const { takeSnapshot } = await import('../../git/work-tree.ts');
    const snapshot = await takeSnapshot(place.top, { timeoutMs: lookingTime(scene), now: scene.now });
    const there = { ...effects, gitCalls: calls };
    const refusal = await refuseTreeVerbs(scene, session, {
      found,
      place,
      snapshot,
      effects: there,
      ledgers,
    });
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function treesTouched(scene: Scene, effects: ShellEffects): There[] {
  const trees = new Map<string, There>();
  const at = (found: FoundRepository | undefined): There | undefined => {
    const own = scene.place;
    if (found === undefined || found.commonDir !== own?.commonDir || found.gitDir === own.gitDir)
      return undefined;
    const known = trees.get(found.gitDir) ?? { found, touches: [], calls: [] };
    trees.set(found.gitDir, known);
    return known;
  };
  for (const effect of effects.paths) {
    const placed = placeOf(effect.path, effect.follows);
    const how = { whole: effect.kind === 'remove', discards: discards(effect) };
    at(placed?.found)?.touches.push({ path: placed?.path ?? '', ...how });
  }
  for (const call of effects.gitCalls) {
    if (call.cwd === undefined || reachAt(call, call.cwd, scene) === undefined) continue;
    at(discoverRepository(realPath(call.cwd)))?.calls.push(call);
  }
  return [...trees.values()];
}
