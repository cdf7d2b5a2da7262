import { describe, expect, it } from 'vitest';
import { foldLedger } from '../../../src/domain/journal/fold.ts';
import type { FileState } from '../../../src/domain/ledger/tree-status.ts';
import { bearing, claimGains, isUpToDate, isLater, isMeant } from '../../../src/domain/ledger/stale.ts';
import { sessionOf } from '../../support/chain.ts';
import { type ClaimEntry, blob, claim } from './facts.ts';

const mode = (n: number) => blob(n, '100755');
const link = (n: number) => blob(n, '120000');

describe('whether a state has what HEAD gained', () => {
  it.each<[string, FileState, FileState, FileState, string | undefined]>([
    ['the new content', blob(1), blob(2), blob(2), 'has'],
    ['the old content', blob(1), blob(2), blob(1), 'lacks'],
    ['a new file that is missing', null, blob(2), null, 'lacks'],
    ['a file that HEAD deleted', blob(1), null, blob(1), 'lacks'],
    ['a file that HEAD deleted, with an edit', blob(1), null, blob(3), 'conflict'],
    ['a file that the session deleted', blob(1), blob(2), null, 'conflict'],
    ['two new files of one name', null, blob(2), blob(3), 'conflict'],
    ['a third content', blob(1), blob(2), blob(3), undefined],
    ['the old mode', blob(1), mode(1), blob(3), 'lacks'],
    ['the new mode, with an edit', blob(1), mode(1), mode(3), 'has'],
    ['a third link', link(1), link(2), link(3), 'conflict'],
    ['a third commit of a submodule', blob(1, '160000'), blob(2, '160000'), blob(3, '160000'), 'conflict'],
  ])('%s', (_, from, to, state, expected) => {
    expect(bearing(state, { from, to, at: 0 })).toBe(expected);
  });
});

/** B's claims on `f`, where HEAD has blob 2. */
function candidate(next: FileState, ...entries: ClaimEntry[]) {
  const own = [...foldLedger(sessionOf('b'), entries).claims.values()];
  return { path: 'f', head: blob(2), next, own };
}

describe('what the session’s claims say', () => {
  it('need no look at history for a change of what HEAD has now, but do for others', () => {
    expect(isUpToDate(candidate(blob(3), claim('f', blob(2), blob(3))))).toBe(true);
    expect(isUpToDate(candidate(blob(3), claim('f', blob(1), blob(3))))).toBe(false);
    expect(isUpToDate(candidate(blob(3), claim('f', blob(1), blob(3), { base: blob(2) })))).toBe(false);
    expect(isUpToDate(candidate(blob(1)))).toBe(false);
    expect(isUpToDate(candidate(blob(4), claim('f', blob(2), blob(3))))).toBe(false);
  });

  it('show what HEAD gained since the session began', () => {
    expect(claimGains(candidate(blob(3), claim('f', blob(1), blob(3))), 7)).toEqual([
      { from: blob(1), to: blob(2), at: 7 },
    ]);
    expect(claimGains(candidate(blob(3), claim('f', blob(2), blob(3))), 7)).toEqual([]);
  });

  it('show no gain if HEAD went back from that content, however many commits ago', () => {
    const gains = (...left: Parameters<typeof claimGains>[2] & {}) =>
      claimGains(candidate(blob(3), claim('f', blob(1), blob(3))), 7, left);
    const change = (from: number, to: number, path = 'f') => ({ path, head: blob(from), index: blob(to) });
    expect(gains([change(4, 1), change(2, 4)])).toEqual([]);
    expect(gains([change(2, 4)], [change(4, 1)])).toEqual([]);
    expect(gains([change(2, 1, 'g')])).toEqual([{ from: blob(1), to: blob(2), at: 7 }]);
    expect(gains([change(5, 1)])).toEqual([{ from: blob(5), to: blob(2), at: 7 }]);
  });

  it('show that changing HEAD’s own content to an older one is intended', () => {
    expect(isMeant(candidate(blob(1), claim('f', blob(2), blob(1))))).toBe(true);
    expect(isMeant(candidate(blob(3), claim('f', blob(1), blob(3))))).toBe(false);
  });

  it('show that a change in a later second than the move knows both contents', () => {
    const gain = { from: blob(1), to: blob(2), at: 5000 };
    expect(isLater(candidate(blob(3), claim('f', blob(1), blob(3), { at: 6000 })), gain)).toBe(true);
    expect(isLater(candidate(blob(3), claim('f', blob(1), blob(3), { at: 5999 })), gain)).toBe(false);
    // HEAD moved while a command ran.
    const long = { began: 5000, at: 9000 };
    expect(isLater(candidate(blob(3), claim('f', blob(1), blob(3), long)), gain)).toBe(false);
    expect(isLater(candidate(blob(3), claim('f', blob(1), blob(3), { ...long, began: 6000 })), gain)).toBe(
      true,
    );
  });
});
