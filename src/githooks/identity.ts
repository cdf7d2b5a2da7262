import type { SessionId } from '../domain/names.ts';
import { readSettings } from '../git/config.ts';
import { beforeAnswer } from '../host/io.ts';
import { listSessions } from '../sessions/records.ts';
import { type Context, findSession } from '../sessions/caller.ts';
import { markChecked, restOfCommit } from './commit-time.ts';

/** The session whose commit git is making, for the trailer; `undefined` for a person or where `init` never ran. */
export async function committerSession(
  context: Context,
  gitDir: string | undefined,
): Promise<SessionId | undefined> {
  const { cwd } = context;
  const budget = gitDir === undefined ? context.budget : restOfCommit(context, gitDir);
  const limit = beforeAnswer(budget);
  try {
    const [settings, sessions] = await Promise.all([readSettings(cwd, limit), listSessions({ cwd }, limit)]);
    return settings.enabled === true ? findSession(context, sessions, undefined)?.id : undefined;
  } catch (error) {
    if (gitDir !== undefined) markChecked({ ...context, budget }, gitDir, '?');
    throw error;
  }
}
