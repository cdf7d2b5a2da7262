import { dirname, join } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { discoverRepository } from '../../git/discover.ts';
import { realPath } from '../../host/disk.ts';
import type { PathEffect } from '../../shell/effects.ts';
import { neighbours } from '../peers.ts';
import type { Scene } from '../scene.ts';
import { stands } from '../verdicts.ts';
import { hooksFolder, isHookPath } from './hook-state.ts';
import { typedAt } from './typed.ts';

/** Refuses changes of what our hooks are and of the settings by which they judge, while another session is at work. */

/** A path that is one of our hooks, or the configuration of the repository. */
export function hookFile(
  { place, entries, home }: Scene,
  paths: readonly PathEffect[],
): PathEffect | undefined {
  if (place === undefined) return undefined;
  const folder = hooksFolder(entries, place, home);
  const hooks = folder === undefined ? undefined : realPath(folder);
  const config = [
    join(realPath(place.commonDir), 'config'),
    join(realPath(place.commonDir), 'config.worktree'),
    join(realPath(place.gitDir), 'config.worktree'),
  ];
  return paths.find(({ path, kind, follows, by }) => {
    const real = realPath(path, follows);
    if (hooks !== undefined && isHookPath(real, hooks, kind === 'remove')) return true;
    return by !== 'git config' && config.includes(real);
  });
}

/** The refusal of a change, in words; `undefined` to a session that is alone. */
export async function hookRefusal(
  scene: Scene,
  session: SessionId,
  change: string | undefined,
): Promise<Verdict | undefined> {
  if (change === undefined || scene.place === undefined) return undefined;
  const { live } = await neighbours(scene, scene.place, session);
  const peers = live.map(({ record }) => record.session);
  if (peers.length === 0) return undefined;
  return {
    kind: 'deny',
    reason:
      `${change} would keep git-handoff's hooks from judging commits, and ${named(peers)} at work in this repository. ` +
      `Nothing was changed. To commit your own changes: ${typedAt(scene, scene.place).git} handoff commit -m '<message>'. ` +
      'Whether the hooks change is for a person to decide, in a terminal of their own.',
    owners: peers,
  };
}

/** "session aaaaaaaa is". */
export function named(peers: readonly SessionId[]): string {
  const names = peers.map((peer) => shortId(peer)).join(', ');
  return peers.length === 1 ? `session ${names} is` : `sessions ${names} are`;
}

/** The same for the paths of a file tool, in whatever repository they are hooks. */
export async function refuseHookFiles(
  scene: Scene,
  session: SessionId,
  paths: readonly string[],
): Promise<Verdict | undefined> {
  const by = scene.event.toolName ?? 'the tool';
  const effects = paths.map((path): PathEffect => ({ path, kind: 'write', follows: true, by }));
  for (const there of await scenesOf(scene, paths)) {
    const written = hookFile(there, effects);
    const change = written === undefined ? undefined : `${escapeLine(by)} on ${escapeLine(written.path)}`;
    const refusal = await hookRefusal(there, session, change);
    if (refusal !== undefined && stands(there, refusal)) return refusal;
  }
  return undefined;
}

/** The repositories that the paths may be hooks of, where git-handoff is switched on. */
async function scenesOf(scene: Scene, paths: readonly string[]): Promise<Scene[]> {
  const found = paths.flatMap((path) => {
    const real = realPath(path, true);
    const inside = real.lastIndexOf('/.git/');
    return discoverRepository(inside < 0 ? dirname(real) : real.slice(0, inside)) ?? [];
  });
  const elsewhere = found.filter(({ commonDir }) => commonDir !== scene.place?.commonDir);
  const own = scene.enabled ? [scene] : [];
  if (elsewhere.length === 0) return own;
  return [...own, ...(await (await import('../visits.ts')).scenesAt(scene, elsewhere))];
}
