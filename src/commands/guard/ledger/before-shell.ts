import { relative } from 'node:path';
import type { ToolCall, Verdict } from '../../../agents/dialect.ts';
import type { Snapshot } from '../../../domain/ledger/snapshot.ts';
import type { SessionId } from '../../../domain/names.ts';
import type { ShellEffects } from '../../../domain/shell/effects.ts';
import { readsOnly } from '../../../domain/ledger/read-only.ts';
import { type FoundRepository, discoverRepository } from '../../../git/discover.ts';
import { hash } from '../../../git/hash.ts';
import { scratchStore } from '../../../git/scratch-store.ts';
import { takeSnapshot } from '../../../git/work-tree.ts';
import { realPath } from '../../../host/disk.ts';
import { appendEntries } from '../../../store/ledger.ts';
import { closeArrival, openWindow, putLast, readLast } from '../../../store/windows.ts';
import { rawCommitVerdict } from '../gemini-commit.ts';
import type { Scene } from '../scene.ts';
import { contention } from './contention.ts';
import { newsFor } from './news.ts';
import { sidesNow } from './sides-now.ts';
import { refuseTreeVerbs } from './tree-refusal.ts';
import { type WorkPlace, ledgerOf, lookingTime, openLedgers, placeOf } from './work-place.ts';

type ShellCall = Extract<ToolCall, { kind: 'shell' | 'argv' }>;

/** A look at the working tree that runs while the command is analysed. */
export interface Looking {
  readonly found: FoundRepository;
  readonly place: WorkPlace;
  readonly snapshot: Promise<Snapshot | undefined>;
}

/** Begins to look at the working tree, when the session is not alone and the command may change something. */
export function lookBefore(scene: Scene, session: SessionId, tool: ShellCall): Looking | undefined {
  const { place: found } = scene;
  const place = found === undefined ? undefined : ledgerOf(found, session);
  if (found === undefined || place === undefined) return undefined;
  if (tool.kind === 'shell' && readsOnly(tool.command)) return undefined;
  const known = readLast(place);
  const options = { scratch: scratchStore(place.commonDir), timeoutMs: lookingTime(scene), now: scene.now };
  const snapshot = takeSnapshot(place.top, known === undefined ? options : { ...options, known });
  return {
    found,
    place,
    snapshot: snapshot.catch((error: unknown) => {
      scene.log('open', `the working tree was not looked at before the command: ${String(error)}`);
      return undefined;
    }),
  };
}

/** Decides what a shell command may do to others' work, and remembers how things stood before it. */
export async function beforeShell(
  scene: Scene,
  session: SessionId,
  effects: ShellEffects,
  { found, place, snapshot: look }: Looking,
): Promise<Verdict | undefined> {
  const named = namedPaths(effects, place);
  const touches = named.map(({ path, whole }) => ({ path, whole }));
  const blocked = await contention(scene, found, place, session, touches);
  if (blocked?.kind === 'deny') return blocked;
  const raw = await rawCommit(scene, session, found, place, effects);
  if (raw !== undefined) return raw;
  const snapshot = await look;
  if (snapshot === undefined) return blocked;
  const refusal = await refuseTreeVerbs(scene, session, { found, place, snapshot, effects });
  if (refusal !== undefined) return refusal;
  putLast(place, snapshot);
  closeArrival(place, session);
  openWindow(
    place,
    session,
    windowId(scene),
    snapshot,
    named.map(({ path }) => path),
  );
  if (!scene.dialect.tellsBefore) return blocked;
  const { lines, told } = newsFor(openLedgers(place, session), snapshot.head, scene.now);
  appendEntries(place, session, told);
  return lines.length === 0 ? blocked : { kind: 'context', text: `git-handoff: ${lines.join('\n')}` };
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
  const here = gitCalls
    .map(({ verb, cwd = scene.cwd }) => ({ verb, cwd }))
    .filter(({ verb, cwd }) => verb === 'commit' && discoverRepository(cwd)?.gitDir === place.gitDir);
  if (here.length === 0) return undefined;
  const { foreign } = await sidesNow(scene, found, session);
  return rawCommitVerdict(here, foreign.size > 0);
}

/** One tool call's name: the client's, or else what it is about to do. */
export function windowId({ event }: Scene): string {
  return event.callId ?? hash('sha1', JSON.stringify([event.toolName, event.tool]));
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
