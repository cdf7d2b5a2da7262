import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import { isPlaceholder } from '../../domain/secrets/placeholder.ts';
import { type SecretFinding, maskSecret } from '../../domain/secrets.ts';

/*
 * The one file that knows secretlint, loaded only for a text that may hold a secret (domain/secrets.ts). It runs the rules of
 * secretlint without @secretlint/core, which compares all findings with each other: a quarter of a mebibyte of findings takes
 * it seven seconds (docs/decisions/0033-secrets.md).
 */

type Rule = (typeof rules)[number];
type RuleContext = Parameters<Rule['create']>[0];
type SourceCode = Parameters<NonNullable<ReturnType<Rule['create']>['file']>>[0];

/** The most findings of one rule; each rule has its own limit, because one may be allowed and another not. */
const MAX_OF_A_RULE = 20;
/** An AWS account number is no secret, and twelve digits are often something else. */
const NOT_SECRET = ['AWSAccountID'];
/** The fields that a rule reports beside the secret. */
const NOT_THE_SECRET = ['typeName', 'FILE_NAME'];

/** The id of a rule without the prefix that all rules have. */
const shortName = (rule: Rule) => rule.meta.id.replace('@secretlint/secretlint-rule-', '');

/** What these rules find in a text, in the order of the text. */
export async function scanText(text: string, names: readonly string[]): Promise<SecretFinding[]> {
  const found: { rule: string; at: number; secret: string }[] = [];
  for (const rule of rules.filter((one) => names.includes(shortName(one)))) {
    const counts = new Map<string, number>();
    const report = (message: string, secret: string, at: number) => {
      if (NOT_SECRET.includes(message) || isPlaceholder(secret)) return;
      const count = (counts.get(message) ?? 0) + 1;
      counts.set(message, count);
      if (count <= MAX_OF_A_RULE) found.push({ rule: `${shortName(rule)}/${message}`, at, secret });
    };
    await rule.create(contextFor(report), { enableIDScanRule: true }).file?.(sourceOf(text));
  }
  found.sort((a, b) => a.at - b.at);
  return found.map(({ rule, at, secret }) => ({ rule, line: lineAt(text, at), mask: maskSecret(secret) }));
}

/** What a rule needs of its host: the rule names the message and the secret, then reports where the secret is. */
function contextFor(report: (message: string, secret: string, at: number) => void): RuleContext {
  let secret = '';
  const context = {
    sharedOptions: {},
    createTranslator:
      () =>
      (messageId: string, data: Readonly<Record<string, unknown>> = {}) => {
        const value = Object.entries(data).find(([name]) => !NOT_THE_SECRET.includes(name))?.[1];
        secret = typeof value === 'string' ? value : '';
        return { message: messageId, messageId };
      },
    report: (found: { message: { messageId: string }; range: readonly [number, number] }) =>
      report(found.message.messageId, secret, found.range[0]),
    ignore: () => undefined,
  };
  return context as unknown as RuleContext;
}

/** A source without a file name: no rule can read the file, and rules for certain files run only their general checks. */
function sourceOf(content: string): SourceCode {
  return { content, filePath: undefined, ext: '', contentType: 'text' } as unknown as SourceCode;
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', end + 1)) line++;
  return line;
}
