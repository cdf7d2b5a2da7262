import { escapeLine } from '../surfacing.ts';

/** What looks like a secret in a text. The secret itself is not part of it: nothing that is printed or kept may hold it. */
export interface SecretFinding {
  /** As the scanner calls it: `<rule>/<message>`. */
  readonly rule: string;
  /** From 1. */
  readonly line: number;
  /** All that is ever shown of it. */
  readonly mask: string;
}

/** So much of a secret says which kind it is, and no more: `ghp_`, `AKIA`, `sk-a`, the scheme of an address. */
const SHOWN = 4;

/** What may be shown of a secret: its first four characters, and how many there are. */
export function maskSecret(secret: string): string {
  const characters = Array.from(secret);
  const shown = characters.length > 2 * SHOWN ? characters.slice(0, SHOWN).join('') : '';
  return `${escapeLine(shown)}… (${characters.length} characters)`;
}

/** So many are told one by one; all are counted. */
const TOLD = 5;

/** The findings as one line of a message. */
export function describeFindings(findings: readonly SecretFinding[]): string {
  const told = findings.slice(0, TOLD).map(({ rule, line, mask }) => `line ${line}: ${rule}, ${mask}`);
  const rest = findings.length - told.length;
  return `${told.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}
