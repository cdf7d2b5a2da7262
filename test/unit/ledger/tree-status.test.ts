import { describe, expect, it } from 'vitest';
import {
  LONG_WINDOW_MS,
  changesBetween,
  discardedBetween,
  overlaps,
  stagedBetween,
  isDoubtful,
} from '../../../src/domain/ledger/tree-status.ts';
import { formatTreeStatus, parseTreeStatus } from '../../../src/domain/ledger/snapshot-text.ts';
import { sessionOf } from '../../support/chain.ts';
import { blob, dirty, oid, snapshot } from './facts.ts';

const [a, b] = [sessionOf('a'), sessionOf('b')];

describe('changesBetween', () => {
  it('finds what became dirty, from HEAD to the disk', () => {
    expect(changesBetween(snapshot([]), snapshot([dirty('f')]))).toEqual([
      { path: 'f', base: blob(1), before: blob(1), after: blob(2), wasDirty: false },
    ]);
  });

  it('finds what was dirty and is now dirty in another way', () => {
    const before = snapshot([dirty('f', { stamp: '1' })]);
    const after = snapshot([dirty('f', { disk: blob(3), stamp: '2' })]);
    expect(changesBetween(before, after)).toEqual([
      { path: 'f', base: blob(1), before: blob(2), after: blob(3), wasDirty: true },
    ]);
  });

  it('ignores what was only touched, or has the same stamp', () => {
    const before = snapshot([
      dirty('f', { stamp: '1' }),
      dirty('g', { stamp: '1', disk: { mode: '100644', oid: null } }),
    ]);
    const after = snapshot([
      dirty('f', { stamp: '2' }),
      dirty('g', { stamp: '1', disk: { mode: '100644', oid: null } }),
    ]);
    expect(changesBetween(before, after)).toEqual([]);
  });

  it('ignores what differs only in the index: a stale index is no change on the disk', () => {
    const after = snapshot([dirty('f', { index: null, disk: blob(1) })]);
    expect(changesBetween(snapshot([]), after)).toEqual([]);
  });

  it('finds a deletion, and a file that could not be read', () => {
    expect(changesBetween(snapshot([]), snapshot([dirty('f', { disk: null })]))[0]).toMatchObject({
      after: null,
    });
    const unread = { mode: '100644', oid: null };
    const before = snapshot([dirty('f', { disk: unread, stamp: '1' })]);
    expect(changesBetween(before, snapshot([dirty('f', { disk: unread, stamp: '2' })]))).toHaveLength(1);
  });
});

describe('a path that became clean or staged', () => {
  it('was discarded only if HEAD did not move', () => {
    const before = snapshot([dirty('f')]);
    expect(discardedBetween(before, snapshot([]))).toEqual(['f']);
    expect(discardedBetween(before, snapshot([], { oid: oid(2) }))).toEqual([]);
  });

  it('was staged only if HEAD did not move', () => {
    const after = snapshot([dirty('f', { index: null, disk: blob(1) }), dirty('g', { index: blob(2) })]);
    const before = snapshot([dirty('g', { index: blob(2) })]);
    expect(stagedBetween(before, after)).toEqual([{ path: 'f', state: null }]);
    expect(stagedBetween(after, after)).toEqual([]);
    expect(stagedBetween(before, { ...after, head: { ref: 'HEAD', oid: oid(2) } })).toEqual([]);
  });
});

describe('windows', () => {
  const window = { session: a, id: '1', from: 100, to: 200 };

  it.each([
    [{ from: 0, to: 99 }, false],
    [{ from: 0, to: 100 }, true],
    [{ from: 150, to: 160 }, true],
    [{ from: 200, to: undefined }, true],
    [{ from: 201, to: 300 }, false],
    [{ from: 0, to: undefined }, true],
  ])('overlap with another session’s %j: %s', (times, expected) => {
    expect(overlaps(window, [{ session: b, id: '2', ...times }])).toBe(expected);
    expect(overlaps(window, [{ session: a, id: '2', ...times }])).toBe(false);
  });

  it('are strong evidence if they were short and alone', () => {
    expect(isDoubtful(window, [])).toBe(false);
    expect(isDoubtful({ ...window, to: 100 + LONG_WINDOW_MS + 1 }, [])).toBe(true);
    expect(isDoubtful(window, [{ session: b, id: '2', from: 150, to: undefined }])).toBe(true);
  });
});

describe('a snapshot as text', () => {
  it('can be read back unchanged', () => {
    const one = snapshot(
      [dirty('a b\n"c"', { index: null, stamp: '1:2' }), dirty('g', { disk: null })],
      {},
      7,
    );
    expect(parseTreeStatus(formatTreeStatus(one))).toEqual(one);
  });

  it.each([
    '',
    'null',
    '{}',
    '{"v":2,"at":1,"dirty":[]}',
    '{"v":1,"at":"x","dirty":[]}',
    '{"v":1,"at":1,"dirty":3}',
  ])('is none: %s', (text) => {
    expect(parseTreeStatus(text)).toBeUndefined();
  });
});
