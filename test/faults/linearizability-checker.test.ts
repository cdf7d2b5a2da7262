import { describe, expect, it } from 'vitest';
import { type Operation, isLinearizable } from '../support/faults/linearizability.ts';
import { type Random, seeded } from '../support/faults/seed.ts';

const CLIENTS = 4;
const ROUNDS = 6;

type Defect =
  | 'none'
  | 'drops the old value'
  | 'reads stale'
  | 'loses what it reported'
  | 'refuses what it did'
  | 'shows what was refused'
  | 'swaps twice';

/**
 * Plays clients on a register in memory, in turns that the seed picks: each operation starts, takes effect
 * and ends in turns of its own, so that operations overlap. Some callers die, before or after the effect.
 */
function play(random: Random, defect: Defect): Operation[] {
  const history: Operation[] = [];
  const values = ['start'];
  let clock = 0;
  const isDefective = () => defect !== 'none' && random.next() < 0.3;
  function* client(name: number): Generator<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const start = clock++;
      yield;
      const stale = defect === 'reads stale' && isDefective() ? 2 : 1;
      const old = values.at(-Math.min(stale, values.length))!;
      yield;
      history.push({ kind: 'read', start, end: clock++, value: old });
      yield;
      const began = clock++;
      const next = `${name}.${round}`;
      const dies = random.next() < 0.25 ? random.pick(['before', 'after']) : 'never';
      yield;
      let outcome: 'done' | 'refused' | 'unknown' = values.at(-1) === old ? 'done' : 'refused';
      if (defect === 'drops the old value' && isDefective()) outcome = 'done';
      const isLost = defect === 'loses what it reported' && isDefective();
      const isShown = defect === 'shows what was refused' && outcome === 'refused' && isDefective();
      if (dies !== 'before' && ((outcome === 'done' && !isLost) || isShown)) values.push(next);
      if (defect === 'refuses what it did' && outcome === 'done' && isDefective()) outcome = 'refused';
      if (dies !== 'never') outcome = 'unknown';
      yield;
      history.push({ kind: 'swap', start: began, end: clock++, old, next, outcome });
      if (defect === 'swaps twice' && outcome === 'done' && isDefective()) {
        yield;
        values.push(next);
      }
      yield;
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, name) => client(name));
  while (clients.length > 0) {
    const at = random.below(clients.length);
    if (clients[at]!.next().done === true) clients.splice(at, 1);
  }
  return history;
}

const plays = (random: Random, defect: Defect, count: number) =>
  Array.from({ length: count }, () => isLinearizable(play(random, defect), 'start'));

describe('the checker of histories', () => {
  it('accepts what a right register does, with dead callers', () =>
    seeded('right registers', (random) => {
      const verdicts = plays(random, 'none', 200);
      expect(verdicts).not.toContain(false);
      return { accepted: verdicts.length };
    }));

  it.each<Defect>([
    'drops the old value',
    'reads stale',
    'loses what it reported',
    'refuses what it did',
    'shows what was refused',
    'swaps twice',
  ])('finds a register that %s', (defect) =>
    seeded(defect, (random) => {
      const found = plays(random, defect, 50).filter((verdict) => !verdict).length;
      // A single history can hide a defect that did not matter in it.
      expect(found).toBeGreaterThan(3);
      return { histories: 50, found };
    }),
  );

  it('does not take a dead swap for one that must have happened, nor for one that cannot', () => {
    const dead = { kind: 'swap', start: 0, end: 1, old: 'a', next: 'b', outcome: 'unknown' } as const;
    const read = (start: number, value: string) => ({ kind: 'read', start, end: start + 1, value }) as const;
    expect(isLinearizable([dead, read(2, 'a')], 'a')).toBe(true);
    expect(isLinearizable([dead, read(2, 'b')], 'a')).toBe(true);
    expect(isLinearizable([dead, read(2, 'b'), read(4, 'a')], 'a')).toBe(false);
    expect(isLinearizable([read(0, 'b'), { ...dead, start: 2, end: 3 }], 'a')).toBe(false);
  });
});
