import { describe, expect, it } from 'vitest';
import { foldLedger } from '../../../src/domain/journal/fold.ts';
import type { Evidence } from '../../../src/domain/ledger/tree-status.ts';
import { claimsOn, isWhollyMine } from '../../../src/domain/ledger/ownership.ts';
import { sessionOf } from '../../support/chain.ts';
import { type ClaimEntry, blob, claim, dirty } from './facts.ts';

const [a, b] = [sessionOf('a'), sessionOf('b')];
const both = { own: new Set([a]), foreign: new Set([b]) };

/** Claims on `f`, by A and then by B. */
function ask(first: Partial<ClaimEntry>, second: Partial<ClaimEntry>, groups = both) {
  const ledgers = [
    foldLedger(a, [claim('f', blob(1), blob(2), { at: 1, ...first })]),
    foldLedger(b, [claim('f', blob(2), blob(3), { base: blob(1), at: 2, ...second })]),
  ];
  return claimsOn('f', ledgers, groups, blob(1));
}

describe('a claim on top of another session’s', () => {
  const later: [Evidence, Evidence, 'touch' | 'contended'][] = [
    ['explicit', 'explicit', 'contended'],
    ['explicit', 'named', 'touch'],
    ['explicit', 'window', 'touch'],
    ['explicit', 'since-start', 'touch'],
    ['named', 'explicit', 'contended'],
    ['named', 'named', 'contended'],
    ['named', 'window', 'touch'],
    ['window', 'named', 'contended'],
    ['window', 'window', 'touch'],
    ['since-start', 'explicit', 'contended'],
    ['since-start', 'window', 'touch'],
    ['since-start', 'since-start', 'contended'],
  ];
  it.each(later)('%s, then %s: %s', (first, second, outcome) => {
    const found = ask({ evidence: first }, { evidence: second });
    expect(found.own).toHaveLength(1);
    expect(found.foreignTouches).toHaveLength(outcome === 'touch' ? 1 : 0);
    expect(found.foreign).toHaveLength(outcome === 'touch' ? 0 : 1);
  });

  it('is an ordinary claim if the other has ended, belongs to an ended session, or only warns', () => {
    const window = { evidence: 'window' } as const;
    expect(ask({ base: blob(7), after: blob(1) }, window).foreign).toHaveLength(1);
    expect(ask({}, window, { own: new Set(), foreign: new Set([b]) }).foreign).toHaveLength(1);
    expect(ask({ weak: true }, window).foreign).toHaveLength(1);
  });
});

describe('isWhollyMine', () => {
  const mine = claim('f', blob(1), blob(2));
  const wholly = (entries: ClaimEntry[], theirs: ClaimEntry[] = [], disk = blob(2)) =>
    isWhollyMine(dirty('f', { disk }), [foldLedger(a, entries), foldLedger(b, theirs)], both);

  it.each([
    ['changed by me alone', true, [mine], []],
    ['changed by nobody', false, [], []],
    ['maybe changed by me', false, [{ ...mine, weak: true }], []],
    ['changed by me over a change by hand', false, [claim('f', blob(5), blob(2), { base: blob(1) })], []],
    ['changed by me and by another', false, [mine], [claim('f', blob(1), blob(2))]],
    ['changed by me and maybe by another', false, [mine], [claim('f', blob(1), blob(2), { weak: true })]],
    [
      'changed by me and touched',
      false,
      [mine],
      [claim('f', blob(2), blob(2), { evidence: 'window', at: 2 })],
    ],
  ] as const)('%s: %s', (_, expected, entries, theirs) => {
    expect(wholly([...entries], [...theirs])).toBe(expected);
  });

  it('is false for what was changed by hand since', () => {
    expect(wholly([mine], [], blob(9))).toBe(false);
  });
});
