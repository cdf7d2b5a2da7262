import type { SessionId } from '../../domain/names.ts';
import { rememberFiles } from '../../notes/guarded-files.ts';
import { afterShell } from '../effects/after-shell.ts';
import { lookAround } from '../effects/look-around.ts';
import type { Scene } from '../scene.ts';
import { rememberTips } from '../checks/sub-agents.ts';

/** After a shell command: what to tell of what it changed, and of what it changed unseen. */
export async function afterCommand(scene: Scene, session: SessionId, command: string): Promise<string[]> {
  if (scene.event.agent !== undefined && command.includes('handoff')) await rememberTips(scene);
  const [around, ledger] = await Promise.all([
    lookAround(scene, session, command),
    afterShellTool(scene, session, command),
  ]);
  if (/handoff-/.test(command)) await rememberFiles(scene.folder, scene.files.all());
  return [...around, ...ledger];
}

/** A look that takes too long leaves the command's changes unclaimed, and says so in the log. */
async function afterShellTool(scene: Scene, session: SessionId, command: string): Promise<readonly string[]> {
  try {
    return await afterShell(scene, session, command);
  } catch (error) {
    scene.log('open', `what the command changed is not known: ${String(error)}`);
    scene.notChecked('what this command changed, for git status did not finish in time');
    return [];
  }
}
