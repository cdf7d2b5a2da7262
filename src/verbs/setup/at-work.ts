import { peerNames } from '../../domain/names.ts';
import { readSettings } from '../../git/config.ts';
import type { Context } from '../../sessions/caller.ts';
import { clientsOf } from '../../sessions/records.ts';
import { judgedSessions, openWorkspace } from '../workspace.ts';

/** Says which sessions are at work in the repository, whose work nothing guards from each other any more. */
export async function unguardedSessions(context: Context): Promise<string[]> {
  try {
    const [workspace, settings] = await Promise.all([openWorkspace(context), readSettings(context.cwd)]);
    const judged = judgedSessions(workspace, settings, context.now);
    const live = judged.filter(({ liveness }) => liveness === 'live').map(({ record }) => record.session);
    if (live.length === 0) return [];
    const names = peerNames(live, { clients: clientsOf(judged) });
    return [`still at work here, without git-handoff from now on: ${names}`];
  } catch {
    // Settings of the user's go from any folder.
    return [];
  }
}
