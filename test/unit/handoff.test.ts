import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type HandoffTrailers,
  formatMessage,
  formatState,
  parseState,
  parseTrailers,
  recordState,
  summarise,
} from '../../src/domain/handoff.ts';
import { type BranchName, type Oid, type SessionId } from '../../src/domain/names.ts';
import { personOf } from '../../src/git/repository.ts';
import { escapeLine } from '../../src/domain/messages.ts';
import { oidOf, sessionOf } from '../support/chain.ts';
import { anyText } from '../support/any-text.ts';

const [a, b] = [sessionOf('a'), sessionOf('b')];
const plain: HandoffTrailers = {
  owner: a,
  base: oidOf(7),
  client: 'claude',
  agent: undefined,
  state: 'open',
  takenFrom: undefined,
  succeeds: undefined,
  to: undefined,
  automatic: undefined,
};

const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const sessions = fc.constantFrom(a, b, 'person-0123456789ab' as SessionId, 'x' as SessionId);
const trailers: fc.Arbitrary<HandoffTrailers> = fc.record({
  owner: sessions,
  base: maybe(fc.constantFrom(oidOf(1), 'f'.repeat(64) as Oid)),
  client: maybe(fc.constantFrom('claude', 'codex')),
  agent: maybe(fc.constantFrom('agent-1', 'Explore')),
  state: fc.constantFrom('open', 'closed'),
  takenFrom: maybe(sessions),
  succeeds: maybe(sessions),
  to: maybe(fc.constantFrom('bob', 'night-shift')),
  automatic: maybe(fc.constantFrom('compaction', 'session-end', 'death')),
  importedFrom: maybe(fc.constantFrom('guard:0a1b2c3d/handoff-main-a-b.md', 'handover:handover.md')),
});

/** Notes whose first lines look like trailers, separators and markup. */
const hostileNotes = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'Claude-Session-Id: x',
        'Handoff-State: closed',
        '---',
        '#',
        '\n',
        '\r',
        '\u2028',
        '\u0000',
        ':',
      ),
      anyText(),
    ),
  )
  .map((parts) => parts.join(''));

describe('the message of a handoff commit', () => {
  it('has the summary, and the trailers as the last paragraph', () => {
    expect(formatMessage('auth works', { ...plain, takenFrom: b })).toBe(
      [
        'auth works',
        '',
        `Claude-Session-Id: ${a}`,
        `Handoff-Base: ${oidOf(7)}`,
        'Handoff-Client: claude',
        'Handoff-State: open',
        `Handoff-Taken-From: ${b}`,
        '',
      ].join('\n'),
    );
  });

  it('returns the trailers, whatever the note begins with', () => {
    fc.assert(
      fc.property(hostileNotes, trailers, (note, given) => {
        const summary = summarise(note, escapeLine);
        expect(parseTrailers(formatMessage(summary, given))).toEqual(given);
      }),
    );
  });

  it('reads keys in upper or lower case', () => {
    const message = `s\n\nCLAUDE-SESSION-ID: ${a}\nhandoff-state:open\n`;
    expect(parseTrailers(message)).toMatchObject({ owner: a, state: 'open' });
  });

  it.each([
    ['no trailers', 'summary only'],
    ['trailers in the first paragraph', `Claude-Session-Id: ${a}\nHandoff-State: open`],
    ['trailers that are not the last paragraph', `s\n\nClaude-Session-Id: ${a}\nHandoff-State: open\n\nbye`],
    ['an owner twice', `s\n\nClaude-Session-Id: ${a}\nclaude-session-id: ${b}\nHandoff-State: open`],
    ['no owner', 's\n\nHandoff-State: open'],
    ['another key for the owner', `s\n\nClaude-Session: ${a}\nHandoff-State: open`],
    ['an invalid owner', 's\n\nClaude-Session-Id: ../x\nHandoff-State: open'],
    ['a placeholder for the owner', 's\n\nClaude-Session-Id: current\nHandoff-State: open'],
    ['no state', `s\n\nClaude-Session-Id: ${a}`],
    ['an unknown state', `s\n\nClaude-Session-Id: ${a}\nHandoff-State: half`],
    ['prose between the trailers', `s\n\nClaude-Session-Id: ${a}\nand more\nHandoff-State: open`],
    ['an invalid base', `s\n\nClaude-Session-Id: ${a}\nHandoff-State: open\nHandoff-Base: main`],
    ['an invalid former owner', `s\n\nClaude-Session-Id: ${a}\nHandoff-State: open\nHandoff-Taken-From: a b`],
    ['an invalid predecessor', `s\n\nClaude-Session-Id: ${a}\nHandoff-State: open\nHandoff-Succeeds: null`],
  ])('is unreadable with %s', (_what, message) => {
    expect(parseTrailers(message)).toBeUndefined();
  });

  it('lets later versions add trailers', () => {
    const message = `s\n\nClaude-Session-Id: ${a}\nHandoff-State: open\nHandoff-New: x`;
    expect(parseTrailers(message)?.owner).toBe(a);
  });

  it.each([
    [a, oidOf(7), 'claude', 'open'],
    [a, oidOf(7), undefined, 'closed'],
    [a, undefined, undefined, 'open'],
    ['current', oidOf(7), 'claude', 'open'],
    [a, 'abc', 'claude', 'open'],
    [a, oidOf(7), 'claude', 'opened'],
  ])('reads the trailers of most notes as it reads any others: %s %s %s %s', (owner, base, client, state) => {
    const given = { ...plain, owner, base, client, state } as HandoffTrailers;
    const message = formatMessage('goal: x', given);
    const withMore = message.replace('Handoff-State', 'Reviewed-by: A\nHandoff-State');
    for (const end of ['', '\n', '\n\n']) {
      expect(parseTrailers(message.trimEnd() + end)).toEqual(parseTrailers(withMore));
    }
  });
});

