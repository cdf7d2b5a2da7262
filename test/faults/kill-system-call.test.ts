import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultWorld } from '../support/faults/fault-world.ts';
import { GitShim } from '../support/faults/git-shim.ts';
import { type Random, Tally, amount, seeded } from '../support/faults/seed.ts';
import { NO_STRACE, longestRun, readTrace, straceWords, wasInjected } from '../support/faults/strace.ts';

const CALLS = ['rename', 'link', 'fsync', 'write', 'openat'];
/** Calls that change what others see; a short run kills at each of these. */
const DECISIVE = ['rename', 'link', 'fsync'];
let world: FaultWorld;

beforeEach(() => {
  world = new FaultWorld();
  world.mustWrite('the beginning\n');
});
afterEach(() => world.remove());

/** The positions to kill at: all, or in a short run the decisive ones and some others. */
function positions(names: readonly string[], random: Random): number[] {
  const all = names.map((_, at) => at + 1);
  const decisive = all.filter((at) => DECISIVE.includes(names[at - 1] ?? ''));
  const others = all.filter((at) => !decisive.includes(at));
  return [...decisive, ...random.sample(others, amount(5, others.length))];
}

describe.skipIf(NO_STRACE)(
  `SIGKILL at a system call${NO_STRACE === undefined ? '' : ` (skipped: ${NO_STRACE})`}`,
  () => {
    it.each(['update-ref', 'unpack-objects'])('of git %s, which the write outlives', (command) =>
      seeded(`kill git ${command}`, (random) => {
        const tally = new Tally();
        const shim = new GitShim(world);
        world.write('to count the calls\n', { env: shim.aim(command, CALLS) });
        const names = readTrace(shim.trace).map((call) => call.name);
        expect(names).toContain(command === 'update-ref' ? 'rename' : 'link');
        for (const when of positions(names, random)) {
          const before = world.tip();
          const text = `killed at call ${when}\n`;
          const env = shim.aim(command, CALLS, { calls: CALLS, fault: 'signal=KILL', when });
          const done = world.write(text, { env });
          tally.add(wasInjected(shim.trace) ? 'killed' : 'not reached');
          world.expectOldOrNew(before, text, done.stdout);
          const where = world.whereabouts(text, done.stderr);
          expect(where, `exit ${done.status}: ${done.stderr}`).toBeDefined();
          expect(done.status === 0).toBe(done.stdout !== '');
          if (done.status === 0) expect(where).toBe('tip');
          tally.add(`text at the ${where ?? 'end'}`);
          if (world.writeAgain(`after call ${when}\n`)) tally.add('stale locks mended');
        }
        world.expectSound();
        return tally.figures;
      }),
    );

    it('of any process of the write', () =>
      seeded('kill every process', (random) => {
        const tally = new Tally();
        const trace = join(world.root, 'trace');
        const traced = (text: string, words: readonly string[]) =>
          world.run(words[0]!, [...words.slice(1), 'git', 'handoff', 'write', 'auth-refresh'], {
            session: world.session,
            input: text,
          });
        traced('to count the calls\n', straceWords(trace, CALLS));
        const most = longestRun(readTrace(trace));
        const all = Array.from({ length: most }, (_, at) => at + 1);
        for (const when of random.sample(all, amount(25, most))) {
          const before = world.tip();
          const text = `killed at call ${when}\n`;
          const words = straceWords(trace, CALLS, { calls: CALLS, fault: 'signal=KILL', when });
          const { stdout } = traced(text, words);
          tally.add(world.expectOldOrNew(before, text, stdout) ? 'new tip' : 'old tip');
          if (world.writeAgain(`after call ${when}\n`)) tally.add('stale locks mended');
        }
        world.expectSound();
        return tally.figures;
      }));
  },
);
