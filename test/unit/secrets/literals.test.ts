import { createHash } from 'node:crypto';
import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import { describe, expect, it, vi } from 'vitest';
import { NEEDED, possibleRules } from '../../../src/domain/secrets.ts';
import { SECRETS } from '../../support/secrets.ts';

const nameOf = (rule: (typeof rules)[number]) => rule.meta.id.replace('@secretlint/secretlint-rule-', '');
/** Rules that we do not use: one reads files that are no notes, the other lets a text switch rules off. */
const UNUSED = ['gcp', 'filter-comments'];

/** The expressions of the scanner's rules, as they are at run time. */
async function expressions(): Promise<[rule: string, source: string, flags: string][]> {
  const found: [string, string, string][] = [];
  for (const rule of rules.filter((one) => !UNUSED.includes(nameOf(one)))) {
    const look = vi.spyOn(String.prototype, 'matchAll').mockImplementation((pattern) => {
      const { source, flags } = pattern;
      found.push([nameOf(rule), source, flags]);
      return [][Symbol.iterator]();
    });
    const context = { createTranslator: () => () => ({}), report: () => undefined, ignore: () => undefined };
    const source = { content: '', filePath: undefined, ext: '', contentType: 'text' };
    await rule.create(context as never, { enableIDScanRule: true }).file?.(source as never);
    look.mockRestore();
  }
  return found;
}

describe('the literals that a text must contain for a rule to match', () => {
  it('are listed for every used rule', () => {
    const used = rules.map(nameOf).filter((name) => !UNUSED.includes(name));
    expect(Object.keys(NEEDED).sort()).toEqual(used.sort());
  });

  it('were read from these very expressions: review the table if the scanner’s change', async () => {
    const all = await expressions();
    const digest = createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 16);
    expect([all.length, digest]).toEqual([33, '9f366e5061ea160e']);
  });

  it.each(Object.entries(NEEDED))('are found for %s, whichever of its words is there', (rule, needed) => {
    const { exact = [], anyCase = [] } = needed;
    for (const parts of exact) expect(possibleRules(parts.join(' ')), parts.join(' ')).toContain(rule);
    for (const parts of anyCase) {
      expect(possibleRules(parts.join(' '))).toContain(rule);
      expect(possibleRules(parts.join(' ').toUpperCase())).toContain(rule);
    }
  });

  it.each(Object.entries(SECRETS))('let the rule look at %s', (rule, secret) => {
    expect(possibleRules(`# Goal\n${secret}\n`)).toContain(rule.split('/')[0]);
  });

  it.each(Object.entries(SECRETS))('keep the rule from running if a part is missing: %s', (rule, secret) => {
    const name = rule.split('/')[0]!;
    const { exact = [], anyCase = [] } = NEEDED[name]!;
    const without = [...exact, ...anyCase].flat().reduce((text, part) => {
      return text.replace(new RegExp(part.replace(/[.?]/g, '\\$&'), 'gi'), '');
    }, secret);
    expect(possibleRules(without)).not.toContain(name);
  });

  it('are absent from an ordinary text', () => {
    expect(possibleRules('# Goal\n\nThe retry test is red; see src/auth.ts:42 and #12.\n')).toEqual([]);
  });
});
