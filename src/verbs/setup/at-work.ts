import { peerNames } from '../../domain/names.ts';
import { readSettings } from '../../git/config.ts';
import type { Context } from '../../sessions/caller.ts';
import { clientsOf } from '../../sessions/records.ts';
import { judgedSessions, openWorkspace } from '../workspace.ts';

/** Names the sessions at work in the repository, because from now on nothing protects their work from each other. */
export async function unguardedSessions(context: Context): Promise<string[]> {
  try {
    const [workspace, settings] = await Promise.all([openWorkspace(context), readSettings(context.cwd)]);
    const judged = judgedSessions(workspace, settings, context.now);
    const live = judged.filter(({ liveness }) => liveness === 'live').map(({ record }) => record.session);
    if (live.length === 0) return [];
    const names = peerNames(live, { clients: clientsOf(judged) });
    return [`still at work here, without git-handoff from now on: ${names}`];
  } catch {
    // Outside of a repository only the user's settings are removed.
    return [];
  }
}
