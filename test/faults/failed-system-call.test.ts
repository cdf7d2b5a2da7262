import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultWorld } from '../support/faults/fault-world.ts';
import { GitShim } from '../support/faults/git-shim.ts';
import { type Random, Tally, amount, seeded } from '../support/faults/seed.ts';
import { NO_STRACE, positions, readTrace, straceWords, wasInjected } from '../support/faults/strace.ts';
import { type TracedWrite, writeBehind } from '../support/faults/traced-write.ts';

const ERRORS = ['ENOSPC', 'EIO', 'EACCES', 'EROFS'];
const WHOLE_CALLS = ['openat', 'rename', 'fsync', 'mkdir', 'link'];
const GIT_COMMANDS = ['cat-file', 'for-each-ref', 'unpack-objects', 'update-ref'];
const INJECTIONS = amount(40, 4000);
const WRITE_INJECTIONS = amount(24, 1000);
let world: FaultWorld;

beforeEach(() => {
  world = new FaultWorld();
  world.mustWrite('the beginning\n');
});
afterEach(() => world.remove());

/** Never silent: what was reported as done is done; of what was not, the text is kept or was never taken. */
function judge(before: string, text: string, { status, stdout, stderr, hasRead }: TracedWrite): string {
  const where = world.whereabouts(text, stderr);
  const told = `exit ${status}\n${stdout}${stderr}`;
  expect(status, told).not.toBeNull();
  expect(stderr, told).not.toContain('could NOT be kept');
  if (status === 0) {
    expect(where, told).toBe('tip');
    return 'tolerated';
  }
  if (where === 'tip') return 'applied, reported as failed';
  expect(world.tip()).toBe(before);
  if (hasRead) expect(where, told).toBeDefined();
  return where === undefined ? 'not started' : `text kept (${where})`;
}

/** One write with one failing call; the next begins without its locks. */
function play(tally: Tally, random: Random, name: string, write: (text: string) => TracedWrite): void {
  const before = world.tip();
  const text = `${name} ${random.next()}\n`;
  const done = write(text);
  tally.add(judge(before, text, done));
  if (done.status === 70) tally.add('taken for our own fault');
  if (world.locks().length > 0) world.mendLocks();
}

const why = NO_STRACE === undefined ? '' : ` (skipped: ${NO_STRACE})`;

describe.skipIf(NO_STRACE)(`a system call that fails${why}`, () => {
  it(`in any process of a write is told, with the text kept: ${INJECTIONS} of them`, () =>
    seeded('failed calls', (random) => {
      const tally = new Tally();
      const trace = join(world.root, 'trace');
      writeBehind(world, 'to count the calls\n', straceWords(trace, WHOLE_CALLS));
      const all = positions(readTrace(trace)).flatMap((at) => ERRORS.map((error) => ({ ...at, error })));
      for (let round = 0; round < INJECTIONS; round++) {
        // As many of the rare calls as of the frequent ones, which are mostly libraries being loaded.
        const kind = WHOLE_CALLS[round % WHOLE_CALLS.length];
        const { call, when, error } = random.pick(all.filter((at) => at.call === kind));
        const words = straceWords(trace, [call], { call, when, fault: `error=${error}` });
        play(tally, random, `${call} ${when} ${error}`, (text) => writeBehind(world, text, words));
        tally.add(wasInjected(trace) ? 'injected' : 'not reached');
      }
      world.mustWrite('the end\n');
      world.expectSound();
      return tally.figures;
    }));

  // Not in Node: there it would hit the pipes by which libuv and V8 wake their threads, which abort or hang.
  it(`in a write(2) of git is told, with the text kept: ${WRITE_INJECTIONS} of them`, () =>
    seeded('failed write(2)', (random) => {
      const tally = new Tally();
      const shim = new GitShim(world);
      for (let round = 0; round < WRITE_INJECTIONS; round++) {
        const command = GIT_COMMANDS[round % GIT_COMMANDS.length] ?? '';
        const error = random.pick(ERRORS);
        const injection = { call: 'write', when: 1 + random.below(6), fault: `error=${error}` } as const;
        const env = shim.aim(command, ['write'], injection);
        const name = `${command} write ${injection.when} ${error}`;
        play(tally, random, name, (text) => writeBehind(world, text, [], env));
        tally.add(wasInjected(shim.trace) ? 'injected' : 'not reached');
      }
      world.mustWrite('the end\n');
      world.expectSound();
      return tally.figures;
    }));
});
