import { describe, expect, it } from 'vitest';
import {
  type LivenessFacts,
  formatRecord,
  judgeLiveness,
  parseRecord,
  related,
  succeededBy,
} from '../../src/domain/session.ts';
import { sessionOf } from '../support/chain.ts';
import { recordOf } from '../support/session-record.ts';

const [a, b, c] = [sessionOf('a'), sessionOf('b'), sessionOf('c')];
const minutes = (count: number) => count * 60_000;

function judge(changes: Parameters<typeof recordOf>[1], facts: Partial<LivenessFacts> = {}) {
  return judgeLiveness(recordOf(a, changes), {
    bootId: 'boot',
    pidNs: 'ns',
    stillRuns: ({ pid, start }) => pid === 20 && start === '200',
    silentMs: minutes(5),
    staleAfterMs: minutes(30),
    ...facts,
  });
}

describe('judgeLiveness', () => {
  it('calls a session live while its process runs, however long it is silent', () => {
    expect(judge({}, { silentMs: minutes(600) })).toBe('live');
  });

  it('calls a session dead as soon as its process is gone, however recently it called', () => {
    expect(judge({ pid: 21 }, { silentMs: 0 })).toBe('dead');
  });

  it('calls a session dead if another process has its pid', () => {
    expect(judge({ start: '201' }, { silentMs: 0 })).toBe('dead');
  });

  it('judges a session by its activity if this user may not see its process', () => {
    const hidden = { stillRuns: () => undefined };
    expect(judge({}, hidden)).toBe('live');
    expect(judge({}, { ...hidden, silentMs: minutes(31) })).toBe('unknown');
  });

  it('calls a session ended if it said so, whatever its process does', () => {
    expect(judge({ ended: { at: 1, reason: 'clear' } })).toBe('ended');
  });

  it.each([
    ['another boot', { bootId: 'other' }],
    ['another pid namespace', { pidNs: 'other' }],
    ['no pid', { pid: null }],
    ['no start time', { start: null }],
    ['no boot id', { bootId: null }],
  ])('is judged by its activity with %s', (_what, changes) => {
    expect(judge(changes)).toBe('live');
    expect(judge(changes, { silentMs: minutes(30) })).toBe('live');
    expect(judge(changes, { silentMs: minutes(30) + 1 })).toBe('unknown');
    expect(judge(changes, { silentMs: undefined })).toBe('unknown');
  });

  it('proves nothing if the machine does not identify its boot', () => {
    expect(judge({ bootId: null }, { bootId: null, silentMs: minutes(31) })).toBe('unknown');
  });
});

describe('a record', () => {
  it('is read back as it was written', () => {
    const record = recordOf(a, { parent: b, succeeds: c, ended: { at: 7, reason: 'clear' } });
    expect(parseRecord(formatRecord(record))).toEqual(record);
  });

  it.each([
    '',
    'null',
    '[]',
    '{"v":2,"session":"s-1","startedAt":1}',
    '{"v":1,"session":"../x","startedAt":1}',
    '{"v":1,"session":"s-1"}',
  ])('is none: %j', (text) => {
    expect(parseRecord(text)).toBeUndefined();
  });

  it('is read with odd fields as unknown', () => {
    const odd = {
      v: 1,
      session: 's-1',
      startedAt: 1,
      pid: '7',
      start: 8,
      client: 'x\nClaude-Session-Id: y',
      parent: '..',
    };
    expect(parseRecord(JSON.stringify({ ...odd, ended: { reason: 'clear' } }))).toMatchObject({
      pid: null,
      start: null,
      client: 'unknown',
      parent: null,
      ended: null,
    });
  });
});

describe('succession', () => {
  const chain = [recordOf(a, { succeeds: b }), recordOf(b, { succeeds: c }), recordOf(c)];

  it('names all sessions whose conversation continues, nearest first', () => {
    expect(succeededBy(a, chain)).toEqual([b, c]);
    expect(succeededBy(c, chain)).toEqual([]);
    expect(succeededBy(sessionOf('d'), chain)).toEqual([]);
  });

  it('ends where the records end', () => expect(succeededBy(a, [chain[0]!])).toEqual([b]));

  it('ends even if the records form a cycle', () => {
    const circle = [recordOf(a, { succeeds: b }), recordOf(b, { succeeds: a })];
    expect(succeededBy(a, circle)).toEqual([b]);
    expect(succeededBy(a, [recordOf(a, { succeeds: a })])).toEqual([]);
  });
});

describe('sessions that belong together', () => {
  const records = [
    recordOf(a),
    recordOf(b, { parent: a }),
    recordOf(c, { parent: b }),
    recordOf(sessionOf('d')),
  ];

  it.each([
    [a, a, true],
    [a, b, true],
    [b, a, true],
    [c, a, true],
    [a, sessionOf('d'), false],
    [sessionOf('x'), sessionOf('y'), false],
  ])('%s and %s: %s', (one, other, together) => {
    expect(related(one, other, records)).toBe(together);
  });

  it('do not include two that one session started', () => {
    expect(related(b, c, [recordOf(b, { parent: a }), recordOf(c, { parent: a })])).toBe(false);
  });

  it('are found even if the records form a cycle', () => {
    const circle = [recordOf(a, { parent: b }), recordOf(b, { parent: a })];
    expect(related(a, c, circle)).toBe(false);
  });
});
