import { Failure, shellWord } from '../../domain/messages.ts';
import {
  type SecretFinding,
  describeFindings,
  decideSecrets,
  formatAllowed,
  possibleRules,
} from '../../domain/secrets.ts';
import { readSettings } from '../../git/config.ts';
import { keepInFile } from '../../host/folders.ts';
import type { Address } from '../../domain/note/sections.ts';
import { type WriteIntent, keptText } from '../refusal.ts';
import { typedTopic } from '../topic-argument.ts';

/** Options from the command line. A refusal's hint repeats them, except `allowSecret`, which allows the secret. */
interface SecretOptions {
  readonly allowSecret: boolean;
  readonly address: Address;
  readonly take: boolean;
  readonly expect: string | undefined;
  readonly session: string | undefined;
}

/**
 * Looks for secrets in a note before any object is made of it. `note` is the text that would be committed,
 * `text.note` the text that was given. Returns the scanner rules whose findings somebody allowed, for the commit's trailer.
 *
 * @throws Failure `secret`; the given text is then kept in a file of the user's own, never in the repository.
 */
export async function checkSecrets(
  text: WriteIntent & { readonly note: Uint8Array },
  note: Uint8Array,
  options: SecretOptions,
): Promise<{ readonly allowed: string | undefined; readonly notices: readonly string[] }> {
  const findings = await findSecrets(note);
  if (findings.length === 0) return { allowed: undefined, notices: [] };
  // Reading the settings costs a process.
  const { secretScan } = await readSettings(text.repository.cwd);
  const verdict = decideSecrets(findings, options.allowSecret ? 'all' : [], secretScan);
  const name = typedTopic(text.target.branch, text.target.topic);
  switch (verdict.kind) {
    case 'clean':
      return { allowed: undefined, notices: [] };
    case 'allowed':
      return { allowed: formatAllowed(verdict.rules), notices: [] };
    case 'warn':
      return { allowed: undefined, notices: [`${name}: ${looksLike(verdict.findings)}`] };
    case 'refuse':
      throw await refused(text, name, verdict.findings, options);
  }
}

/** How messages describe findings. */
export function looksLike(findings: readonly SecretFinding[]): string {
  return `it looks like it contains a secret (${describeFindings(findings)})`;
}

async function refused(
  { note }: { readonly note: Uint8Array },
  name: string,
  findings: readonly SecretFinding[],
  options: SecretOptions,
): Promise<Failure> {
  const file = keepInFile(note);
  const message = `${name} was not written: ${looksLike(findings)}; ${keptText(file)}`;
  if (file === undefined)
    return new Failure('secret', message, {
      hint: `git handoff write ${name} -m '<text>'`,
      locatesText: true,
    });
  const again = `git handoff write ${name} --file ${shellWord(file)}${await asBefore(options)}`;
  const hint = `remove it from that file, then: ${again}; or, if it is not a secret: ${again} --allow-secret`;
  return new Failure('secret', `${message}, which only you can read`, { hint, locatesText: true });
}

/** The options of the refused command, to print; without `--to`, `--tag` and `--reference` if one looks like a secret. */
async function asBefore({ address, take, expect, session }: SecretOptions): Promise<string> {
  const { to, tags, references } = address;
  const option = (name: string, values: readonly (string | undefined)[]) =>
    values.map((value) => (value === undefined ? '' : ` --${name} ${shellWord(value)}`)).join('');
  const addressed = option('to', [to]) + option('tag', tags) + option('reference', references);
  const isSafe = (await findSecrets(Buffer.from(addressed))).length === 0;
  const rest = option('expect', [expect]) + option('session', [session]);
  return `${take ? ' --take' : ''}${rest}${isSafe ? addressed : ''}`;
}

/**
 * Finds what looks like a secret in a note, by the rules of secretlint. A note with none of the rules' keywords costs
 * microseconds; a mebibyte of hostile text costs a tenth of a second.
 */
export async function findSecrets(note: Uint8Array): Promise<readonly SecretFinding[]> {
  const text = textOf(note);
  const rules = possibleRules(text);
  if (rules.length === 0) return [];
  const { scanText } = await import('./scanner.ts');
  return scanText(text, rules);
}

/** The text of a note: bytes that are not UTF-8 are replaced, and NULs removed, so that UTF-16 is readable. */
function textOf(note: Uint8Array): string {
  const text = Buffer.from(note.buffer, note.byteOffset, note.byteLength).toString('utf8');
  return text.includes('\0') ? text.replaceAll('\0', '') : text;
}
