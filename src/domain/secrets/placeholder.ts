/** Hosts that belong to nobody (RFC 2606, RFC 6761) or are this machine: a password for them is no secret. */
const RESERVED = ['example', 'test', 'invalid', 'localhost', 'example.com', 'example.net', 'example.org'];
const OWN_MACHINE = ['127.0.0.1', '[::1]', '0.0.0.0', 'host.docker.internal'];

/** Words that manuals write in place of a password. */
const WORDS = ['pass', 'passwd', 'pwd', 'secret', 'token'];

/** If a secret has fewer different characters than this after its prefix, a person made it up. */
const MIN_DIFFERENT = 5;

/**
 * Whether what the scanner took for a secret only stands for one: `ghp_xxxx…`, `AKIA…EXAMPLE`, `xoxb-your-token`, the
 * `user:<password>@` of a manual, the `postgres:postgres@localhost` of a developer's machine. Of ten million random texts of
 * twenty characters, fewer than one has only letters of one case.
 */
export function isPlaceholder(secret: string): boolean {
  if (secret.includes('://')) return isSampleAddress(secret);
  if (secret.endsWith('EXAMPLE') || secret.endsWith('EXAMPLEKEY')) return true;
  const body = secret.slice(secret.search(/[-_.]/) + 1).replace(/[-_.]/g, '');
  return new Set(body).size < MIN_DIFFERENT || /^(?:[a-z]+|[A-Z]+)$/.test(body);
}

/** Whether an address with a name and a password before its host is only a sample. */
function isSampleAddress(address: string): boolean {
  const [authority = ''] = address.slice(address.indexOf('://') + 3).split(/[/?#\s]/, 1);
  const at = authority.lastIndexOf('@');
  if (at < 0) return false;
  const colon = authority.indexOf(':');
  const [name, password] = [authority.slice(0, Math.min(colon, at)), authority.slice(colon + 1, at)];
  return name === password || isSampleWord(password) || isSampleHost(authority.slice(at + 1));
}

function isSampleWord(password: string): boolean {
  const opened = password.charAt(0) + password.charAt(password.length - 1);
  if (['<>', '[]', '**', '……'].includes(opened) || WORDS.includes(password.toLowerCase())) return true;
  return /^[A-Z_]+$/.test(password);
}

function isSampleHost(hostAndPort: string): boolean {
  const host = hostAndPort.replace(/:\d+$/, '').toLowerCase();
  if (OWN_MACHINE.includes(host)) return true;
  return RESERVED.some((name) => host === name || host.endsWith(`.${name}`));
}
