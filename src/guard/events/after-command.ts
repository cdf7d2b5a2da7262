import { rememberFiles } from '../../notes/guarded-files.ts';
import { afterShell } from '../effects/after-shell.ts';
import { lookAround } from '../effects/look-around.ts';
import type { TreeCall } from '../call.ts';
import { noteLookedAround } from '../lone-session.ts';

/** After a shell command: what to tell of what it changed, and of what it changed unseen. */
export async function afterCommand(call: TreeCall, command: string): Promise<string[]> {
  const [around, ledger] = await Promise.all([lookAround(call, command), afterShellTool(call, command)]);
  noteLookedAround(call.tree, call.session, call.now);
  if (/handoff-/.test(command)) await rememberFiles(call.tree.folder, call.machine.files.all());
  return [...around, ...ledger];
}

/** A look that takes too long leaves the command's changes unclaimed, and says so in the log. */
async function afterShellTool(call: TreeCall, command: string): Promise<readonly string[]> {
  try {
    return await afterShell(call, command);
  } catch (error) {
    call.log('open', `what the command changed is not known: ${String(error)}`);
    call.notChecked('what this command changed, for git status did not finish in time');
    return [];
  }
}
