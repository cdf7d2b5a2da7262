import type { SessionId } from '../domain/names.ts';
import { readSettings } from '../git/config.ts';
import { listSessions } from '../sessions/records.ts';
import { type Context, findSession } from '../sessions/caller.ts';

/** The session whose commit git is making, for the trailer; `undefined` for a person or where `init` never ran. */
export async function committerSession(context: Context): Promise<SessionId | undefined> {
  const { cwd } = context;
  const [settings, sessions] = await Promise.all([readSettings(cwd), listSessions({ cwd })]);
  return settings.enabled === true ? findSession(context, sessions, undefined)?.id : undefined;
}
