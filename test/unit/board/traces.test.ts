import { describe, expect, it } from 'vitest';
import { Lanes } from '../../../src/verbs/board/lanes.ts';
import { stepOf } from '../../../src/verbs/board/board.ts';
import { boardRefusals } from '../../../src/verbs/board/board.ts';
import type { HandoffTrailers } from '../../../src/domain/handoff.ts';
import type { Oid, SessionId } from '../../../src/domain/names.ts';

const A = 'aaaaaaaa-1111-4111-8111-111111111111';

describe('lanes of sessions that are not on record', () => {
  it('reach from the first thing to the last, on the branch of the last', () => {
    const lanes = new Lanes([], 1000);
    expect(lanes.trace(A, { at: 50, branch: 'main' })).toBe(0);
    expect(lanes.trace(A, { at: 10, branch: 'old', client: 'codex' })).toBe(0);
    expect(lanes.trace('person-123456789012', { at: 70 })).toBe(1);
    expect(lanes.sessions(new Map())).toEqual([
      { id: A, state: 'none', from: 10, to: 50, client: 'codex', branch: 'main' },
      { id: 'person-123456789012', state: 'none', from: 70, to: 70, client: 'person' },
    ]);
  });

  it('are found by the short id of a trailer', () => {
    const lanes = new Lanes([], 1000);
    lanes.trace(A, { at: 50 });
    expect(lanes.trace('aaaaaaaa', { at: 60 })).toBe(0);
    expect(lanes.trace('bbbbbbbb', { at: 60 })).toBe(1);
  });
});

describe('refusals', () => {
  const line = (fields: object) =>
    JSON.stringify({ ts: '2026-11-20T10:00:00.000Z', kind: 'deny', ...fields });

  it('are those lines of the log that are refusals, newest first', () => {
    const log = [
      line({ event: 'PreToolUse', session: A, client: 'claude', detail: 'Bash: no' }),
      line({ kind: 'error', event: 'deny', detail: 'no refusal' }),
      line({ ts: '2026-11-20T11:00:00.000Z', event: 'pre-commit', detail: 'mixed' }),
      '{"kind":"deny"',
      '"deny"',
      line({ ts: 'yesterday' }),
    ].join('\n');
    const lanes = new Lanes([], 0);
    expect(boardRefusals(log, lanes).refusals).toEqual([
      { at: Date.UTC(2026, 10, 20, 11), event: 'pre-commit', detail: 'mixed' },
      { at: Date.UTC(2026, 10, 20, 10), by: 0, event: 'PreToolUse', detail: 'Bash: no' },
    ]);
  });

  it('take no session that is none, and show what would hide', () => {
    const log = line({ session: '../../x', event: 'e\u202e', detail: 'a\u0007b' });
    const lanes = new Lanes([], 0);
    const [refusal] = boardRefusals(log, lanes).refusals;
    expect(refusal).toEqual({ at: Date.UTC(2026, 10, 20, 10), event: 'e\\u{202e}', detail: 'a\\u{7}b' });
    expect(lanes.sessions(new Map())).toEqual([]);
  });
});

describe('what a version did', () => {
  const trailers = (more: Partial<HandoffTrailers> = {}): HandoffTrailers => ({
    owner: A as SessionId,
    base: undefined,
    client: undefined,
    agent: undefined,
    state: 'open',
    takenFrom: undefined,
    succeeds: undefined,
    to: undefined,
    automatic: undefined,
    ...more,
  });
  const parents = ['a'.repeat(40) as Oid];
  const open = { trailers: trailers() };
  const closed = { trailers: trailers({ state: 'closed' }) };

  it.each([
    ['create', undefined, { trailers: trailers(), parents: [] }],
    ['write', open, { trailers: trailers(), parents }],
    ['close', open, { trailers: closed.trailers, parents }],
    ['write', closed, { trailers: closed.trailers, parents }],
    ['reopen', closed, { trailers: trailers(), parents }],
    ['take', open, { trailers: trailers({ takenFrom: 'x' as SessionId }), parents }],
    ['succeed', open, { trailers: trailers({ succeeds: 'x' as SessionId }), parents }],
    ['merge', open, { trailers: trailers(), parents: [...parents, ...parents] }],
    ['unreadable', open, { trailers: undefined, parents }],
  ] as const)('%s', (step, before, commit) => {
    expect(stepOf(before, commit)).toBe(step);
  });
});
