import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliRegister } from '../support/faults/cli-register.ts';
import { FaultWorld } from '../support/faults/fault-world.ts';
import { isLinearizable } from '../support/faults/linearizability.ts';
import { Random, Tally, amount, seeded } from '../support/faults/seed.ts';

const HISTORIES = amount(3, 1000);
const CLIENTS = 4;
const ROUNDS = 5;
const START = 'the beginning';
let world: FaultWorld;

beforeEach(() => {
  world = new FaultWorld();
});
afterEach(() => world.remove());

/** Clients that read and swap at the same time, until each has done its rounds. */
async function record(random: Random, killed: number, dropsExpectation = false): Promise<CliRegister> {
  world.handoff(['write', 'auth-refresh', '--take', '-m', START], { session: 'sess-start' });
  const register = new CliRegister(world);
  const clients = Array.from({ length: CLIENTS }, (_, at) => {
    const own = new Random(random.below(2 ** 31));
    return register.client(`sess-${at}`, ROUNDS, own, { killed, dropsExpectation });
  });
  await Promise.all(clients);
  return register;
}

describe('reads and compare-and-swaps of one handoff', () => {
  it(`are linearizable in ${HISTORIES} histories with a quarter of the writers killed`, () =>
    seeded('histories', async (random) => {
      const tally = new Tally();
      for (let one = 0; one < HISTORIES; one++) {
        const { history, blocked } = await record(random, 0.25);
        expect(isLinearizable(history, `${START}\n`), JSON.stringify(history)).toBe(true);
        for (const operation of history) tally.add(operation.kind === 'read' ? 'reads' : operation.outcome);
        for (let count = 0; count < blocked; count++) tally.add('blocked by a lock');
        world.mendLocks();
      }
      world.expectSound();
      return tally.figures;
    }));

  it('are not when the writers forget what they read', () =>
    seeded('histories without --expect', async (random) => {
      const { history } = await record(random, 0, true);
      expect(isLinearizable(history, `${START}\n`)).toBe(false);
      return { operations: history.length };
    }));
});
