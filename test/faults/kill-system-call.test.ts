import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultWorld } from '../support/faults/fault-world.ts';
import { GitShim } from '../support/faults/git-shim.ts';
import { type Random, Tally, amount, seeded } from '../support/faults/seed.ts';
import {
  NO_STRACE,
  type Position,
  positions,
  readTrace,
  straceWords,
  wasInjected,
} from '../support/faults/strace.ts';
import { writeBehind } from '../support/faults/traced-write.ts';

const CALLS = ['rename', 'link', 'fsync', 'write', 'openat'];
let world: FaultWorld;

beforeEach(() => {
  world = new FaultWorld();
  world.mustWrite('the beginning\n');
});
afterEach(() => world.remove());

/** All positions, or in a short run all that change what others see and some of the others. */
function chosen(all: readonly Position[], random: Random, others: number): Position[] {
  const isDecisive = ({ call }: Position) => call !== 'openat' && call !== 'write';
  const rest = all.filter((at) => !isDecisive(at));
  return [...all.filter(isDecisive), ...random.sample(rest, amount(others, rest.length))];
}

const why = NO_STRACE === undefined ? '' : ` (skipped: ${NO_STRACE})`;

describe.skipIf(NO_STRACE)(`SIGKILL at a system call${why}`, () => {
  it.each(['update-ref', 'unpack-objects'])('of git %s, which the write outlives', (command) =>
    seeded(`kill git ${command}`, (random) => {
      const tally = new Tally();
      const shim = new GitShim(world);
      world.write('to count the calls\n', { env: shim.aim(command, CALLS) });
      const all = positions(readTrace(shim.trace));
      expect(all).toContainEqual({ call: command === 'update-ref' ? 'rename' : 'link', when: 2 });
      for (const { call, when } of chosen(all, random, 8)) {
        const before = world.tip();
        const text = `killed at ${call} ${when}\n`;
        const env = shim.aim(command, CALLS, { call, when, fault: 'signal=KILL' });
        const done = world.write(text, { env });
        tally.add(wasInjected(shim.trace) ? 'killed' : 'not reached');
        const told = `${text}exit ${done.status}: ${done.stderr}`;
        const where = world.whereabouts(text, done.stderr);
        expect(where, told).toBeDefined();
        expect([0, 7], told).toContain(done.status);
        if (done.status === 0) expect(where, told).toBe('tip');
        world.expectOldOrNew(before, text, done.stdout);
        tally.add(`text at the ${where ?? 'end'}`);
        if (world.writeAgain(`after ${call} ${when}\n`)) tally.add('stale locks mended');
      }
      world.expectSound();
      return tally.figures;
    }),
  );

  it('of every process that makes it', () =>
    seeded('kill every process', (random) => {
      const tally = new Tally();
      const trace = join(world.root, 'trace');
      writeBehind(world, 'to count the calls\n', straceWords(trace, CALLS));
      for (const { call, when } of chosen(positions(readTrace(trace)), random, 15)) {
        const before = world.tip();
        const text = `killed at ${call} ${when}\n`;
        const words = straceWords(trace, CALLS, { call, when, fault: 'signal=KILL' });
        const { stdout } = writeBehind(world, text, words);
        tally.add(wasInjected(trace) ? 'killed' : 'not reached');
        tally.add(world.expectOldOrNew(before, text, stdout) ? 'new tip' : 'old tip');
        if (world.writeAgain(`after ${call} ${when}\n`)) tally.add('stale locks mended');
      }
      world.expectSound();
      return tally.figures;
    }));
});
