import { describe, expect, it } from 'vitest';
import {
  BYPASS_TTL_MS,
  type BypassKey,
  type ConsumedBypass,
  covers,
  fits,
  formatBypass,
  isAbandoned,
  isTokenFresh,
  parseConsumed,
  parseToken,
} from '../../src/domain/bypass.ts';
import { parseSessionId } from '../../src/domain/names.ts';

const a = parseSessionId('aaaaaaaa-1111')!;
const b = parseSessionId('bbbbbbbb-2222')!;
const NOW = 1_800_000_000_000;
const call = (id: string, agent = '') => ({ kind: 'call', id, agent }) as const;
const git = (pid: number, start = '1'): BypassKey => ({ kind: 'git', pid, start });
const used = (key: BypassKey): ConsumedBypass => ({ v: 1, key, at: NOW, files: false });

describe('a token', () => {
  it('is valid for ten minutes, not longer, and not before its time', () => {
    const token = { v: 1, session: null, at: NOW } as const;
    expect(
      [0, BYPASS_TTL_MS - 1, BYPASS_TTL_MS, -5_000, -5_001].map((ms) => isTokenFresh(token, NOW + ms)),
    ).toEqual([true, true, false, true, false]);
  });

  it('is for the session that it names, or for anybody', () => {
    const fitting = [a, b, undefined].map((by) => [
      fits({ v: 1, session: a, at: NOW }, by),
      fits({ v: 1, session: null, at: NOW }, by),
    ]);
    expect(fitting).toEqual([
      [true, true],
      [false, true],
      [false, true],
    ]);
  });

  it('can be stored and read, and no other text counts as a token', () => {
    for (const session of [null, a]) {
      expect(parseToken(formatBypass({ v: 1, session, at: NOW }))).toEqual({ v: 1, session, at: NOW });
    }
    for (const text of ['', 'null', '[]', '{}', '{"v":1,"session":"../x","at":1}', '{"v":1,"at":1}'])
      expect(parseToken(text)).toBeUndefined();
  });
});

describe('a used token', () => {
  it('for a call counts for that call and for git inside it', () => {
    const consumed = used(call('one'));
    expect(covers(consumed, call('one'), NOW)).toBe(true);
    expect(covers(consumed, call('two'), NOW)).toBe(false);
    expect(covers(consumed, git(7), NOW)).toBe(true);
    expect(covers(consumed, git(7), NOW + 3600_000)).toBe(false);
  });

  it('for a git process counts for that process only', () => {
    const consumed = used(git(7));
    const others = [git(7), git(8), git(7, '2'), call('7')];
    expect(others.map((key) => covers(consumed, key, NOW))).toEqual([true, false, false, false]);
  });

  it('is void when its agent makes another call some seconds later', () => {
    const consumed = used(call('one', 'agent'));
    expect(isAbandoned(consumed, call('two', 'agent'), NOW + 5_001)).toBe(true);
    expect(isAbandoned(consumed, call('two', 'agent'), NOW + 5_000)).toBe(false);
    expect(isAbandoned(consumed, call('one', 'agent'), NOW + 60_000)).toBe(false);
    expect(isAbandoned(consumed, call('two'), NOW + 60_000)).toBe(false);
    expect(isAbandoned(used(git(7)), call('two'), NOW + 60_000)).toBe(false);
  });

  it('can be stored and read, and no other text counts as one', () => {
    for (const key of [call('one', 'x'), git(7)]) {
      const consumed = { ...used(key), files: true };
      expect(parseConsumed(formatBypass(consumed))).toEqual(consumed);
    }
    for (const text of [
      '',
      '{}',
      formatBypass({ v: 1, session: a, at: NOW }),
      '{"v":1,"at":1,"key":{"kind":"git"}}',
    ])
      expect(parseConsumed(text)).toBeUndefined();
  });
});
