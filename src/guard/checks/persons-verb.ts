import type { HandoffCall } from '../../shell/effects.ts';
import type { Call, Finding } from '../call.ts';
import type { AnalysedFacts } from '../facts.ts';

const TEXT =
  'Only a person may run `git handoff allow`, in their own terminal. Tell the user what you need and why, and work on something else.';

/** Refuses `git handoff allow`: a session must not itself allow what was refused. */
export function personsVerb(_: Call, { effects }: AnalysedFacts): readonly Finding[] {
  return effects.handoffCalls.some(isPersons) ? [{ kind: 'refuse', text: TEXT, allowedBy: 'nobody' }] : [];
}

function isPersons({ verb, words }: HandoffCall): boolean {
  return verb === 'allow' && !words.some((word) => word === '-h' || word === '--help');
}
