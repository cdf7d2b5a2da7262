import type { BypassKey } from '../domain/bypass.ts';
import { escapeLine } from '../domain/surfacing.ts';
import { consumeBypass, dropAbandonedBypasses, endBypass, readConsumed } from '../sessions/bypass.ts';
import { changedCopies, forgetCopy, listCopies, rememberFiles } from '../notes/guarded-files.ts';
import { recordBypass } from '../sessions/happenings.ts';
import {
  type Call,
  type TreeCall,
  type Finding,
  type Permission,
  type Refusal,
  commandText,
  toolPaths,
  windowId,
} from './call.ts';

/**
 * A person's bypass lets one tool call do what the guard would refuse. The first refusal that a bypass lifts uses it up, but it
 * lifts all further refusals of the same call, too.
 */
export function bypassFor(call: TreeCall): Permission {
  const { session, now, event, tree } = call;
  const key = keyOf(call);
  dropAbandonedBypasses(tree.commonDir, session, key, now);
  let isAllowed = false;
  return async ({ text, owners, allowedBy }) => {
    if (allowedBy === 'nobody') return false;
    if (isAllowed) return true;
    const consumed = consumeBypass(tree.commonDir, { session, key, files: allowedBy === 'files', now });
    if (consumed === undefined) return false;
    isAllowed = true;
    call.log('bypass', `let through: ${event.toolName ?? ''}: ${text}`);
    if (consumed === 'now') await notify(call, owners);
    return true;
  };
}

/** Handles every event except before-tool, and ends a bypass with the call that consumed it. */
export async function besideBypass(
  call: TreeCall,
  handle: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const { event, session, tree, now } = call;
  if (event.kind === 'after-tool') return afterCall(call, handle);
  // If the turn has ended, no call is running.
  if (/^(?:session-start|session-end|stop)$/.test(event.kind))
    endBypass(tree.commonDir, session, undefined, now);
  return handle();
}

function keyOf(call: Call): Extract<BypassKey, { kind: 'call' }> {
  return { kind: 'call', id: windowId(call), agent: call.event.agent ?? '' };
}

async function notify(call: TreeCall, owners: Refusal['owners']): Promise<void> {
  const { session, tree, now, budget, log } = call;
  const text = (who: string) =>
    `A person allowed ${who} one refused action: ${deed(call)}. To see the result: git handoff status`;
  const done = { ...tree, cwd: tree.workTree, session, owners, text, now, log };
  await recordBypass({ ...done, timeoutMs: budget.left() });
}

async function afterCall(
  call: TreeCall,
  handle: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const { session, tree, now } = call;
  const { id } = keyOf(call);
  const used = readConsumed(tree.commonDir, session).find(
    (one) => one.key.kind === 'call' && one.key.id === id,
  );
  try {
    // A person allowed these changes of handoff files, so we neither report nor undo them.
    if (used?.files === true) await acceptChanges(tree.folder);
    return await handle();
  } finally {
    endBypass(tree.commonDir, session, id, now);
  }
}

async function acceptChanges(cwd: string): Promise<void> {
  const repository = { cwd };
  const changed = async () => changedCopies(repository, await listCopies(repository));
  await rememberFiles(
    cwd,
    (await changed()).map(({ path }) => path),
  );
  // A copy that still differs is of a deleted file.
  for (const copy of await changed()) await forgetCopy(repository, copy);
}

const MAX_DEED = 160;

/** Describes the tool call in one line. */
function deed({ event }: Call): string {
  const { tool, toolName = 'a tool' } = event;
  if (tool === undefined) return escapeLine(toolName);
  const text = commandText(tool) ?? toolPaths(tool).join(', ');
  const line = escapeLine(text.replaceAll('\n', ' '));
  return `${escapeLine(toolName)} ${line.length > MAX_DEED ? `${line.slice(0, MAX_DEED)}…` : line}`;
}
