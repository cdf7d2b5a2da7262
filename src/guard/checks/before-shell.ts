import { relative } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import { mayHitUnnamed } from '../../shell/hook-ways.ts';
import { changesTree } from '../../shell/tree-verb-names.ts';
import type { SessionId } from '../../domain/names.ts';
import type { ShellEffects } from '../../shell/effects.ts';
import { type FoundRepository, discoverRepository } from '../../git/discover.ts';
import { realPath } from '../../host/disk.ts';
import { appendEntries } from '../../changes/ledger.ts';
import { dropAbandoned, openWindow, putLast } from '../../changes/windows.ts';
import { stands } from '../verdicts.ts';
import { rawCommitVerdict } from './gemini-commit.ts';
import type { Scene } from '../scene.ts';
import { contention } from './contention.ts';
import type { Looking } from '../look-before.ts';
import { newsFor } from '../../changes/news.ts';
import type { Look } from './tree-refusal.ts';
import { claimOwners, lastSeen } from '../../domain/ledger/vanished.ts';
import { keepVanished } from '../effects/rescue/keep-vanished.ts';
import { sameDirty } from '../../domain/ledger/snapshot.ts';
import { windowId } from '../window-id.ts';
import { type WorkPlace, openLedgers, placeOf } from '../../changes/work-place.ts';

/** Decides what a shell command may do to others' work, and remembers how things stood before it. */
export async function beforeShell(
  scene: Scene,
  session: SessionId,
  effects: ShellEffects,
  { found, place, known, snapshot: look }: Looking,
): Promise<Verdict | undefined> {
  const ledgers = openLedgers(place, session);
  const named = namedPaths(effects, place);
  const touches = named.map(({ path, whole }) => ({ path, whole }));
  const blocked = await contention(scene, found, place, session, touches, ledgers);
  if (blocked?.kind === 'deny') return blocked;
  const raw = await rawCommit(scene, session, found, place, effects);
  if (raw !== undefined && stands(scene, raw)) return raw;
  const snapshot = await look;
  if (snapshot === undefined) return blocked;
  const refusal = await treeRefusal(scene, session, { found, place, snapshot, effects, ledgers });
  if (refusal !== undefined && stands(scene, refusal)) return refusal;
  await keepVanished(scene, place, lastSeen(known, ledgers.all), snapshot, claimOwners(ledgers.all));
  if (known === undefined || !sameDirty(known, snapshot)) putLast(place, snapshot);
  const agent = scene.event.agent ?? '';
  dropAbandoned(place, session, agent, scene.now);
  const paths = named.map(({ path }) => path);
  const commits = effects.gitCalls.some(({ verb }) => verb === 'commit');
  openWindow(place, session, windowId(scene), snapshot, { named: paths, agent, commits });
  if (!scene.dialect.tellsBefore) return blocked;
  const { lines, told } = newsFor(ledgers, snapshot.head, scene.now);
  appendEntries(place, session, told);
  return lines.length === 0 ? blocked : { kind: 'context', text: `git-handoff: ${lines.join('\n')}` };
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
  const here = gitCalls.filter(
    ({ verb, cwd = scene.cwd }) =>
      verb === 'commit' && discoverRepository(realPath(cwd))?.gitDir === place.gitDir,
  );
  if (here.length === 0) return undefined;
  const { sidesNow } = await import('../sides-now.ts');
  const { foreign } = await sidesNow(scene, found, session);
  return rawCommitVerdict(here, [...foreign]);
}

/** Paths of this worktree that the command names as what it changes. */
function namedPaths(effects: ShellEffects, place: WorkPlace): { path: string; whole: boolean }[] {
  return effects.paths.flatMap(({ path, kind, follows }) => {
    const placed = placeOf(path, follows);
    if (placed === undefined || placed.found.gitDir !== place.gitDir) {
      const inside = relative(place.top, realPath(path, follows));
      return inside === '' && kind === 'remove' ? [{ path: '', whole: true }] : [];
    }
    return [{ path: placed.path, whole: kind === 'remove' }];
  });
}
