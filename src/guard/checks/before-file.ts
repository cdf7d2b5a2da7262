import { join } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import type { SessionId } from '../../domain/names.ts';
import { statOf } from '../../git/stat.ts';
import { CLOCK_SLACK_MS } from '../../domain/ledger/file-state.ts';
import { appendEntries, readLedgers } from '../../changes/ledger.ts';
import { quietly } from '../quietly.ts';
import { keepBefore } from '../../changes/before-copies.ts';
import { TOGETHER_MS, readWindows } from '../../changes/windows.ts';
import type { Scene } from '../scene.ts';
import { contention } from './contention.ts';
import { placesOf } from '../places.ts';
import { ALLOW } from '../verdicts.ts';
import { type PlacedPath, type WorkPlace, ledgerOf } from '../../changes/work-place.ts';

/** Before a file tool: is any of its paths somebody else's? Then what stands there now is kept. */
export async function beforeFiles(
  scene: Scene,
  session: SessionId,
  paths: readonly string[],
): Promise<Verdict | undefined> {
  const places = await placesOf(scene, session, paths);
  for (const { scene: there, placed } of places) {
    const decide = async (at: Scene) => (await beforePaths(at, session, placed)) ?? ALLOW;
    const verdict =
      there === scene
        ? await decide(there)
        : await (await import('../decide-there.ts')).decideThere(there, scene, session, decide);
    if (verdict.kind !== 'allow') return verdict;
  }
  const strange = places.find((one) => one.isNew && one.scene.place?.commonDir === scene.place?.commonDir);
  const [first] = strange?.placed ?? [];
  return first === undefined ? undefined : (await import('../decide-there.ts')).wrongCheckout(scene, first);
}

async function beforePaths(
  scene: Scene,
  session: SessionId,
  placed: readonly PlacedPath[],
): Promise<Verdict | undefined> {
  const { place: found } = scene;
  const place = found === undefined ? undefined : ledgerOf(found, session);
  if (found === undefined || place === undefined) return undefined;
  const touches = placed.map(({ path }) => ({ path, whole: false }));
  const verdict = await contention(scene, found, place, session, touches);
  if (verdict?.kind === 'deny') return verdict;
  announce(scene, place, session, placed);
  for (const { path } of placed) {
    await keepReverted(scene, place, path);
    keepBefore(place, session, place.top, path);
  }
  return verdict ?? duringCommit(scene, session, place, placed);
}

/** Until its result comes, nobody else's command is taken to have made the change. */
function announce(
  { event, now }: Scene,
  place: WorkPlace,
  session: SessionId,
  placed: readonly PlacedPath[],
): void {
  const agent = event.agent === undefined ? {} : { agent: event.agent };
  const paths = placed.map(({ path }) => path);
  const over = { t: 'answered', agent: event.agent ?? '', at: now - TOGETHER_MS } as const;
  appendEntries(place, session, [over, { t: 'announced', paths, ...agent, at: now }]);
}

/** What somebody claimed here may have been thrown away by hand, and would be written over unseen. */
async function keepReverted(scene: Scene, place: WorkPlace, path: string): Promise<void> {
  const claims = readLedgers(place).flatMap((ledger) => ledger.claims.get(path) ?? []);
  const changed = statOf(join(place.top, path))?.mtimeMs ?? Infinity;
  if (!claims.some(({ at }) => changed > at + CLOCK_SLACK_MS)) return;
  const { keepRevertedFile } = await import('../effects/rescue/keep-reverted.ts');
  await quietly(scene, () => keepRevertedFile(scene, place, path, claims));
}

/** Loaded only while another session's commit runs. */
async function duringCommit(
  scene: Scene,
  session: SessionId,
  place: WorkPlace,
  placed: readonly PlacedPath[],
): Promise<Verdict | undefined> {
  const [commit] = readWindows(place).filter((window) => window.commits && window.session !== session);
  if (commit === undefined) return undefined;
  const { putAside } = await import('./put-aside.ts');
  return putAside(scene, session, place, placed, commit);
}
