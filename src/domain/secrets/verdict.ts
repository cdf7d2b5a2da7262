import type { SecretFinding } from './finding.ts';

/** What `handoff.secretScan` may say. */
export type SecretScan = 'deny' | 'warn' | 'off';

/** What is to be done with a note that is written or about to leave. */
export type SecretVerdict =
  | { readonly kind: 'clean' }
  /** Somebody said that these are none: the rules go on record. */
  | { readonly kind: 'allowed'; readonly rules: readonly string[] }
  | { readonly kind: 'warn'; readonly findings: readonly SecretFinding[] }
  | { readonly kind: 'refuse'; readonly findings: readonly SecretFinding[] };

/**
 * Decides about the findings in one note. `allowed` are rules that somebody let pass in this very text: all of them
 * (`'all'`), or those that its commits record.
 */
export function decideSecrets(
  findings: readonly SecretFinding[],
  allowed: 'all' | readonly string[],
  scan: SecretScan,
): SecretVerdict {
  if (scan === 'off') return { kind: 'clean' };
  const open = allowed === 'all' ? [] : findings.filter(({ rule }) => !allowed.includes(rule));
  if (open.length > 0) return { kind: scan === 'warn' ? 'warn' : 'refuse', findings: open };
  if (findings.length === 0) return { kind: 'clean' };
  return { kind: 'allowed', rules: [...new Set(findings.map(({ rule }) => rule))].sort() };
}

/** The value of the trailer `Handoff-Secret-Allowed`. */
export function formatAllowed(rules: readonly string[]): string {
  return rules.join(', ');
}

/** Reads that trailer; what is no rule's name allows nothing. */
export function parseAllowed(value: string | undefined): string[] {
  return (value ?? '').split(',').flatMap((word) => /^[\w-]+\/[\w-]+$/.exec(word.trim())?.[0] ?? []);
}
