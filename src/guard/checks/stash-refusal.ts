import { relative } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import { ago } from '../../domain/age.ts';
import { type RefusedUse, decideStash, stashUse } from '../../shell/stash-verbs.ts';
import type { DirtyPath, Snapshot } from '../../domain/ledger/snapshot.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import type { GitVerbCall, ShellEffects } from '../../shell/effects.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { FoundRepository } from '../../git/discover.ts';
import type { StashEntry } from '../../git/stash.ts';
import { exists, realPath } from '../../host/disk.ts';
import { worktreeId } from '../../host/folders.ts';
import { expectStash, readStashOwners } from '../../rescue/stash-owners.ts';
import { pinStash } from '../../rescue/stash-pins.ts';
import { neighbours } from '../peers.ts';
import { reachAt, reachedPaths } from './reach.ts';
import { type Typed, typedAt } from './typed.ts';
import { lookingTime } from '../../changes/work-place.ts';
import type { Scene } from '../scene.ts';

/**
 * Keeps every entry of the stash by a ref before a command of git-stash(1), and refuses one that would take or remove
 * an entry which this session did not make: all worktrees share one list, and the newest entry is anybody's.
 */
export async function refuseForeignStash(
  scene: Scene,
  session: SessionId,
  found: FoundRepository,
  { gitCalls, paths }: ShellEffects,
  look: () => Promise<Snapshot | undefined>,
): Promise<Verdict | undefined> {
  const calls = gitCalls.filter((call) => stashUse(call) !== undefined);
  const uses = calls.flatMap((call) => stashUse(call) ?? []);
  if (uses.length === 0) return undefined;
  const { now, settings } = scene;
  const place = { cwd: found.workTree, worktreeId: worktreeId(found.gitDir) };
  const { entries } = await pinStash(place, settings.rescue, now, lookingTime(scene));
  const oids = entries.map(({ oid }) => oid);
  const isPushed = uses.some(({ action }) => action === 'push');
  if (isPushed) expectStash(found.commonDir, session, oids);
  if (entries.length === 0 || uses.every(({ action }) => action === 'push')) return undefined;
  const { own, live: peers } = await neighbours(scene, found, session);
  const owners = readStashOwners(found.commonDir);
  const list = oids.map((oid) => ({ oid, owner: owners.get(oid) }));
  const live = new Set([...own, ...peers.map(({ record }) => record.session)]);
  const pushes = isPushed && stashesSomething(scene, found, { calls, paths }, await look());
  const refused = decideStash(uses, list, { own, live }, pushes);
  if (refused === undefined) return undefined;
  const mine = list.findIndex(({ owner }) => owner !== undefined && own.has(owner));
  const others = refused.entries.flatMap(({ owner }) => owner ?? []);
  return {
    kind: 'deny',
    reason: refusal(refused, entries, entries[mine], now, typedAt(scene, found)),
    owners: others,
  };
}

/**
 * git makes no entry when there is nothing to stash, and the next `pop` then takes another one. What the command itself
 * writes before counts, too.
 */
function stashesSomething(
  scene: Scene,
  found: FoundRepository,
  { calls, paths }: { calls: readonly GitVerbCall[]; paths: ShellEffects['paths'] },
  snapshot: Snapshot | undefined,
): boolean {
  if (snapshot === undefined) return true;
  const top = realPath(found.workTree);
  const written = paths.flatMap(({ path, kind, follows }): DirtyPath[] => {
    const real = realPath(path, follows);
    if (kind !== 'write' || !real.startsWith(`${top}/`)) return [];
    // One that is there and not dirty is tracked.
    const state = exists(real) ? { mode: '100644', oid: null } : null;
    return [{ path: relative(top, real), head: state, index: state, disk: state, stamp: '' }];
  });
  const dirty = [...written, ...snapshot.dirty.values()];
  return calls.some((call) => {
    const reach = reachAt(call, call.cwd ?? scene.cwd, scene);
    if (reach?.verb !== 'stash') return false;
    const isReached = reachedPaths(reach, top);
    return dirty.some((entry) => isReached(entry));
  });
}

function refusal(
  { use, entries: [first, ...more] }: RefusedUse,
  entries: readonly StashEntry[],
  own: StashEntry | undefined,
  now: number,
  typed: Typed,
): string {
  const entry = entries.find(({ oid }) => oid === first?.oid);
  const place = use.action === 'clear' ? 'an entry' : `stash@{${entry?.index ?? 0}}`;
  const whose =
    first?.owner === undefined
      ? 'which this session did not make'
      : `which session ${shortId(first.owner)} made`;
  const made = entry === undefined ? '' : ` ${ago(entry.at, now)} ("${escapeLine(entry.subject)}")`;
  const others = more.length > 0 ? `, and ${more.length} more` : '';
  const deed =
    use.action === 'apply' || use.action === 'branch'
      ? 'take'
      : use.action === 'pop'
        ? 'take and remove'
        : 'remove';
  return (
    `\`git stash ${use.action}\` would ${deed} ${place}, ${whose}${made}${others}; all worktrees share one stash. ` +
    `Nothing was changed. ${instead(use.action, own, first?.oid, typed)}`
  );
}

function instead(
  action: string,
  own: StashEntry | undefined,
  meant: string | undefined,
  { git }: Typed,
): string {
  if (action === 'clear') return `Remove entries of your own one by one; see: ${git} stash list`;
  if (own !== undefined) {
    return action === 'drop'
      ? `To remove your own newest one: ${git} stash drop stash@{${own.index}}`
      : `Your own newest one: ${git} stash apply ${own.oid}`;
  }
  return action === 'drop' || meant === undefined
    ? `This session has no entry of its own; see: ${git} stash list`
    : `This session has no entry of its own. If that one is meant all the same (it stays in the list): ${git} stash apply ${meant}`;
}
