import { describe, expect, it } from 'vitest';
import { mixedSessions, otherOwners } from '../../src/domain/commit-message.ts';
import type { SessionId } from '../../src/domain/names.ts';

const id = (text: string) => text as SessionId;
const message = (...ids: string[]) => `x\n\n${ids.map((one) => `Claude-Session-Id: ${one}\n`).join('')}`;
const [a, b, c] = ['aaaaaaaa-1', 'bbbbbbbb-2', 'cccccccc-3'].map(id) as [SessionId, SessionId, SessionId];
const [X, Y] = ['01a20256-e09f-7542-a66b-d84706f9779c', '01a20256-e1aa-7001-9c00-000011112222'];

describe('mixedSessions', () => {
  it.each<[string, string, string[]]>([
    ['none', 'x', []],
    ['one', message(a), []],
    ['two', message(a, b), [a, b]],
    ['three, in their order', message(c, a, b), [c, a, b]],
    ['one twice', message(a, a), []],
    ['a short form of one', message('aaaaaaaa', a), []],
    ['two with one beginning', message('aaaaaaaa-1', 'aaaaaaaa-2'), ['aaaaaaaa-1', 'aaaaaaaa-2']],
    ['a prefix that is no short form', message('aaaa', a), ['aaaa', a]],
    ['indented, odd blanks, other case', ` \tCLAUDE-SESSION-ID  :${a}\n  Claude-Session-Id:  ${b}\n`, [a, b]],
    ['CRLF', message(a, b).replaceAll('\n', '\r\n'), [a, b]],
    ['in a sentence', `Claude-Session-Id: ${a}\nsee Claude-Session-Id: ${b}`, []],
    ['accepted', `${message(a, b)}Handoff-Accepted-From: ${b}`, []],
    ['accepted by its short form', `${message(a, b)}handoff-accepted-from: bbbbbbbb`, []],
    ['two of one minute', message(X, Y), [X, Y]],
    ['a short form beside its own id', message('06f9779c', X), []],
    ['short forms of two of one minute', message('06f9779c', '11112222'), ['06f9779c', '11112222']],
    ['a short form as 0.1.0 wrote it', message('01a20256', X), []],
    ['accepted by a short form that fits two', `${message(X, Y)}Handoff-Accepted-From: 01a20256`, [X, Y]],
    ['accepted by the short form of one', `${message(X, Y)}Handoff-Accepted-From: 11112222`, []],
    ['another one accepted', `${message(a, b)}Handoff-Accepted-From: ${c}`, [a, b]],
  ])('%s', (_, text, expected) => {
    expect(mixedSessions(text)).toEqual(expected);
  });

  it('counts related sessions as one, over any number of steps and with short ids', () => {
    expect(mixedSessions(message(a, b), [[b, a]])).toEqual([]);
    expect(mixedSessions(message(a, c), [[c, b], [b, a]])).toEqual([]); // prettier-ignore
    expect(mixedSessions(message('aaaaaaaa', 'bbbbbbbb'), [[b, a]])).toEqual([]);
    expect(mixedSessions(message(a, c), [[b, a]])).toEqual([a, c]);
  });

  it('reads a long message in linear time', () => {
    const long = `${' '.repeat(200_000)}x\n`.repeat(5) + message(a, b);
    expect(mixedSessions(long)).toEqual([a, b]);
  });
});

describe('otherOwners', () => {
  it.each<[string, string, string[] | undefined]>([
    ['nobody is named', 'x', undefined],
    ['its own', message(a), []],
    ['its own, by the short form', message('aaaaaaaa'), []],
    ["another's", message(b), [b]],
    ["another's beside its own", message(a, b), [b]],
    ['what it took over', `${message(a, b)}Handoff-Accepted-From: ${b}`, []],
    ['what another one took over from it', `${message(b, a)}Handoff-Accepted-From: ${a}`, [b]],
    ['what others took over from each other', `${message(b, c)}Handoff-Accepted-From: ${b}`, [b, c]],
  ])('%s', (_, text, expected) => {
    expect(otherOwners(text, a)).toEqual(expected);
  });

  it("excludes the caller's related sessions, and none for a person", () => {
    expect(otherOwners(message(b, c), a, [[a, b], [b, c]])).toEqual([]); // prettier-ignore
    expect(otherOwners(message(c), a, [[a, b]])).toEqual([c]);
    expect(otherOwners(message(a), undefined)).toEqual([a]);
  });
});
