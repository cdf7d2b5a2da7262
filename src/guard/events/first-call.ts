import { rememberFiles } from '../../notes/guarded-files.ts';
import { lookAround } from '../effects/look-around.ts';
import { register } from './registration.ts';
import type { TreeCall } from '../call.ts';
import type { Finding } from '../findings.ts';

/**
 * Registers a session that calls without having been registered a moment ago. For one that the guard
 * never saw start, it also does what SessionStart does: what a command changes unseen can be noticed
 * and put back only if it was seen before. Returns what to tell, if anything.
 */
export async function registerCaller(call: TreeCall): Promise<readonly Finding[]> {
  const registered = await register(call);
  const { isNew } = registered;
  const notices = [...registered.notices, ...(isNew ? await lookAround(call, '') : [])];
  if (isNew) await rememberFiles(call.tree.folder, call.machine.files.all());
  return notices.length === 0 ? [] : [{ kind: 'tell', text: `git-handoff: ${notices.join('\n')}` }];
}
