import { afterAll, describe, expect, it } from 'vitest';
import { SEED, amount } from '../support/faults/seed.ts';
import { History } from '../support/hints/history.ts';

const HISTORIES = amount(12, 200);
const STEPS = 30;
/** The model is a program, too: so many of a hundred verdicts it may fail to foresee. They are printed. */
const UNFORESEEN_PERCENT = 5;
/** One history for each; `GIT_HANDOFF_SEED` is the first, so a failed one is played again by its own. */
const SEEDS = Array.from({ length: HISTORIES }, (_, n) => SEED + n);

describe('sessions in one repository, by chance', () => {
  const total = { histories: 0, busy: 0, hints: 0, predicted: 0, unforeseen: 0 };
  afterAll(() => {
    const figures = Object.entries(total).map(([what, count]) => `${what} ${count}`);
    process.stdout.write(`hints: ${figures.join(', ')} (seed ${SEED})\n`);
    // One alone may be without a refusal.
    if (total.histories > 1) expect(total.hints).toBeGreaterThan(total.histories);
    const verdicts = total.predicted + total.unforeseen;
    expect(total.unforeseen).toBeLessThanOrEqual(Math.ceil((verdicts * UNFORESEEN_PERCENT) / 100));
  });

  it.each(SEEDS)('lose nothing, and get no hint that does not work (seed %i)', (seed) => {
    const history = new History(seed);
    const isTold = history.play(STEPS);
    total[isTold ? 'histories' : 'busy'] += 1;
    const { hints, predicted } = history.figures;
    total.hints += hints;
    total.predicted += predicted;
    total.unforeseen += history.unforeseen.length;
    for (const one of history.unforeseen) process.stdout.write(`not foreseen (seed ${seed}): ${one}\n`);
  });
});
