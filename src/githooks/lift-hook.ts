import { consumeBypass } from '../sessions/bypass.ts';
import { gitPid } from './git-process.ts';
import { type HookAnswer, type HookCall, type HookPlace, logHook } from './hook-call.ts';
import { tellOwners } from '../changes/tell-owners.ts';

/**
 * Lets through what a git hook refuses, when a person has allowed it: for the tool call that git runs in, or for this
 * git process. Loaded only where there is a bypass.
 */
export async function liftHook(call: HookCall, place: HookPlace, answer: HookAnswer): Promise<HookAnswer> {
  const { session, lines, owners } = answer;
  const { now } = call;
  const pid = gitPid(call) ?? call.clientPid;
  const key = { kind: 'git', pid, start: call.processes().startOf(pid) ?? '-' } as const;
  const lifted = consumeBypass(place.commonDir, { session, key, now });
  if (lifted === undefined) return answer;
  const [first = ''] = lines;
  const what = first.replace(/^\w+: /, '');
  logHook(call, place, 'bypass', `let through: ${what}`, session);
  if (lifted === 'now') {
    const text = (who: string) =>
      `A person let ${who} do once what ${call.name} otherwise refuses: ${what}. To see the result: git log -3`;
    const done = { ...place, session, owners, text, now, timeoutMs: call.budget.left() };
    await tellOwners(done).catch((error: unknown) => {
      logHook(call, place, 'error', `the bypass could not be announced: ${String(error)}`, session);
    });
  }
  return { refused: false, session, lines: [`warning: a person let this through once: ${what}`] };
}
