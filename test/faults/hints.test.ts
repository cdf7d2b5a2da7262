import { afterAll, describe, expect, it } from 'vitest';
import { SEED, amount } from '../support/faults/seed.ts';
import { History } from '../support/hints/history.ts';

const HISTORIES = amount(20, 200);
const STEPS = 30;
/** One history for each; `GIT_HANDOFF_SEED` is the first, so a failed one is played again by its own. */
const SEEDS = Array.from({ length: HISTORIES }, (_, n) => SEED + n);

describe('sessions in one repository, by chance', () => {
  const total = { histories: 0, busy: 0, hints: 0, predicted: 0 };
  afterAll(() => {
    const figures = Object.entries(total).map(([what, count]) => `${what} ${count}`);
    process.stdout.write(`hints: ${figures.join(', ')} (seed ${SEED})\n`);
    expect(total.hints).toBeGreaterThan(total.histories);
  });

  it.each(SEEDS)('lose nothing, and get no hint that does not work (seed %i)', (seed) => {
    const history = new History(seed);
    const isTold = history.play(STEPS);
    total[isTold ? 'histories' : 'busy'] += 1;
    const { hints, predicted } = history.figures;
    total.hints += hints;
    total.predicted += predicted;
  });
});
