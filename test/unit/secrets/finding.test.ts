import { describe, expect, it } from 'vitest';
import {
  type SecretFinding,
  describeFindings,
  maskSecret,
  decideSecrets,
  formatAllowed,
  parseAllowed,
} from '../../../src/domain/secrets.ts';
import { isPlaceholder } from '../../../src/domain/secrets/placeholder.ts';
import { SECRETS } from '../../support/secrets.ts';

const found = (rule: string, line = 1): SecretFinding => ({ rule, line, mask: 'ghp_… (40 characters)' });

describe('the mask', () => {
  it.each([
    ['abcdefghi', 'abcd… (9 characters)'],
    ['abcdefgh', '… (8 characters)'],
    ['', '… (0 characters)'],
    ['\u001b[31mabcdef', String.raw`\u{1b}[31… (11 characters)`],
    ['🔑🔑🔑🔑🔑🔑🔑🔑🔑', '🔑🔑🔑🔑… (9 characters)'],
  ])('of %j', (secret, mask) => {
    expect(maskSecret(secret)).toBe(mask);
  });
});

describe('the message', () => {
  it('shows line, rule and mask of a few, and counts the rest', () => {
    const seven = Array.from({ length: 7 }, (_, at) => found('github/GITHUB_TOKEN', at + 1));
    expect(describeFindings(seven.slice(0, 1))).toBe('line 1: github/GITHUB_TOKEN, ghp_… (40 characters)');
    expect(describeFindings(seven)).toMatch(/^(?:line \d: [^;]+; ){5}and 2 more$/);
  });
});

describe('the decision', () => {
  const two = [found('b/B'), found('a/A'), found('b/B', 7)];
  it.each([
    ['nothing found', [], [], 'deny', { kind: 'clean' }],
    ['nothing found and all allowed', [], 'all', 'deny', { kind: 'clean' }],
    ['deny', two, [], 'deny', { kind: 'refuse', findings: two }],
    ['warn', two, [], 'warn', { kind: 'warn', findings: two }],
    ['off', two, [], 'off', { kind: 'clean' }],
    ['off, nothing to record', two, 'all', 'off', { kind: 'clean' }],
    ['all allowed', two, 'all', 'deny', { kind: 'allowed', rules: ['a/A', 'b/B'] }],
    ['each allowed', two, ['b/B', 'a/A', 'c/C'], 'deny', { kind: 'allowed', rules: ['a/A', 'b/B'] }],
    ['one of two allowed', two, ['b/B'], 'deny', { kind: 'refuse', findings: [two[1]] }],
    ['another one allowed', two, ['c/C'], 'warn', { kind: 'warn', findings: two }],
  ] as const)('%s', (_name, findings, allowed, scan, verdict) => {
    expect(decideSecrets(findings, allowed, scan)).toEqual(verdict);
  });

  it.each([
    [['github/GITHUB_TOKEN'], 'github/GITHUB_TOKEN'],
    [['1password/OPS_TOKEN', 'aws/AWSAccessKeyID'], '1password/OPS_TOKEN, aws/AWSAccessKeyID'],
  ])('is recorded and read again: %j', (rules, value) => {
    expect(formatAllowed(rules)).toBe(value);
    expect(parseAllowed(value)).toEqual(rules);
  });

  it.each([undefined, '', '*', 'all', 'github', 'a/b/c', 'github/*', ' , ,', 'a/b c', '../x/y'])(
    'a trailer with %j allows nothing',
    (value) => {
      expect(parseAllowed(value)).toEqual([]);
    },
  );
});

describe('a placeholder for a secret', () => {
  it.each([
    `ghp_${'x'.repeat(36)}`,
    `github_pat_${'X'.repeat(82)}`,
    'xoxb-your-bot-token',
    'xoxb-000000000000-000000000000-xxxxxxxxxxxx',
    'AKIAIOSFODNN7EXAMPLE',
    `AKIA${'X'.repeat(16)}`,
    'https://user:pass1234@example.com',
    'https://user:pass1234@git.example.org:8443/app',
    'https://ada:TOKEN@github.com/acme/app',
    'https://ada:token@github.com/acme/app',
    'postgres://postgres:postgres@db:5432/app',
    'postgres://app:q1w2e3r4@localhost:5432/app',
    'postgres://app:q1w2e3r4@127.0.0.1/app',
    'mongodb://app:<password>@cluster0.mongodb.net/',
    'mysql://app:[pw]@db.acme.io/app',
  ])('%s', (text) => {
    expect(isPlaceholder(text)).toBe(true);
  });

  it.each([
    ...Object.entries(SECRETS)
      .filter(([rule]) => rule !== 'aws/AWSSecretAccessKey')
      .map(([, secret]) => secret),
    `ghp_1234567890abcdefghijklmnopqrstuvwxyz`,
    'https://ada:q1w2e3r4@myexample.com/',
    'https://ada:q1w2e3r4@example.com.acme.io/',
    'https://ada:q1w2e3r4@git.acme.io/example.com',
    'https://ada:q1w2e3r4@git.acme.io?x=@localhost',
    'postgres://',
    '',
  ])('but not the one with number %#', (text) => {
    expect(isPlaceholder(text)).toBe(text === '');
  });
});
