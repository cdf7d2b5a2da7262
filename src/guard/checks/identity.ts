import { type SessionId, shortId } from '../../domain/names.ts';
import { escapeLine } from '../../domain/messages.ts';
import type { IdentityEffect } from '../../shell/effects.ts';
import type { Call, Finding } from '../call.ts';
import type { AnalysedFacts } from '../facts.ts';

/**
 * Refuses a command that switches the guard off or takes another session's id, because the id decides whose work is whose.
 * No bypass lets it through: a bypass is for one session, and here it is in doubt which session calls.
 */
export function identity({ session }: Call, { effects }: AnalysedFacts): readonly Finding[] {
  return effects.identity
    .filter((effect) => effect.kind !== 'session-option' || effect.value !== session)
    .map((effect) => ({ kind: 'refuse', text: identityRefusal(effect, session), allowedBy: 'nobody' }));
}

function identityRefusal(effect: IdentityEffect, session: SessionId | undefined): string {
  const who = session === undefined ? '' : ` This session is \`${shortId(session)}\`.`;
  if (effect.kind === 'variable' && effect.name === 'GIT_HANDOFF') {
    return `${escapeLine(effect.by)} sets GIT_HANDOFF, which switches the guard off; only the user may do that. Run the command without it.`;
  }
  return effect.kind === 'variable'
    ? `${escapeLine(effect.by)} changes ${effect.name}, which tells git-handoff whose work this is.${who} Run the command without that change.`
    : `--session ${escapeLine(effect.value)} names another session.${who} Run the command without --session: git-handoff already knows your session.`;
}
