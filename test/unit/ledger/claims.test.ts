import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LedgerEntry } from '../../../src/domain/ledger/claims.ts';
import { foldLedger, isCommitted } from '../../../src/domain/ledger/fold.ts';
import { compactEntries } from '../../../src/domain/ledger/compact.ts';
import { WISHES, sameState, type FileState } from '../../../src/domain/ledger/file-state.ts';
import { formatEntries, parseEntries } from '../../../src/domain/ledger/entries.ts';
import { sessionOf } from '../../support/chain.ts';
import { blob, claim, oid } from './facts.ts';

const a = sessionOf('a');
const fold = (...entries: LedgerEntry[]) => foldLedger(a, entries);

describe('a claim', () => {
  it('is open with what HEAD had, and what was left there', () => {
    expect(fold(claim('f', blob(1), blob(2))).claims.get('f')).toMatchObject({
      session: a,
      base: blob(1),
      after: blob(2),
      changes: [{ before: blob(1), after: blob(2) }],
    });
  });

  it('grows: changes that follow each other are one, others stay apart', () => {
    const { claims } = fold(
      claim('f', blob(1), blob(2), { at: 5 }),
      claim('f', blob(2), blob(3), { base: blob(9) }),
      claim('f', blob(7), blob(8), { at: 6 }),
    );
    expect(claims.get('f')).toMatchObject({
      base: blob(1),
      changes: [
        { before: blob(1), after: blob(3) },
        { before: blob(7), after: blob(8) },
      ],
      since: 5,
      at: 6,
    });
  });

  it('keeps the best evidence, and is weak only as long as everything about it is', () => {
    const { claims } = fold(
      claim('f', blob(1), blob(2), { evidence: 'window', weak: true }),
      claim('f', blob(2), blob(3), { evidence: 'since-start', weak: false }),
      claim('f', blob(3), blob(4), { evidence: 'window', weak: true }),
    );
    expect(claims.get('f')).toMatchObject({ evidence: 'window', weak: false });
  });

  it('ends for good; what comes later is a new one', () => {
    const end = { t: 'end', path: 'f', why: 'clean', at: 2 } as const;
    expect(fold(claim('f', blob(1), blob(2)), end).claims.size).toBe(0);
    expect(
      fold(claim('f', blob(1), blob(2)), end, claim('f', blob(5), blob(6))).claims.get('f'),
    ).toMatchObject({
      changes: [{ before: blob(5), after: blob(6) }],
    });
  });

  it('begins anew with a change of what the session has committed', () => {
    const commit = { t: 'commit', parent: oid(1), paths: [['f', blob(2)]], at: 2 } as const;
    const open = fold(claim('f', blob(1), blob(2)), commit, claim('f', blob(2), blob(3))).claims.get('f');
    expect(open).toMatchObject({ base: blob(2), committed: [], after: blob(3) });
    expect(open === undefined || isCommitted(open, blob(2))).toBe(false);
    const before = fold(
      claim('f', blob(1), blob(2)),
      commit,
      claim('f', blob(2), blob(3), { base: blob(1) }),
    );
    expect(before.claims.get('f')?.committed).toEqual([blob(2)]);
  });

  it('is over when HEAD has what the session left, or what its commit was let through with', () => {
    const commit = { t: 'commit', parent: oid(1), paths: [['f', blob(3)]], at: 3 } as const;
    const open = fold(claim('f', blob(1), blob(2)), commit).claims.get('f');
    if (open === undefined) throw new Error('no claim');
    expect([blob(1), blob(2), blob(3), null].map((head) => isCommitted(open, head))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});

describe('states', () => {
  it('are the same by content and mode; what was not read is like nothing', () => {
    expect(sameState(blob(1), blob(1))).toBe(true);
    expect(sameState(blob(1), blob(1, '100755'))).toBe(false);
    expect(sameState(null, null)).toBe(true);
    const unread = { mode: '100644', oid: null };
    expect(sameState(unread, unread)).toBe(false);
  });
});

const state: fc.Arbitrary<FileState> = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 1, max: 9 }).map((n) => blob(n)),
  fc.constant({ mode: '160000', oid: null }),
);
const path = fc.constantFrom('a', 'b', 'c d', 'n\nl', 'ü');
const at = fc.integer({ min: 0, max: 1000 });
const entry: fc.Arbitrary<LedgerEntry> = fc.oneof(
  fc.record({
    t: fc.constant('claim' as const),
    path,
    base: state,
    before: state,
    after: state,
    evidence: fc.constantFrom('explicit' as const, 'window' as const, 'since-start' as const),
    weak: fc.boolean(),
    at,
  }),
  fc.record({
    t: fc.constant('end' as const),
    path,
    why: fc.constantFrom('clean' as const, 'taken' as const),
    at,
  }),
  fc.record({ t: fc.constant('staged' as const), path, state, at }),
  fc.record({
    t: fc.constant('commit' as const),
    parent: fc.constant(oid(3)),
    paths: fc.array(fc.tuple(path, state), { maxLength: 3 }),
    at,
  }),
  fc.record({
    t: fc.constant('head' as const),
    ref: fc.constant('refs/heads/x'),
    oid: fc.constant(oid(4)),
    own: fc.boolean(),
    at,
  }),
  fc.record({ t: fc.constant('event' as const), id: fc.string(), text: fc.string(), at }),
  fc.record({
    t: fc.constant('request' as const),
    to: fc.constant(sessionOf('b')),
    wish: fc.constantFrom(...WISHES),
    paths: fc.array(path),
    at,
  }),
  fc.record({ t: fc.constant('told' as const), ids: fc.array(fc.string()), at }),
  fc.record({ t: fc.constant('window' as const), id: fc.string(), from: at, at }),
);

describe('ledger files', () => {
  it('give back every entry, whatever it holds', () => {
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        expect(parseEntries(formatEntries(entries))).toEqual(entries);
      }),
    );
  });

  it('lose a torn last line and nothing else', () => {
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1 }), fc.nat(), (entries, cut) => {
        const text = formatEntries(entries);
        const torn = text.slice(0, text.length - 1 - (cut % (text.length - 1)));
        const whole = torn.split('\n').length - 1;
        expect(parseEntries(torn).slice(0, whole)).toEqual(entries.slice(0, whole));
        expect(parseEntries(torn).length).toBeLessThanOrEqual(whole + 1);
      }),
    );
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    '{"t":"claim","at":1}',
    '{"t":"claim","path":"","at":1}',
    '{"t":"new","at":1}',
    '{"t":"end","path":"f","why":"x","at":1}',
    '{"t":"claim","path":"f\\u0000g","evidence":"window","at":1}',
  ])('skip what is no entry: %s', (line) => {
    expect(parseEntries(`${line}\n`)).toEqual([]);
  });

  it('claim the same after they were compacted', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), (entries) => {
        const before = foldLedger(a, entries);
        const after = foldLedger(a, compactEntries(before, 0));
        const shape = ({ claims, head, told, requests }: typeof before) => ({
          claims: [...claims.values()].map((one) => ({ ...one, since: 0, at: 0, changes: one.changes })),
          head,
          requests,
          told: [...told].slice(-256),
        });
        expect(shape(after)).toEqual(shape(before));
      }),
    );
  });
});
