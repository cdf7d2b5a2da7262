import type { Verdict } from '../agents/dialect.ts';
import type { Scene } from './scene.ts';

/** The answer of a guard that has nothing to say. */
export const ALLOW: Verdict = { kind: 'allow' };

/** A refusal that nobody has lifted: nothing more need be looked at. */
export function stands(scene: Scene, verdict: Verdict | undefined): boolean {
  return verdict?.kind === 'deny' && scene.lifted !== true;
}

/** One answer of two: a refusal counts, then what reaches the model. */
export function combined(verdict: Verdict, more: Verdict | undefined): Verdict {
  if (more === undefined || more.kind === 'allow') return verdict;
  if (more.kind === 'context' && verdict.kind === 'rewrite') {
    const context = [verdict.context, more.text].filter((text) => text !== undefined).join('\n');
    return { ...verdict, context };
  }
  if (more.kind === 'context' && verdict.kind === 'context') {
    return { kind: 'context', text: `${verdict.text}\n${more.text}` };
  }
  return more;
}

/** The first refusal of several verdicts; else the first that says anything. */
export function firstRefusal(verdicts: readonly Verdict[]): Verdict {
  return (
    verdicts.find((verdict) => verdict.kind === 'deny') ??
    verdicts.find((verdict) => verdict.kind !== 'allow') ??
    ALLOW
  );
}
