import { peerNames } from '../../domain/names.ts';
import type { Context } from '../../sessions/caller.ts';
import { clientsOf } from '../../sessions/records.ts';
import { openJudged } from '../workspace.ts';

/** Names the sessions at work in the repository, because from now on nothing protects their work from each other. */
export async function unguardedSessions(context: Context): Promise<string[]> {
  try {
    const { judged } = await openJudged(context);
    const live = judged.filter(({ liveness }) => liveness === 'live').map(({ record }) => record.session);
    if (live.length === 0) return [];
    const names = peerNames(live, { clients: clientsOf(judged) });
    return [`still at work here, without git-handoff from now on: ${names}`];
  } catch {
    // Outside of a repository only the user's settings are removed.
    return [];
  }
}
