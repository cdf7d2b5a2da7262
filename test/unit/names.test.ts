import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Topic,
  isPerson,
  meantId,
  parseBranchName,
  parseClientSessionId,
  parseOid,
  parseSessionId,
  parseTopic,
  shortId,
  topicsOverlap,
} from '../../src/domain/names.ts';
import { CORPUS_OWNER, hostileNames } from '../support/hostile-names.ts';

describe('topics', () => {
  it.each(hostileNames('topic'))('$id $expect: $why', ({ value, expect: outcome }) => {
    expect(parseTopic(value)).toBe(outcome === 'accept' ? value : undefined);
  });

  it.each([
    'fix',
    'fix-test',
    'main-master',
    'a-for-the',
    'auth',
    'Auth-Refresh',
    'a--b',
    'a-b-',
    '-a-b',
    'a_b-c',
  ])('refuses %j', (text) => {
    expect(parseTopic(text)).toBeUndefined();
  });

  it('takes 100 bytes and no more', () => {
    expect(parseTopic(`a-${'b'.repeat(98)}`)).toBeDefined();
    expect(parseTopic(`a-${'b'.repeat(99)}`)).toBeUndefined();
  });

  it('takes exactly words of letters and digits joined by "-", of which one carries meaning', () => {
    const texts = fc.array(
      fc.constantFrom('a', 'z9', 'fix', 'the', '-', '--', 'A', '_', '/', '.', '\n', ' '),
      {
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(texts, (parts) => {
        const text = parts.join('');
        const words = text.split('-');
        const taken =
          words.length >= 2 &&
          words.every((word) => word !== '' && Array.from(word).every((one) => /[a-z0-9]/.test(one))) &&
          words.some((word) => word !== 'fix' && word !== 'the' && word !== 'a');
        expect(parseTopic(text)).toBe(taken ? text : undefined);
      }),
    );
  });

  it('sees two topics with the same first two meaningful words as one piece of work', () => {
    const overlap = (a: string, b: string) => topicsOverlap(a as Topic, b as Topic);
    expect(overlap('auth-refresh', 'auth-refresh-retry')).toBe(true);
    expect(overlap('fix-auth-refresh', 'auth-refresh')).toBe(true);
    expect(overlap('auth-refresh', 'auth-refresh')).toBe(false);
    expect(overlap('auth-refresh', 'auth-tokens')).toBe(false);
    expect(overlap('fix-auth', 'test-auth')).toBe(false);
  });
});

describe('branches', () => {
  it.each(hostileNames('branch'))('$id $expect: $why', ({ value, expect: outcome }) => {
    expect(parseBranchName(value)).toBe(outcome === 'reject' ? undefined : value);
  });

  it.each([
    '',
    '@',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    'a..b',
    'a@{1}',
    '/a',
    'a/',
    'a//b',
  ])('refuses %j as git does', (text) => {
    expect(parseBranchName(text)).toBeUndefined();
  });

  it.each(['.a', 'a/.b', 'a.lock', 'a.lock/b', 'a.', 'a\u007f', 'a\tb', '-d'])('refuses %j', (text) => {
    expect(parseBranchName(text)).toBeUndefined();
  });

  it.each(['feature/x', 'a./b', "it's", '$(id)', 'ünïcode', 'a%2Fb', 'HEAD'])('takes %j', (text) => {
    expect(parseBranchName(text)).toBe(text);
  });
});

describe('session ids', () => {
  it.each(hostileNames('session_id'))('$id $expect: $why', ({ value, expect: outcome }) => {
    expect(parseSessionId(value)).toBe(outcome === 'reject' ? undefined : value);
    expect(value).not.toBe(CORPUS_OWNER);
  });

  it.each([
    'current',
    'NULL',
    'Unknown',
    'none',
    'undefined',
    'a..b',
    'a.lock',
    '-a',
    '.a',
    'a/b',
    'a'.repeat(129),
  ])('refuses %j', (text) => {
    expect(parseSessionId(text)).toBeUndefined();
  });

  it('refuses what is no text', () => {
    for (const value of [undefined, null, 7, {}, ['a']]) expect(parseSessionId(value)).toBeUndefined();
  });

  it('never lets a client claim to be a person', () => {
    expect(parseClientSessionId('person-0123456789ab')).toBeUndefined();
    expect(parseClientSessionId('00893aaf-19fa-41d2')).toBe('00893aaf-19fa-41d2');
  });

  it('shows eight characters of a session and the hash of a person', () => {
    expect(shortId('00893aaf-19fa-41d2')).toBe('00893aaf');
    expect(shortId('person-0123456789ab')).toBe('person-01234567');
    expect(isPerson(parseSessionId('person-0123456789ab')!)).toBe(true);
    expect(isPerson(parseSessionId('person-0123456789AB')!)).toBe(false);
  });

  const [X, Y] = ['01a20256-e09f-7542-a66b-d84706f9779c', '01a20256-e1aa-7001-9c00-000011112222'];

  it('shows the last eight of an id that begins with the time, so that two of one minute differ', () => {
    expect([X, Y].map(shortId)).toEqual(['06f9779c', '11112222']);
    expect(shortId('01a20256-e09f-4542-a66b-d84706f9779c')).toBe('01a20256');
  });

  it.each<[string, string, string[], string | undefined]>([
    ['a whole id', X, [X, Y], X],
    ['a short form', '06f9779c', [X, Y], X],
    ['the first eight, as 0.1.0 wrote them, of one', '01a20256', [X], X],
    ['the first eight of two', '01a20256', [X, Y], undefined],
    ['the same id twice', '01a20256', [X, X], X],
    ['a short form of two', 'aaaaaaaa', ['aaaaaaaa-1', 'aaaaaaaa-2'], undefined],
    ['an id that is a short form of another', 'aaaaaaaa', ['aaaaaaaa-1', 'aaaaaaaa'], 'aaaaaaaa'],
    ['a beginning of another length', '01a20256-e09f', [X], undefined],
    ['nobody', 'cccccccc', [X, Y], undefined],
  ])('%s means one session or none', (_, text, ids, expected) => {
    expect(meantId(text, ids)).toBe(expected);
  });
});

describe('object names', () => {
  it('takes 40 or 64 hex digits in lower case only', () => {
    for (const width of [40, 64]) expect(parseOid('a'.repeat(width))).toBeDefined();
    for (const text of ['', 'a'.repeat(39), 'a'.repeat(41), 'A'.repeat(40), `${'a'.repeat(40)}\n`]) {
      expect(parseOid(text)).toBeUndefined();
    }
  });
});
