import { describe, expect, it } from 'vitest';
import { History } from '../support/hints/history.ts';

const SEEDS = Array.from({ length: 10 }, (_, n) => n + 1);

describe('every hint of every refusal, typed as it stands', () => {
  it.each(SEEDS)(
    'exits 0 or is refused for another reason, nothing is lost, and verdicts are as foreseen (seed %i)',
    (seed) => {
      const history = new History(seed);
      // A machine that is too busy to check commits shows nothing.
      if (history.play(20)) expect(history.figures.predicted).toBeGreaterThan(0);
      expect(history.unforeseen).toEqual([]);
    },
    600_000,
  );
});
