import { escapeLine } from '../surfacing.ts';

/** What `handoff.secretScan` may say. */
export type SecretScan = 'deny' | 'warn' | 'off';

/** What to do with a note that is being written or is about to leave. */
export type SecretVerdict =
  | { readonly kind: 'clean' }
  /** Somebody said that these are no secrets: the commit records their rules. */
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

/** Reads that trailer; what is not a rule's name allows nothing. */
export function parseAllowed(value: string | undefined): string[] {
  return (value ?? '').split(',').flatMap((word) => /^[\w-]+\/[\w-]+$/.exec(word.trim())?.[0] ?? []);
}

/** What looks like a secret in a text. The secret itself is not part of it: nothing that is printed or kept may hold it. */
export interface SecretFinding {
  /** As the scanner calls it: `<rule>/<message>`. */
  readonly rule: string;
  /** The line of the text, from 1. */
  readonly line: number;
  /** All that is ever shown of the secret. */
  readonly mask: string;
}

/** How many characters of a secret show its kind, and no more: `ghp_`, `AKIA`, `sk-a`, the scheme of an address. */
const SHOWN = 4;

/** Returns what may be shown of a secret: its first four characters, and how many there are. */
export function maskSecret(secret: string): string {
  const characters = Array.from(secret);
  const shown = characters.length > 2 * SHOWN ? characters.slice(0, SHOWN).join('') : '';
  return `${escapeLine(shown)}… (${characters.length} characters)`;
}

/** How many findings a message describes; it counts the others. */
const MAX_DESCRIBED = 5;

/** Formats the findings as one line of a message. */
export function describeFindings(findings: readonly SecretFinding[]): string {
  const described = findings
    .slice(0, MAX_DESCRIBED)
    .map(({ rule, line, mask }) => `line ${line}: ${rule}, ${mask}`);
  const rest = findings.length - described.length;
  return `${described.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}
