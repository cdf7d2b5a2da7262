import { PROBE_TOOL } from '../install/probe-tool.ts';
import { beforeAnswer, inTime } from '../host/io.ts';
import { beforeTool } from './before-tool.ts';
import { besideBypass } from './bypass.ts';
import { type Call, type TreeCall, isInTree } from './call.ts';
import { afterTool } from './events/after-tool.ts';
import { registerCaller } from './events/first-call.ts';
import { lifeCycle } from './events/life-cycle.ts';
import type { Finding } from './findings.ts';
import { hasBypass } from './judge.ts';
import { noteCall } from './presence.ts';

/** Decides a call: judges a tool before it runs, and records what the other events tell. */
export async function decide(call: Call): Promise<readonly Finding[]> {
  const { event } = call;
  if (event.toolName === PROBE_TOOL) {
    call.log('probe', call.machine.env['GIT_HANDOFF_PROBE'] ?? '');
    return [];
  }
  if (event.kind === 'before-tool') {
    // Who else is here must be known before anything is decided about their work.
    const told = isInTree(call) ? await registration(call) : [];
    return [...(await beforeTool(call)), ...told];
  }
  if (!isInTree(call) || !hasBypass(call)) return handled(call);
  return besideBypass(call, () => handled(call));
}

/** All events but the one before a tool. */
async function handled(call: Call): Promise<readonly Finding[]> {
  const { session } = call;
  if (session === undefined) return [];
  if (call.event.kind === 'after-tool') return afterTool({ ...call, session });
  return lifeCycle({ ...call, session });
}

/** A session that was not on record is, from now on. A decision is made whatever becomes of this. */
async function registration(call: TreeCall): Promise<readonly Finding[]> {
  const registered = register(call).catch((error: unknown) => {
    call.log('error', `record: ${String(error)}`);
    return [];
  });
  const { budget } = call;
  const told = await inTime(registered, budget.part(beforeAnswer(budget)));
  return told === 'late' ? [] : told;
}

async function register(call: TreeCall): Promise<readonly Finding[]> {
  if (noteCall(call)) return [];
  return registerCaller(call);
}
