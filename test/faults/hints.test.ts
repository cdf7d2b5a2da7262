import { afterAll, describe, expect, it } from 'vitest';
import { SEED, amount } from '../support/faults/seed.ts';
import { History } from './hints/history.ts';

const HISTORIES = amount(12, 200);
const STEPS = 30;
/** So many refusals of a hundred may be for nobody's sake as far as the test can tell. They are printed. */
const NEEDLESS_PERCENT = 5;
/** One history for each; `GIT_HANDOFF_SEED` is the first, so a failed one is played again by its own. */
const SEEDS = Array.from({ length: HISTORIES }, (_, n) => SEED + n);

describe('sessions in one repository that work by chance', () => {
  const total = { histories: 0, busy: 0, hints: 0, needless: 0 };
  afterAll(() => {
    const figures = Object.entries(total).map(([what, count]) => `${what} ${count}`);
    process.stdout.write(`hints: ${figures.join(', ')} (seed ${SEED})\n`);
    // One alone may be without a refusal.
    if (total.histories > 1) expect(total.hints).toBeGreaterThan(total.histories);
    expect(total.needless).toBeLessThanOrEqual(Math.ceil((total.hints * NEEDLESS_PERCENT) / 100));
  });

  it.each(SEEDS)('sessions lose nothing, and every hint works as it is typed (seed %i)', (seed) => {
    const history = new History(seed);
    const isTold = history.play(STEPS);
    total[isTold ? 'histories' : 'busy'] += 1;
    total.hints += history.hints;
    total.needless += history.needless.length;
    for (const one of history.needless) process.stdout.write(`needless (seed ${seed}): ${one}\n`);
  });
});
