/**
 * Texts in the form of real secrets, none of which was ever issued. They are put together when a test runs. So no file
 * contains one, and no code host's scanner reports this repository.
 */
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';
const WORD = UPPER + LOWER + DIGITS;

/** A text of this length that looks random, but is the same at every run. */
function mixed(length: number, alphabet = WORD): string {
  let state = 20_260_102 + length;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return alphabet[(state >>> 16) % alphabet.length];
  }).join('');
}

const pem = (kind: string, begin: string) =>
  [
    `-----BEGIN ${kind}PRIVATE`,
    ` KEY-----\n${begin}${mixed(400)}\n-----END ${kind}PRIVATE`,
    ' KEY-----',
  ].join('');

/** Each secret, by the rule that must find it. */
export const SECRETS: Readonly<Record<string, string>> = {
  'aws/AWSAccessKeyID': `AKIA${mixed(16, UPPER + '234567')}`,
  'aws/AWSSecretAccessKey': `aws_secret_access_key = ${mixed(40)}`,
  'privatekey/PrivateKey': pem('RSA ', 'MII'),
  'npm/NPM_ACCESS_TOKEN': `npm_${mixed(36)}`,
  'npm/PackageJSON_xOauthToken': `https://${mixed(40)}:x-oauth-basic@github.com/acme/app.git`,
  'basicauth/BasicAuth': `https://ada:${mixed(12)}@git.acme.io/app.git`,
  'slack/SLACK_TOKEN': `xoxb-${mixed(12, DIGITS)}-${mixed(13, DIGITS)}-${mixed(24)}`,
  'slack/IncomingWebhook': `https://hooks.slack.com/services/T${mixed(9)}/B${mixed(10)}/${mixed(24)}`,
  'sendgrid/SENDGRID_KEY': `SG.${mixed(22)}.${mixed(43)}`,
  'shopify/SHOPIFY_KEY': `shpat_${mixed(32)}`,
  'github/GITHUB_TOKEN': `ghp_${mixed(36)}`,
  'gitlab/GITLAB_PERSONAL_ACCESS_TOKEN': `glpat-${mixed(20)}`,
  'grafana/GRAFANA_CLOUD_API_TOKEN': `glc_${mixed(60)}`,
  'grafana/GRAFANA_SERVICE_ACCOUNT_TOKEN': `glsa_${mixed(32)}_${mixed(8, 'abcdef0123')}`,
  'openai/OPENAI_TOKEN': `sk-proj-${mixed(74)}T3BlbkFJ${mixed(74)}`,
  'anthropic/ANTHROPIC_API_KEY': `sk-ant-api03-${mixed(93)}AA`,
  'groq/GROQ_API_KEY': `gsk_${mixed(52)}`,
  'huggingface/HUGGINGFACE_USER_ACCESS_TOKEN': `hf_${mixed(34, UPPER + LOWER)}`,
  'linear/LINEAR_API_TOKEN': `lin_api_${mixed(40)}`,
  'notion/NOTION_INTEGRATION_TOKEN': `ntn_${mixed(11, DIGITS)}${mixed(35)}`,
  '1password/OPS_TOKEN': `ops_${serviceAccount()}`,
  'database-connection-string/MongoDBConnection': `mongodb+srv://app:${mixed(14)}@cluster0.acme.io/app`,
  'database-connection-string/MySQLConnection': `mysql://app:${mixed(14)}@db.acme.io/app`,
  'database-connection-string/PostgreSQLConnection': `postgres://app:${mixed(14)}@db.acme.io/app`,
  'hashicorp-vault/HASHICORP_VAULT_SERVICE_TOKEN': `hvs.${mixed(95)}`,
  'hashicorp-vault/HASHICORP_VAULT_BATCH_TOKEN': `hvb.${mixed(150)}`,
  'hashicorp-vault/HASHICORP_VAULT_RECOVERY_TOKEN': `hvr.${mixed(95)}`,
  'vercel/VERCEL_PERSONAL_ACCESS_TOKEN': `vcp_${mixed(24)}`,
  'vercel/VERCEL_INTEGRATION_TOKEN': `vci_${mixed(24)}`,
  'vercel/VERCEL_APP_ACCESS_TOKEN': `vca_${mixed(24)}`,
  'vercel/VERCEL_APP_REFRESH_TOKEN': `vcr_${mixed(24)}`,
  'vercel/VERCEL_AI_GATEWAY_API_KEY': `vck_${mixed(24)}`,
  'databricks/DATABRICKS_PERSONAL_ACCESS_TOKEN': `dapi${mixed(32, 'abcdef0123456789')}`,
  'docker/DOCKER_PERSONAL_ACCESS_TOKEN': `dckr_pat_${mixed(27)}`,
  'figma/FIGMA_PERSONAL_ACCESS_TOKEN': `figd_${mixed(40)}`,
};

/** A text whose base64 begins with `ey` and ends with `fQ==`, as the rule requires. */
function serviceAccount(): string {
  for (let length = 120; ; length++) {
    const text = Buffer.from(JSON.stringify({ email: mixed(length) })).toString('base64');
    if (text.endsWith('fQ==')) return text;
  }
}

/** For tests that need just any secret. */
export const TOKEN = SECRETS['github/GITHUB_TOKEN']!;
export const TOKEN_RULE = 'github/GITHUB_TOKEN';
