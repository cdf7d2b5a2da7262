import { relative } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import { mayHitUnnamed } from '../../shell/hook-ways.ts';
import { changesTree } from '../../shell/tree-verb-names.ts';
import type { SessionId } from '../../domain/names.ts';
import type { PathEffect, ShellEffects } from '../../shell/effects.ts';
import { type FoundRepository, discoverRepository } from '../../git/discover.ts';
import { mergedTree } from '../../git/finishing.ts';
import { realPath } from '../../host/disk.ts';
import { appendEntries } from '../../changes/ledger.ts';
import { TOGETHER_MS, dropAbandoned, openWindow, putLast } from '../../changes/windows.ts';
import { stands } from '../verdicts.ts';
import { rawCommitVerdict } from './gemini-commit.ts';
import type { Scene } from '../scene.ts';
import { snapshotByLedger } from './by-ledger.ts';
import { contention } from './contention.ts';
import { type Touch, discards } from './touch.ts';
import { type Looking, needsLook } from '../look-before.ts';
import { movedHead, newsFor } from '../../changes/news.ts';
import type { Look } from './tree-refusal.ts';
import { claimOwners, lastSeen } from '../../domain/ledger/vanished.ts';
import { keepVanished } from '../effects/rescue/keep-vanished.ts';
import { type Snapshot, sameDirty } from '../../domain/ledger/snapshot.ts';
import { windowId } from '../window-id.ts';
import { type WorkPlace, lookingTime, openLedgers, placeOf } from '../../changes/work-place.ts';

/** Decides what a shell command may do to others' work, and remembers how things stood before it. */
export async function beforeShell(
  scene: Scene,
  session: SessionId,
  effects: ShellEffects,
  { found, place, known, isCostly, snapshot: look }: Looking,
): Promise<Verdict | undefined> {
  const ledgers = openLedgers(place, session);
  const named = namedPaths(effects, place);
  const blocked = await contention(scene, found, place, session, named, ledgers);
  if (blocked?.kind === 'deny') return blocked;
  const raw = await rawCommit(scene, session, found, place, effects);
  if (raw !== undefined && stands(scene, raw)) return raw;
  const agent = scene.event.agent ?? '';
  const about = {
    named: named.map(({ path }) => path),
    agent,
    commits: effects.gitCalls.some(({ verb }) => verb === 'commit'),
  };
  // What the command names is its own all the same.
  const openUnlooked = () => {
    if (known === undefined) return;
    openWindow(place, session, windowId(scene), { ...known, at: scene.now }, { ...about, looked: false });
  };
  if (isCostly && !needsLook(effects)) {
    dropAbandoned(place, session, agent, scene.now);
    openUnlooked();
    return blocked;
  }
  const snapshot = await look();
  if (snapshot === undefined) {
    const refused = await unlooked(scene, session, { found, place, known, effects, ledgers });
    if (refused?.kind === 'deny') return refused;
    openUnlooked();
    return refused ?? blocked;
  }
  const refusal = await treeRefusal(scene, session, { found, place, snapshot, effects, ledgers });
  if (refusal !== undefined && stands(scene, refusal)) return refusal;
  await keepVanished(scene, place, lastSeen(known, ledgers.all), snapshot, claimOwners(ledgers.all));
  if (known === undefined || !sameDirty(known, snapshot)) putLast(place, snapshot);
  dropAbandoned(place, session, agent, scene.now);
  if (ledgers.self.announced.size > 0) {
    appendEntries(place, session, [{ t: 'answered', agent, at: scene.now - TOGETHER_MS }]);
  }
  const merged = mergedTree(place.gitDir) ?? '';
  openWindow(place, session, windowId(scene), snapshot, { ...about, merged });
  if (!scene.dialect.tellsBefore) return blocked;
  const moved = await movedHead(ledgers, snapshot.head, place.top, lookingTime(scene));
  const { lines, told } = newsFor(ledgers, moved, scene.now);
  appendEntries(place, session, told);
  return lines.length === 0 ? blocked : { kind: 'context', text: `git-handoff: ${lines.join('\n')}` };
}

/** git did not say in time how the tree is: what the ledger knows is protected, and the rest is said. */
async function unlooked(
  scene: Scene,
  session: SessionId,
  { known, ...look }: Omit<Look, 'snapshot'> & { readonly known: Snapshot | undefined },
): Promise<Verdict | undefined> {
  scene.notChecked('what this command does here, for git status did not finish in time');
  const snapshot = snapshotByLedger(look.place, look.ledgers, known, scene.now);
  return treeRefusal(scene, session, { ...look, snapshot, isByLedger: true });
}

/** Most commands have none of these verbs: what judges them is loaded for those that do. */
async function treeRefusal(scene: Scene, session: SessionId, look: Look): Promise<Verdict | undefined> {
  if (mayHitUnnamed(look.effects)) {
    const { refuseUnnamed } = await import('./unnamed-changes.ts');
    const refusal = await refuseUnnamed(scene, session, look);
    if (refusal !== undefined) return refusal;
  }
  if (!look.effects.gitCalls.some(({ verb }) => changesTree(verb))) return undefined;
  const { refuseTreeVerbs } = await import('./tree-refusal.ts');
  return refuseTreeVerbs(scene, session, look);
}

/** A commit in a shell where no git hook would look at it. */
async function rawCommit(
  scene: Scene,
  session: SessionId,
  found: FoundRepository,
  place: WorkPlace,
  { gitCalls }: ShellEffects,
): Promise<Verdict | undefined> {
  if (scene.dialect.runsGitHooks) return undefined;
  const commit = gitCalls.find(
    ({ verb, cwd = scene.cwd }) =>
      verb === 'commit' && discoverRepository(realPath(cwd))?.gitDir === place.gitDir,
  );
  if (commit === undefined) return undefined;
  const { sidesNow } = await import('../sides-now.ts');
  const { foreign } = await sidesNow(scene, found, session);
  const { typedIn } = await import('./typed.ts');
  const { git } = typedIn(scene, place);
  return rawCommitVerdict(commit, [...foreign], {
    git,
    commonDir: place.commonDir,
    folder: commit.cwd ?? scene.cwd,
  });
}

/** Paths of this worktree that the command names as what it changes. */
function namedPaths({ paths, modes }: ShellEffects, place: WorkPlace): Touch[] {
  const changed = modes.map(({ path }): PathEffect => ({ path, kind: 'write', follows: true, by: 'chmod' }));
  return [...paths, ...changed].flatMap((effect) => {
    const { path, kind, follows } = effect;
    const how = { whole: kind === 'remove', discards: discards(effect) };
    const placed = placeOf(path, follows);
    if (placed === undefined || placed.found.gitDir !== place.gitDir) {
      const inside = relative(place.top, realPath(path, follows));
      return inside === '' && kind === 'remove' ? [{ path: '', ...how }] : [];
    }
    return [{ path: placed.path, ...how }];
  });
}
