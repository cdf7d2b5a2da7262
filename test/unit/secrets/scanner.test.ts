import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findSecrets } from '../../../src/commands/secrets/find-secrets.ts';
import { SECRETS, TOKEN, TOKEN_RULE } from '../../support/secrets.ts';

const ORDINARY = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'secrets', 'ordinary');
const rulesIn = async (text: string) => (await findSecrets(Buffer.from(text))).map(({ rule }) => rule);

describe('what is found in a note', () => {
  it.each(Object.entries(SECRETS))('%s', async (rule, secret) => {
    const found = await findSecrets(Buffer.from(`# Goal\n\nUse ${secret} for it.\n`));
    expect(found.map((one) => [one.rule, one.line])).toEqual([[rule, 3]]);
    const [{ mask }] = found as [{ mask: string }];
    expect(mask.length).toBeLessThan(30);
    expect(secret).not.toContain(mask.replace(/… .*/, 'none'));
  });

  it('of each of several, in their order, with their lines', async () => {
    const all = Object.entries(SECRETS).filter(([rule]) => rule !== 'privatekey/PrivateKey');
    const found = await findSecrets(Buffer.from(all.map(([, secret]) => secret).join('\n')));
    expect(found.map(({ rule, line }) => [rule, line])).toEqual(all.map(([rule], at) => [rule, at + 1]));
  });

  it('at the beginning, at the end, in quotes and without a line feed', async () => {
    for (const text of [TOKEN, `'${TOKEN}'`, `x=${TOKEN}\r\n`, `\uFEFF${TOKEN}`, `${'a\n'.repeat(9)}${TOKEN}`])
      expect(await rulesIn(text)).toEqual([TOKEN_RULE]);
  });

  it('although a comment wants the scanner to look away', async () => {
    expect(await rulesIn(`<!-- secretlint-disable -->\n${TOKEN}\n`)).toEqual([TOKEN_RULE]);
  });

  it('in UTF-16, and between bytes that are no text', async () => {
    const wide = await findSecrets(Buffer.from(`\uFEFF# Goal\n${TOKEN}\n`, 'utf16le'));
    expect(wide).toMatchObject([{ rule: TOKEN_RULE, line: 2 }]);
    const bytes = Buffer.concat([Buffer.from([0xff, 0xfe, 0x20]), Buffer.from(TOKEN), Buffer.from([0xff])]);
    expect(await findSecrets(bytes)).toMatchObject([{ rule: TOKEN_RULE }]);
  });

  it('of one rule behind very many of another', async () => {
    const many = `${TOKEN}\n`.repeat(500) + SECRETS['slack/SLACK_TOKEN'];
    expect(new Set(await rulesIn(many))).toEqual(new Set([TOKEN_RULE, 'slack/SLACK_TOKEN']));
  });
});

describe('ordinary notes', () => {
  it.each(readdirSync(ORDINARY))('%s holds no secret', async (file) => {
    expect(await findSecrets(readFileSync(join(ORDINARY, file)))).toEqual([]);
  });
});
