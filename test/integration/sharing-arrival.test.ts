import { afterEach, beforeEach, describe, it } from 'vitest';
import { HeldStart, STEPS, worksApart } from '../support/held-start.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld();
});
afterEach(() => world.remove());

const steps = Object.entries(STEPS);
/** A third of all pairs of steps at which the starts are held. */
const pairs = steps.flatMap(([one, first], n) =>
  steps.filter((_, m) => (n + m) % 3 === 0).map(([other, second]) => [one, other, first, second]),
);

describe('two sessions that start at once, each held once', () => {
  it.each(pairs)('before %s and before %s', async (_, __, first = '', second = '') => {
    const a = new HeldStart(world, A, first);
    await a.reached();
    const b = new HeldStart(world, B, second);
    await b.reached();
    await a.goOn();
    await b.goOn();
    worksApart(world);
  });
});
