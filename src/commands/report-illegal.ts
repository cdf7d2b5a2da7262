import { shortId } from '../domain/names.ts';
import { handoffRef } from '../git/namespace.ts';
import { escapeLine } from '../domain/surfacing.ts';
import type { Repository } from '../git/repository.ts';
import { recordIllegalMove } from '../store/illegal-moves.ts';
import type { TopicState } from '../store/topic.ts';
import { typedTopic } from './topic-argument.ts';

/**
 * Tells of public refs that were moved by hand, each bad value once, and keeps what stood there. A
 * repository that cannot be written to is told every time: there is no memory then.
 */
export async function reportIllegalMoves(
  repository: Repository,
  states: readonly TopicState[],
  now: number,
): Promise<string[]> {
  const notices: string[] = [];
  for (const state of states) {
    if (state.illegal === undefined) continue;
    const first = await recordIllegalMove(repository, state, now).catch(() => true);
    if (first) notices.push(describe(state));
  }
  return notices;
}

function describe(state: TopicState): string {
  const what = state.illegal?.reason === 'deleted' ? 'was deleted' : 'was moved';
  const ref = escapeLine(handoffRef(state.path));
  const reason = state.illegal?.reason === 'deleted' ? '' : ` (${state.illegal?.reason})`;
  const truth =
    state.tip === undefined
      ? 'there was no handoff before'
      : `the handoff is still ${shortId(state.tip.oid)}`;
  const lost = `git handoff show ${typedTopic(state.branch, state.topic)} --lost`;
  return `${ref} ${what} behind git-handoff's back${reason}; ${truth}. What stood there: ${lost}. To put it back: git handoff doctor --fix`;
}
