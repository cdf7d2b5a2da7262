import { describe, expect, it } from 'vitest';
import type { WorktreeEvent } from '../../../src/domain/journal/events.ts';
import { foldLedger, isCommitted } from '../../../src/domain/journal/fold.ts';
import { sameState } from '../../../src/domain/ledger/tree-status.ts';
import { sessionOf } from '../../support/chain.ts';
import { blob, claim, oid } from './facts.ts';

const a = sessionOf('a');
const fold = (...entries: WorktreeEvent[]) => foldLedger(a, entries);

describe('a claim', () => {
  it('is open with what HEAD had and what the session left', () => {
    expect(fold(claim('f', blob(1), blob(2))).claims.get('f')).toMatchObject({
      session: a,
      base: blob(1),
      after: blob(2),
      changes: [{ before: blob(1), after: blob(2) }],
    });
  });

  it('grows: consecutive changes are joined, others stay separate', () => {
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

  it('keeps the best evidence, and is weak only while all of its evidence is', () => {
    const { claims } = fold(
      claim('f', blob(1), blob(2), { evidence: 'window', weak: true }),
      claim('f', blob(2), blob(3), { evidence: 'since-start', weak: false }),
      claim('f', blob(3), blob(4), { evidence: 'window', weak: true }),
    );
    expect(claims.get('f')).toMatchObject({ evidence: 'window', weak: false });
  });

  it('ends for good; a later change makes a new one', () => {
    const end = { t: 'end', path: 'f', why: 'clean', at: 2 } as const;
    expect(fold(claim('f', blob(1), blob(2)), end).claims.size).toBe(0);
    expect(
      fold(claim('f', blob(1), blob(2)), end, claim('f', blob(5), blob(6))).claims.get('f'),
    ).toMatchObject({
      changes: [{ before: blob(5), after: blob(6) }],
    });
  });

  it('starts again with a change of what the session has committed', () => {
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

  it('is over when HEAD has what the session left, or what its allowed commit contained', () => {
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
  it('are equal by content and mode; an unread one equals none', () => {
    expect(sameState(blob(1), blob(1))).toBe(true);
    expect(sameState(blob(1), blob(1, '100755'))).toBe(false);
    expect(sameState(null, null)).toBe(true);
    const unread = { mode: '100644', oid: null };
    expect(sameState(unread, unread)).toBe(false);
  });
});
