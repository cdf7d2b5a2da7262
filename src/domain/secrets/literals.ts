/**
 * What a text must hold for a rule of the scanner to match in it: all parts of one of these groups. A text without them
 * is clean, and the scanner is not even loaded: that is nearly every note. test/unit/secrets/literals.test.ts holds the
 * table against the expressions of the scanner.
 */
interface Needed {
  /** Groups that must occur in exactly this case. */
  readonly exact?: readonly (readonly string[])[];
  /** Groups that may occur in any case, spelled here in lower case. */
  readonly anyCase?: readonly (readonly string[])[];
}

const any = (...words: readonly string[]) => words.map((word) => [word]);

/** What each rule needs, by the scanner's name of the rule. */
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
