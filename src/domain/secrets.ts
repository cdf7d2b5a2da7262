import { escapeLine } from './messages.ts';

/** The values of `handoff.secretScan`. */
export type SecretScan = 'deny' | 'warn' | 'off';

/** What to do with a note that is being written or is about to leave this machine. */
type SecretVerdict =
  | { readonly kind: 'clean' }
  /** Somebody said that the findings are no secrets: the commit records the `rules` that found them. */
  | { readonly kind: 'allowed'; readonly rules: readonly string[] }
  | { readonly kind: 'warn'; readonly findings: readonly SecretFinding[] }
  | { readonly kind: 'refuse'; readonly findings: readonly SecretFinding[] };

/** Judges a note's findings. `allowed`: the rules that somebody let pass in this text: all, or those that its commits list. */
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

/** Reads the value of that trailer, and ignores everything that is not a rule's name. */
export function parseAllowed(value: string | undefined): string[] {
  return (value ?? '').split(',').flatMap((word) => /^[\w-]+\/[\w-]+$/.exec(word.trim())?.[0] ?? []);
}

/** What looks like a secret in a text. A finding does not contain the secret: nothing that is printed or kept may do so. */
export interface SecretFinding {
  /** As the scanner calls it: `<rule>/<message>`. */
  readonly rule: string;
  /** The line of the text, from 1. */
  readonly line: number;
  /** All that is ever shown of the secret. */
  readonly mask: string;
}

/** How many characters of a secret are shown; enough to tell its kind: `ghp_`, `AKIA`, `sk-a`, the scheme of an address. */
const SHOWN = 4;

/** Returns what may be shown of a secret: its length, and its first four characters if it has more than eight. */
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

/**
 * What a text must contain if a rule of the scanner is to match: all parts of one of these groups. A text that has none of
 * the groups is clean, like nearly every note, and the scanner is not even loaded for it.
 * test/unit/secrets/literals.test.ts compares the table with the scanner's expressions.
 */
interface Needed {
  /** Groups for which upper and lower case matter. */
  readonly exact?: readonly (readonly string[])[];
  /** Groups that may occur in any case, spelled here in lower case. */
  readonly anyCase?: readonly (readonly string[])[];
}

const any = (...words: readonly string[]) => words.map((word) => [word]);

/** What each rule needs, by the name that the scanner gives the rule. */
export const NEEDED: Readonly<Record<string, Needed>> = {
  aws: {
    exact: any('A3T', 'AKIA', 'AGPA', 'AIDA', 'AROA', 'AIPA', 'ANPA', 'ANVA', 'ASIA'),
    anyCase: [['secret', 'access', 'key']],
  },
  privatekey: { exact: any('PRIVATE KEY') },
  npm: { exact: any('npm_', ':x-oauth-basic@github') },
  basicauth: { exact: [['://', '@']] },
  slack: {
    exact: any('xoxb-', 'xoxp-', 'xapp-', 'xoxa-', 'xoxo-', 'xoxr-'),
    anyCase: any('https://hooks.slack.com/services/t'),
  },
  sendgrid: { exact: any('SG.') },
  shopify: { exact: any('shppa_', 'shpca_', 'shpat_', 'shpss_') },
  github: { exact: any('ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_') },
  gitlab: { exact: any('glpat-') },
  grafana: { exact: any('glc_', 'glsa_') },
  openai: { exact: [['sk-', 'T3BlbkFJ']] },
  anthropic: { exact: any('sk-ant-api0') },
  groq: { exact: any('gsk_') },
  huggingface: { exact: any('hf_') },
  linear: { exact: any('lin_api_') },
  notion: { exact: any('ntn_') },
  '1password': { exact: any('ops_ey') },
  'database-connection-string': {
    anyCase: [
      ['mongodb', '://', '@'],
      ['mysql', '://', '@'],
      ['postgres', '://', '@'],
    ],
  },
  'hashicorp-vault': { exact: any('hvs.', 'hvb.', 'hvr.') },
  vercel: { exact: any('vcp_', 'vci_', 'vca_', 'vcr_', 'vck_') },
  databricks: { exact: any('dapi') },
  docker: { exact: any('dckr_pat_') },
  figma: { exact: any('figd_') },
};

const TABLE = Object.entries(NEEDED);

/** Returns the rules that can match in a text at all. */
export function possibleRules(text: string): string[] {
  const lower = text.toLowerCase();
  const holds = (where: string, groups: readonly (readonly string[])[] = []) =>
    groups.some((parts) => parts.every((part) => where.includes(part)));
  return TABLE.flatMap(([rule, { exact, anyCase }]) =>
    holds(text, exact) || holds(lower, anyCase) ? [rule] : [],
  );
}
