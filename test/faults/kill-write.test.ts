import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FaultWorld, REF, TOPIC } from '../support/faults/fault-world.ts';
import { startGroup } from '../support/faults/process-group.ts';
import { Tally, amount, seeded } from '../support/faults/seed.ts';

const KILLS = amount(60, 1000);
/** A kill comes at a random moment within this many times the duration of a write. */
const GROWTH = 1.15;
let world: FaultWorld;

beforeEach(() => {
  world = new FaultWorld();
});
afterEach(() => world.remove());

it(`SIGKILL of a whole write and its git children, ${KILLS} times at random moments`, () =>
  seeded('kill', async (random) => {
    const tally = new Tally();
    const start = performance.now();
    let tip = world.mustWrite('note 0\n');
    const span = (performance.now() - start) * GROWTH;
    for (let round = 1; round <= KILLS; round++) {
      const text = `note ${round}\n`;
      const group = startGroup(world, 'git', ['handoff', 'write', TOPIC], {
        session: world.session,
        input: text,
      });
      await wait(random.next() * span);
      await group.kill();
      const { status, stdout } = await group.ended;
      const isNew = world.expectOldOrNew(tip, text, stdout);
      if (stdout !== '') expect(isNew, 'what was reported as written').toBe(true);
      tally.add(isNew ? 'landed' : 'not begun');
      if (status === null) tally.add('killed');
      if (world.writeAgain(`after ${round}\n`)) tally.add('stale locks mended');
      tip = world.tip();
    }
    world.expectSound();
    expect(world.locks()).toEqual([]);
    expect(world.git(['rev-list', '--count', REF])).toBe(String(1 + KILLS + tally.of('landed')));
    expect(tally.of('killed')).toBeGreaterThan(KILLS / 4);
    return tally.figures;
  }));
