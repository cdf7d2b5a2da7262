import { describe, expect, it } from 'vitest';
import { Lanes } from '../../../src/verbs/board/lanes.ts';
import { stepOf } from '../../../src/verbs/board/board.ts';
import { boardRefusals } from '../../../src/verbs/board/board.ts';
import type { HandoffTrailers } from '../../../src/domain/handoff.ts';
import type { Oid, SessionId, Topic } from '../../../src/domain/names.ts';

const A = 'aaaaaaaa-1111-4111-8111-111111111111';

describe('lanes of sessions that are not on record', () => {
  it('extend from the first event to the last, on the branch of the last', () => {
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
  const session = A as SessionId;
  const journal = (...refusals: { at: number; text: string }[]) => ({
    session,
    refusals: refusals.map((one) => ({ t: 'refused' as const, ...one })),
  });

  it('come from the journals, newest first, with invisible characters escaped', () => {
    const lanes = new Lanes([], 0);
    const { refusals } = boardRefusals([journal({ at: 1, text: 'a\u0007b' }, { at: 2, text: 'no' })], lanes);
    expect(refusals).toEqual([
      { at: 2, by: 0, detail: 'no' },
      { at: 1, by: 0, detail: 'a\\u{7}b' },
    ]);
    expect(lanes.sessions(new Map()).map(({ id }) => id)).toEqual([A]);
  });

  it('of a note are shown once, with the kept text', () => {
    const path = { component: 'main', topic: 'auth-refresh' as Topic };
    const details = { kind: 'refused', session, at: 5, reason: 'not-owner', tip: null } as const;
    const { refusals } = boardRefusals([journal({ at: 5, text: 'belongs to b' })], new Lanes([], 0), [
      { path, number: 1, details },
    ]);
    expect(refusals.map(({ detail }) => detail)).toEqual([
      'main/auth-refresh was not written: another session owned it. The text is kept: git handoff show main/auth-refresh --lost=1',
    ]);
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
