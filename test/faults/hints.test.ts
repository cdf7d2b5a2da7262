import { afterAll, describe, expect, it } from 'vitest';
import { SEED, amount } from '../support/faults/seed.ts';
import { History } from './hints/history.ts';

const HISTORIES = amount(12, 200);
const STEPS = 30;
/** The percentage of refusals that may protect nobody, as far as the test can tell. Those are printed. */
const NEEDLESS_PERCENT = 5;
/** One history per seed, from `GIT_HANDOFF_SEED` on, so that a failed one can be repeated with its own seed. */
const SEEDS = Array.from({ length: HISTORIES }, (_, n) => SEED + n);

describe('sessions in one repository that act at random', () => {
  const total = { histories: 0, busy: 0, hints: 0, needless: 0 };
  afterAll(() => {
    const figures = Object.entries(total).map(([what, count]) => `${what} ${count}`);
    process.stdout.write(`hints: ${figures.join(', ')} (seed ${SEED})\n`);
    // A single history may have no refusal.
    if (total.histories > 1) expect(total.hints).toBeGreaterThan(total.histories);
    expect(total.needless).toBeLessThanOrEqual(Math.ceil((total.hints * NEEDLESS_PERCENT) / 100));
  });

  it.each(SEEDS)('lose nothing, and every hint works as printed (seed %i)', (seed) => {
    const history = new History(seed);
    const isTold = history.play(STEPS);
    total[isTold ? 'histories' : 'busy'] += 1;
    total.hints += history.hints;
    total.needless += history.needless.length;
    for (const one of history.needless) process.stdout.write(`needless (seed ${seed}): ${one}\n`);
  });
});
