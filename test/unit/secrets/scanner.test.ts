import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findSecrets } from '../../../src/notes/secrets/check-note.ts';
import { SECRETS, TOKEN, TOKEN_RULE } from '../../support/secrets.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const ORDINARY = join(ROOT, 'fixtures', 'secrets', 'ordinary');
/** A secret of several lines, and one that two rules find. */
const LONGER = ['privatekey/PrivateKey', 'npm/PackageJSON_xOauthToken'];
const rulesIn = async (text: string) => (await findSecrets(Buffer.from(text))).map(({ rule }) => rule);

describe('a secret is found in a note', () => {
  it.each(Object.entries(SECRETS))('%s', async (rule, secret) => {
    const found = await findSecrets(Buffer.from(`# Goal\n\nUse ${secret} for it.\n`));
    expect(found).toContainEqual({ rule, line: 3, mask: expect.any(String) as string });
    // Two rules find this secret: an address with a token is also one with a name and a password.
    if (rule !== 'npm/PackageJSON_xOauthToken') expect(found).toHaveLength(1);
    const pieces = Array.from({ length: secret.length - 4 }, (_, at) => secret.slice(at, at + 5));
    expect(pieces.filter((piece) => found.some(({ mask }) => mask.includes(piece)))).toEqual([]);
  });

  it('if there are several: each, in order, with its line', async () => {
    const all = Object.entries(SECRETS).filter(([rule]) => !LONGER.includes(rule));
    const found = await findSecrets(Buffer.from(all.map(([, secret]) => secret).join('\n')));
    expect(found.map(({ rule, line }) => [rule, line])).toEqual(all.map(([rule], at) => [rule, at + 1]));
  });

  it('at the beginning or end, in quotes, or without a line feed', async () => {
    for (const text of [
      TOKEN,
      `'${TOKEN}'`,
      `x=${TOKEN}\r\n`,
      `\uFEFF${TOKEN}`,
      `${'a\n'.repeat(9)}${TOKEN}`,
    ])
      expect(await rulesIn(text)).toEqual([TOKEN_RULE]);
  });

  it('even if a comment tells the scanner to ignore it', async () => {
    expect(await rulesIn(`<!-- secretlint-disable -->\n${TOKEN}\n`)).toEqual([TOKEN_RULE]);
  });

  it('in UTF-16, or between bytes that are no text', async () => {
    const wide = await findSecrets(Buffer.from(`\uFEFF# Goal\n${TOKEN}\n`, 'utf16le'));
    expect(wide).toMatchObject([{ rule: TOKEN_RULE, line: 2 }]);
    const bytes = Buffer.concat([Buffer.from([0xff, 0xfe, 0x20]), Buffer.from(TOKEN), Buffer.from([0xff])]);
    expect(await findSecrets(bytes)).toMatchObject([{ rule: TOKEN_RULE }]);
  });

  it('if one rule matches after very many matches of another', async () => {
    const many = `${TOKEN}\n`.repeat(500) + SECRETS['slack/SLACK_TOKEN']!;
    expect(new Set(await rulesIn(many))).toEqual(new Set([TOKEN_RULE, 'slack/SLACK_TOKEN']));
  });
});

describe('ordinary notes', () => {
  it.each(readdirSync(ORDINARY))('%s contains no secret', async (file) => {
    expect(await findSecrets(readFileSync(join(ORDINARY, file)))).toEqual([]);
  });

  it("contain none, nor do the package's own pages and the notes of other fixtures", async () => {
    const pages = ['docs', 'fixtures', 'skills', '.'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' })
        .filter((name) => name.endsWith('.md'))
        .map((name) => join(ROOT, folder, name)),
    );
    expect(pages.length).toBeGreaterThan(20);
    const found = await Promise.all(pages.map(async (page) => [page, await findSecrets(readFileSync(page))]));
    const names = found.filter(([, findings]) => findings!.length > 0).map(([page]) => page);
    expect(names).toEqual([]);
  });
});
