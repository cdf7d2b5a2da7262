import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Intent, decideOwnership } from '../../src/domain/note-owner.ts';
import { checkStep } from '../../src/domain/transition.ts';
import { commitOf, oidOf, sessionOf } from '../support/chain.ts';

const [a, b] = [sessionOf('a'), sessionOf('b')];
const tip = commitOf(1, []);
const intent = (changes: Partial<Intent>): Intent => ({
  me: b,
  succeeded: [],
  take: false,
  expect: undefined,
  ...changes,
});
const nothing = { takenFrom: undefined, succeeds: undefined };

describe('decideOwnership', () => {
  it('lets anybody start a topic', () => {
    expect(decideOwnership(undefined, intent({}))).toEqual({ kind: 'proceed', passing: nothing });
  });

  it('lets the owner write, with or without --take', () => {
    for (const take of [false, true]) {
      expect(decideOwnership(tip, intent({ me: a, take }))).toEqual({ kind: 'proceed', passing: nothing });
    }
  });

  it('refuses a foreign writer and says who owns it', () => {
    expect(decideOwnership(tip, intent({}))).toEqual({ kind: 'not-owner', owner: a, tip: oidOf(1) });
  });

  it('allows a take, on the record', () => {
    const decision = decideOwnership(tip, intent({ take: true }));
    expect(decision).toEqual({ kind: 'proceed', passing: { ...nothing, takenFrom: a } });
  });

  it('lets a conversation continue without a take', () => {
    const decision = decideOwnership(tip, intent({ succeeded: [sessionOf('c'), a], take: true }));
    expect(decision).toEqual({ kind: 'proceed', passing: { ...nothing, succeeds: a } });
  });

  it('does not ignore the owner of a closed topic', () => {
    const closed = commitOf(1, [], { state: 'closed' });
    expect(decideOwnership(closed, intent({})).kind).toBe('not-owner');
  });

  it.each([
    ['another tip', oidOf(2), tip, 'expectation-missed'],
    ['none, and there is one', null, tip, 'expectation-missed'],
    ['one, and there is none', oidOf(1), undefined, 'expectation-missed'],
    ['this tip', oidOf(1), tip, 'proceed'],
    ['none, and there is none', null, undefined, 'proceed'],
  ])('with --expect of %s', (_what, expected, at, kind) => {
    expect(decideOwnership(at, intent({ me: a, expect: expected })).kind).toBe(kind);
  });

  it('never continues what it cannot read', () => {
    for (const odd of [
      { ...tip, trailers: undefined },
      { ...tip, recorded: undefined },
      commitOf(1, [], {}, { version: 2 }),
    ]) {
      expect(decideOwnership(odd, intent({ me: a, take: true }))).toEqual({
        kind: 'read-only',
        tip: oidOf(1),
      });
    }
  });

  it('only ever proceeds to a step that checkStep accepts', () => {
    const who = fc.constantFrom(a, b, sessionOf('c'));
    fc.assert(
      fc.property(who, who, fc.array(who, { maxLength: 2 }), fc.boolean(), (owner, me, succeeded, take) => {
        const former = commitOf(1, [], { owner });
        const decision = decideOwnership(former, intent({ me, succeeded, take }));
        if (decision.kind !== 'proceed') return;
        expect(checkStep([former], commitOf(2, [1], { owner: me, ...decision.passing })).legal).toBe(true);
      }),
    );
  });
});
