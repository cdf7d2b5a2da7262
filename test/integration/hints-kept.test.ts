import { describe, expect, it } from 'vitest';
import { Random } from '../support/faults/seed.ts';
import { History } from '../support/hints/history.ts';

const SEEDS = Array.from({ length: 10 }, (_, n) => n + 1);

describe('every hint of every refusal, typed as it stands', () => {
  it.each(SEEDS)(
    'exits 0 or is refused for another reason, and nothing is lost (seed %i)',
    (seed) => {
      const history = new History(new Random(seed));
      // A history without a refusal shows nothing; a machine that is too busy to check commits does not either.
      if (history.play(20)) expect(history.typed).toBeGreaterThan(0);
    },
    600_000,
  );
});
