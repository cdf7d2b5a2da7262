import { describe, expect, it } from 'vitest';
import { Tally, amount, seeded } from '../support/faults/seed.ts';
import { History } from '../support/hints/history.ts';

const HISTORIES = amount(20, 200);
const STEPS = 30;

describe('sessions in one repository, by chance', () => {
  it(`get no hint that does not work in ${HISTORIES} histories`, () =>
    seeded('hints', (random) => {
      const tally = new Tally();
      let typed = 0;
      for (let n = 0; n < HISTORIES; n += 1) {
        const history = new History(random);
        tally.add(history.play(STEPS) ? 'histories' : 'too busy to tell');
        typed += history.typed;
      }
      expect(typed).toBeGreaterThan(HISTORIES);
      return { ...tally.figures, 'hints typed': typed };
    }));
});
