import type { ToolCall } from '../agents/dialect.ts';
import { readsOnly } from '../shell/read-only.ts';
import type { Snapshot } from '../domain/ledger/snapshot.ts';
import type { SessionId } from '../domain/names.ts';
import type { FoundRepository } from '../git/discover.ts';
import { scratchStore } from '../git/scratch-store.ts';
import { takeSnapshot } from '../git/work-tree.ts';
import { readLast } from '../changes/windows.ts';
import type { Scene } from './scene.ts';
import { type WorkPlace, ledgerOf, lookingTime } from '../changes/work-place.ts';

type ShellCall = Extract<ToolCall, { kind: 'shell' | 'argv' }>;

/** A look at the working tree that runs while the command is analysed. */
export interface Looking {
  readonly found: FoundRepository;
  readonly place: WorkPlace;
  /** The worktree as anybody last saw it. */
  readonly known: Snapshot | undefined;
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
    known,
    snapshot: snapshot.catch((error: unknown) => {
      scene.log('open', `the working tree was not looked at before the command: ${String(error)}`);
      return undefined;
    }),
  };
}
