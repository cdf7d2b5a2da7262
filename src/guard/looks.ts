import { readLast } from '../changes/windows.ts';
import { ledgerOf, lookTimeoutMs } from '../changes/work-place.ts';
import { scratchStore } from '../git/scratch-store.ts';
import { readTreeStatus } from '../git/work-tree.ts';
import { beforeAnswer } from '../host/io.ts';
import { readsOnly } from '../shell/read-only.ts';
import { type TreeCall, failOpen } from './call.ts';
import { type LedgerLook, type Looks, once } from './facts.ts';
import type { CommandTool } from './tool.ts';

/** Starts a look for the ledger while the command is analysed. For one that only reads, a check starts its own look. */
export async function beginToLook(call: TreeCall, tool: CommandTool): Promise<Looks> {
  const changes = !(tool.kind === 'shell' && readsOnly(tool.command));
  const forLedger = changes
    ? await failOpen(call, 'what is uncommitted here', async () => ledgerLook(call))
    : undefined;
  const dirty = forLedger?.snapshot ?? namesOnly(call);
  if (forLedger !== undefined) void dirty();
  return { forLedger, dirty };
}

function ledgerLook(call: TreeCall): LedgerLook | undefined {
  const place = ledgerOf(call.tree, call.session);
  if (place === undefined) return undefined;
  const known = readLast(place);
  const options = { scratch: scratchStore(place.commonDir), timeoutMs: lookTimeoutMs(call), now: call.now };
  const look = known === undefined ? options : { ...options, known };
  const snapshot = once(() =>
    readTreeStatus(place.top, look).catch((error: unknown) => {
      call.log('open', `the working tree was not looked at before the command: ${String(error)}`);
      return undefined;
    }),
  );
  return { known, snapshot };
}

/** Returns a look, made when a check first asks, that reads no contents. */
export function namesOnly({ tree, now, budget }: TreeCall): Looks['dirty'] {
  const options = { now, timeoutMs: beforeAnswer(budget), namesOnly: true };
  return once(() => readTreeStatus(tree.workTree, options).catch(() => undefined));
}
