import { describe, expect, it } from 'vitest';
import { ago } from '../../src/domain/messages.ts';
import { parseAge, parseSettings, unknownValueText } from '../../src/domain/settings.ts';

const DEFAULT_SETTINGS = parseSettings([]);

const setting = (key: string, ...values: (string | undefined)[]) =>
  parseSettings(values.map((value) => [key, value] as const));

describe('ages', () => {
  it.each([
    ['30m', 30 * 60e3],
    ['12h', 12 * 3600e3],
    ['30d', 30 * 86400e3],
    ['2w', 14 * 86400e3],
    [' 1h ', 3600e3],
    ['0m', 0],
    ['30', undefined],
    ['m', undefined],
    ['-1h', undefined],
    ['1.5h', undefined],
    ['1y', undefined],
    ['1h30m', undefined],
    ['9999999d', undefined],
    ['', undefined],
  ])('%j is %s ms', (text, milliseconds) => expect(parseAge(text)).toBe(milliseconds));

  it.each([
    [0, 'just now'],
    [59, 'just now'],
    [-500, 'just now'],
    [60, '1 minute ago'],
    [3599, '59 minutes ago'],
    [3600, '1 hour ago'],
    [86_400, '1 day ago'],
    [6 * 86_400, '6 days ago'],
    [7 * 86_400, '1 week ago'],
    [30 * 7 * 86_400, '30 weeks ago'],
  ])('%i seconds are %s', (seconds, text) => expect(ago(0, seconds * 1000)).toBe(text));
});

describe('invalid values of a setting', () => {
  it.each([
    ['handoff.verifyoperators', 'strict', 'true, false'],
    ['handoff.contention', 'ask', 'deny, warn, off'],
    ['handoff.staleafter', 'soon', 'an age such as 30m, 12h or 14d'],
    ['handoff.rescue.maxcount', 'many', 'a number such as 50, 512k or 200m'],
    ['handoff.trailer', 'long', 'id, short, off'],
  ])('%s = %s is the default, and is told', (key, value, known) => {
    const settings = setting(key, value);
    expect(settings).toEqual({ ...DEFAULT_SETTINGS, unknown: [{ key, value, known }] });
    expect(settings.unknown.map(unknownValueText)).toEqual([
      `${key} is set to "${value}", which is not a valid value; the default applies. Valid: ${known}`,
    ]);
  });

  it('are not reported if a later value is valid', () => {
    expect(setting('handoff.contention', 'ask', 'warn').unknown).toEqual([]);
  });

  it.each(['off', 'Off', 'OFF', 'false', 'No', '0', ''])('handoff.trailer = %j is off', (value) => {
    expect(setting('handoff.trailer', value).trailer).toBe('off');
  });
});

describe('settings', () => {
  it('are the documented defaults when git knows none', () => {
    expect(DEFAULT_SETTINGS).toMatchObject({ enabled: undefined, marker: 'rewrite', trailer: 'id' });
    expect(DEFAULT_SETTINGS.staleAfterMs).toBe(30 * 60e3);
  });

  it.each([
    ['true', true],
    ['YES', true],
    ['on', true],
    ['1', true],
    [undefined, true],
    ['false', false],
    ['no', false],
    ['OFF', false],
    ['0', false],
    ['', false],
    ['perhaps', undefined],
  ])('handoff.enabled = %j is %s', (value, enabled) => {
    expect(setting('handoff.enabled', value).enabled).toBe(enabled);
  });

  it('use the last value, as git does, and keys in upper or lower case', () => {
    expect(setting('handoff.marker', 'rewrite', 'handshake').marker).toBe('handshake');
    expect(setting('handoff.Enabled', 'true', 'false').enabled).toBe(false);
    expect(setting('handoff.trailer', 'Short').trailer).toBe('short');
  });

  it('fall back to the default for an invalid value', () => {
    expect(setting('handoff.marker', 'sometimes').marker).toBe('rewrite');
    expect(setting('handoff.trailer', undefined).trailer).toBe('id');
    expect(setting('handoff.staleAfter', 'soon').staleAfterMs).toBe(DEFAULT_SETTINGS.staleAfterMs);
  });

  it.each([
    ['handoff.contention', 'contention', 'WARN', 'warn', 'deny'],
    ['handoff.headCheck', 'headCheck', 'strict', 'strict', 'amend'],
    ['handoff.pushForeign', 'pushForeign', 'deny', 'deny', 'warn'],
    ['handoff.pushLease', 'pushLease', 'off', false, true],
    ['handoff.secretScan', 'secretScan', 'Warn', 'warn', 'deny'],
  ] as const)('read %s', (key, name, given, value, fallback) => {
    expect(setting(key.toLowerCase(), given)[name]).toBe(value);
    expect(setting(key.toLowerCase(), 'nonsense')[name]).toBe(fallback);
    expect(DEFAULT_SETTINGS[name]).toBe(fallback);
  });

  it('keep the operator as typed, and verify operators only if told to', () => {
    expect(setting('handoff.operator', 'ada').operator).toBe('ada');
    expect(setting('handoff.operator', 'ada', '').operator).toBeUndefined();
    expect(setting('handoff.operator', undefined).operator).toBeUndefined();
    expect(setting('handoff.verifyoperators', undefined).verifyOperators).toBe(true);
    expect(setting('handoff.verifyoperators', 'sometimes').verifyOperators).toBe(false);
  });

  it('keep every guardPath', () => {
    expect(setting('handoff.guardpath', '/a/*', '', undefined, '~/b').guardPath).toEqual(['/a/*', '~/b']);
  });
});
