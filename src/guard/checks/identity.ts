import { type SessionId, shortId } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { IdentityEffect } from '../../shell/effects.ts';
import type { Call, Finding } from '../call.ts';
import type { AnalysedFacts } from '../facts.ts';

/**
 * Refuses a command that takes another session's id or switches the guard off, because that id decides whose work is
 * whose. No bypass lets it through: one is given to a session, and here the session itself is in doubt.
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
    ? `${escapeLine(effect.by)} changes ${effect.name}, which tells whose work this is.${who} Run the command without that change.`
    : `--session ${escapeLine(effect.value)} is another session.${who} Run the command without --session: git-handoff already knows your session.`;
}
