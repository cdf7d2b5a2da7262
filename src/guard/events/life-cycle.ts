import type { Verdict } from '../../agents/dialect.ts';
import type { SessionId } from '../../domain/names.ts';
import { sessionEnd, stop } from './endings.ts';
import type { Scene } from '../scene.ts';
import { sessionStart } from './session-start.ts';
import { rememberTips } from '../checks/sub-agents.ts';

/** Everything but the decision before a tool; loaded apart, because that one is waited for at every call. */
export async function lifeCycle(scene: Scene, session: SessionId): Promise<Verdict> {
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
