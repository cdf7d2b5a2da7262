import type { ToolCall } from '../agents/dialect.ts';
import type { ShellEffects } from '../shell/effects.ts';
import { mayHitUnnamed } from '../shell/hook-ways.ts';
import { readsOnly } from '../shell/read-only.ts';
import { changesTree } from '../shell/tree-verb-names.ts';
import { type Snapshot, isCostly } from '../domain/ledger/snapshot.ts';
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
  /** Looking takes long here: it is done only when somebody asks. */
  readonly isCostly: boolean;
  readonly snapshot: () => Promise<Snapshot | undefined>;
}

/**
 * Begins to look at the working tree, when the session is not alone and the command may change something. Where that takes
 * long it is left to who has to know.
 */
export function lookBefore(scene: Scene, session: SessionId, tool: ShellCall): Looking | undefined {
  const { place: found } = scene;
  const place = found === undefined ? undefined : ledgerOf(found, session);
  if (found === undefined || place === undefined) return undefined;
  if (tool.kind === 'shell' && readsOnly(tool.command)) return undefined;
  const known = readLast(place);
  const options = { scratch: scratchStore(place.commonDir), timeoutMs: lookingTime(scene), now: scene.now };
  const take = () =>
    takeSnapshot(place.top, known === undefined ? options : { ...options, known }).catch((error: unknown) => {
      scene.log('open', `the working tree was not looked at before the command: ${String(error)}`);
      return undefined;
    });
  const costly = isCostly(known);
  let taken = costly ? undefined : take();
  return { found, place, known, isCostly: costly, snapshot: () => (taken ??= take()) };
}

/** Verbs that move HEAD or its branch, besides those that change the working tree. */
const MOVING = new Set(['commit', 'update-ref', 'branch', 'fetch', 'filter-branch']);

/** Whether a command could destroy or carry away uncommitted work, or move HEAD: then all must be known, whatever it takes. */
export function needsLook(effects: ShellEffects): boolean {
  return (
    mayHitUnnamed(effects) ||
    effects.gitCalls.some(({ verb }) => changesTree(verb) || MOVING.has(verb)) ||
    effects.paths.some(({ kind }) => kind === 'remove')
  );
}