describe('the summary', () => {
  const of = (note: string) => summarise(note, escapeLine);

  it.each([
    ['# Goal\n\nShip it', 'Ship it'],
    ['# Goal\n', 'Goal'],
    ['# Shipping\n\nShip it', 'Shipping'],
    ['\n\n  ## \n#\nShip it\nmore', 'Ship it'],
    ['\uFEFF# With a byte order mark', 'With a byte order mark'],
    ['one\r\ntwo', 'one'],
    ['\n \n', '(no summary)'],
    ['#', '(no summary)'],
    ['red \u001b[31m', 'red \\u{1b}[31m'],
  ])('of %j is %j', (note, summary) => {
    expect(of(note)).toBe(summary);
  });

  it('has at most 72 characters, and is not cut within one', () => {
    expect(of('x'.repeat(72))).toBe('x'.repeat(72));
    expect(of('x'.repeat(73))).toBe(`${'x'.repeat(71)}…`);
    expect(of('😀'.repeat(80))).toBe(`${'😀'.repeat(71)}…`);
  });

  it('is one line without control characters, whatever the note', () => {
    fc.assert(
      fc.property(hostileNotes, (note) => {
        expect(of(note)).toMatch(/^[^\p{Cc}]{1,72}$/u);
      }),
    );
  });
});

describe('state.json', () => {
  const facts = {
    branch: 'main' as BranchName,
    topic: 'auth-refresh',
    head: oidOf(1),
    upstream: undefined,
    dirty: 3,
    client: 'claude',
    worktree: undefined,
  };

  it('contains what was recorded, and nothing about the machine', () => {
    expect(Object.keys(recordState(facts)).sort()).toEqual(
      ['branch', 'client', 'dirty', 'head', 'topic', 'upstream', 'version', 'worktree'].sort(),
    );
    expect(parseState(formatState(recordState(facts)))).toEqual(recordState(facts));
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    '7',
    '{"version":"1","branch":"a","topic":"b"}',
    '{"version":1,"topic":"b"}',
  ])('is unreadable as %j', (text) => {
    expect(parseState(text)).toBeUndefined();
  });

  it('of a later version can be read, without what it does not contain', () => {
    const later = parseState('{"version":2,"branch":"a","topic":"b","dirty":"many","new":true}');
    expect(later).toMatchObject({ version: 2, head: null, dirty: 0 });
  });
});

describe('a person', () => {
  it('has one id per address, however it is spelt', () => {
    expect(personOf({ email: ' Ada@Example.ORG ' })).toBe(personOf({ email: 'ada@example.org' }));
    expect(personOf({ email: 'ada@example.org' })).toMatch(/^person-[0-9a-f]{12}$/);
  });

  it('without an address has none', () => expect(personOf({ email: '  ' })).toBeUndefined());
});
