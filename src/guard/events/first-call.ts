import type { Verdict } from '../../agents/dialect.ts';
import type { SessionId } from '../../domain/names.ts';
import { rememberFiles } from '../../notes/guarded-files.ts';
import { lookAround } from '../effects/look-around.ts';
import { register } from './registration.ts';
import { twinWarning } from './twins.ts';
import type { Scene } from '../scene.ts';

/**
 * Registers a session that calls without having been registered a moment ago. For one that the guard
 * never saw start, it also does what SessionStart does: what a command changes unseen can be noticed
 * and put back only if it was seen before. Returns what to tell, if anything.
 */
export async function registerCaller(scene: Scene, session: SessionId): Promise<Verdict | undefined> {
  const registered = await register(scene, session);
  if (registered === undefined) return undefined;
  const { isNew, twin } = registered;
  const notices = [...registered.notices, ...(isNew ? await lookAround(scene, session, '') : [])];
  if (isNew) await rememberFiles(scene.folder, scene.files.all());
  if (notices.length > 0) return { kind: 'context', text: `git-handoff: ${notices.join('\n')}` };
  return twin === undefined ? undefined : { kind: 'notice', text: twinWarning(session, twin) };
}
