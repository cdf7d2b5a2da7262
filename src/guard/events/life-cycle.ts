import type { Verdict } from '../../agents/dialect.ts';
import type { SessionId } from '../../domain/names.ts';
import { readVisits, removeVisit } from '../../sessions/visits.ts';
import { quietly } from '../quietly.ts';
import { sessionEnd, stop } from './endings.ts';
import type { Scene } from '../scene.ts';
import { sessionStart } from './session-start.ts';
import { rememberTips } from '../checks/sub-agents.ts';

/** Everything but the decision before a tool; loaded apart, because that one is waited for at every call. */
export async function lifeCycle(scene: Scene, session: SessionId): Promise<Verdict> {
  const verdict: Verdict = scene.enabled ? await here(scene, session) : { kind: 'allow' };
  if (readVisits(scene.env, session).length > 0) await elsewhere(scene, session);
  return verdict;
}

async function here(scene: Scene, session: SessionId): Promise<Verdict> {
  switch (scene.event.kind) {
    case 'session-start':
      return sessionStart(scene, session);
    case 'stop':
      return stop(scene, session);
    case 'session-end':
      return sessionEnd(scene, session);
    case 'compaction':
      await (await import('./automatic.ts')).noteCompaction(scene, session);
      return { kind: 'allow' };
    case 'agent-start':
      await rememberTips(scene);
      return { kind: 'allow' };
    default:
      return { kind: 'allow' };
  }
}

/** The worktrees in which the session works from outside learn that its turn is over, or the session. */
async function elsewhere(scene: Scene, session: SessionId): Promise<void> {
  const { kind } = scene.event;
  if (kind !== 'stop' && kind !== 'session-end') return;
  const { leave, visited } = await import('../visits.ts');
  const { forgetCalls } = await import('../effects/tidy.ts');
  for (const there of await visited(scene, session)) {
    await quietly(there, async () => {
      if (there.place !== undefined) forgetCalls(there.place, session, scene.now);
      await leave(there, session);
      if (kind === 'session-end') await sessionEnd(there, session);
    });
  }
  if (kind === 'session-end') removeVisit(scene.env, session);
}
