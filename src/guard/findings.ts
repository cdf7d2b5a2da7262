import type { Verdict } from '../agents/dialect.ts';
import type { SessionId } from '../domain/names.ts';
import type { AskedFor } from '../sessions/happenings.ts';

/** What a check has found out about a call. */
export type Finding =
  | Refusal
  /** It reaches the model. */
  | { readonly kind: 'tell'; readonly text: string }
  /** It is shown to the person, where nothing reaches the model. */
  | { readonly kind: 'show'; readonly text: string }
  /** The tool goes on with another content. */
  | { readonly kind: 'rewrite'; readonly content: string }
  | Effect;

/** The call may not be made. */
export interface Refusal {
  readonly kind: 'refuse';
  readonly text: string;
  /** Whose work it protects; absent: it may be anybody's. */
  readonly owners?: readonly SessionId[];
  /** What the owners are asked for; absent: it is not about changes of theirs. */
  readonly asked?: AskedFor;
  /** Whose bypass lifts it. `files`: a person's, and it is about handoff files. */
  readonly lift: 'person' | 'files' | 'nobody';
}

/** Whether a person lets this call do what a check refuses. */
export type Lift = (refusal: Refusal) => Promise<boolean>;

/** Something to do when everything has been judged; what it finds joins the answer. */
export interface Effect {
  readonly kind: 'do';
  /** `allowed`: not when the call is refused. */
  readonly when: 'allowed' | 'judged';
  readonly run: () => Promise<readonly Finding[]>;
}

/** Whether the call is refused. */
export function isRefused(found: readonly Finding[]): boolean {
  return found.some(({ kind }) => kind === 'refuse');
}

/** One answer of all findings: a refusal counts, then what reaches the model, then what is shown. */
export function verdict(found: readonly Finding[]): Verdict {
  const refusal = found.find((one) => one.kind === 'refuse');
  if (refusal !== undefined) return { kind: 'deny', reason: refusal.text };
  const texts = (kind: 'tell' | 'show') => found.flatMap((one) => (one.kind === kind ? one.text : []));
  const [told, shown] = [texts('tell'), texts('show')];
  const rewrite = found.find((one) => one.kind === 'rewrite');
  if (rewrite !== undefined) {
    const { content } = rewrite;
    return told.length === 0
      ? { kind: 'rewrite', content }
      : { kind: 'rewrite', content, context: told.join('\n') };
  }
  if (told.length > 0) return { kind: 'context', text: told.join('\n') };
  return shown.length > 0 ? { kind: 'notice', text: shown.join('\n') } : { kind: 'allow' };
}
