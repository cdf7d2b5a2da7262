import { stateFolder } from '../../host/folders.ts';
import { forgetAgents } from '../agents.ts';
import { forgetModels } from '../models.ts';
import { readVisits, removeVisit } from '../../sessions/visits.ts';
import { orUnchecked } from '../unchecked.ts';
import type { Finding } from '../findings.ts';
import { sessionEnd, stop } from './endings.ts';
import { type SessionCall, type TreeCall, isInTree } from '../call.ts';
import { sessionStart } from './session-start.ts';
import { rememberTips } from '../checks/unseen-topic.ts';
import { leave, visited } from '../visits.ts';
import { forgetCalls } from '../effects/tidy.ts';
import { askForNote } from './ask-note.ts';
import { noteCompaction } from './automatic.ts';

/** Everything but the decision before a tool; loaded apart, because that one is waited for at every call. */
export async function lifeCycle(call: SessionCall): Promise<readonly Finding[]> {
  const found = isInTree(call) ? await here(call) : [];
  if (readVisits(call.machine.env, call.session).length > 0) await inOtherTrees(call);
  if (call.event.kind === 'session-end') {
    forgetAgents(stateFolder(call.machine.env), call.session, call.now);
    forgetModels(call.machine.env, call.session, call.now);
  }
  return found;
}

async function here(call: TreeCall): Promise<readonly Finding[]> {
  switch (call.event.kind) {
    case 'session-start':
      return sessionStart(call);
    case 'prompt':
      return askForNote(call);
    case 'stop':
      return stop(call);
    case 'session-end':
      return sessionEnd(call);
    case 'compaction':
      await noteCompaction(call);
      return [];
    case 'agent-start':
      await rememberTips(call);
      return [];
    default:
      return [];
  }
}

/** The worktrees in which the session works from outside learn that its turn is over, or the session. */
async function inOtherTrees(call: SessionCall): Promise<void> {
  const { session } = call;
  const { kind } = call.event;
  if (kind !== 'stop' && kind !== 'session-end') return;
  for (const there of await visited(call)) {
    await orUnchecked(there, async () => {
      forgetCalls(there.tree, session, call.now);
      await leave(there);
      if (kind === 'session-end') await sessionEnd(there);
    });
  }
  if (kind === 'session-end') removeVisit(call.machine.env, session);
}
