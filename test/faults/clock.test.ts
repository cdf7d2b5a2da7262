import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClockWorld, NO_CLOCK } from '../support/faults/clock.ts';
import { Tally, amount, seeded } from '../support/faults/seed.ts';
import { A, B, refusal } from '../support/sharing-world.ts';

const DAY = 86_400;
const now = Math.floor(Date.now() / 1000);
/** Seconds to add: an empty battery, a leap to the end of the century, an hour and a day to both sides. */
const JUMPS = [DAY - now, Date.UTC(2099, 0) / 1000 - now, -3600, 3600, -DAY, DAY, 0];
const skipped = NO_CLOCK === undefined ? '' : ` (skipped: ${NO_CLOCK})`;
let world: ClockWorld;

describe.skipIf(NO_CLOCK)(`a clock that jumps${skipped}`, () => {
  beforeEach(() => {
    world = new ClockWorld();
  });
  afterEach(() => world.remove());

  it('really jumps, for Node, git and sh', () => {
    world.offset = DAY - now;
    expect(world.run('node', ['-p', 'new Date().getUTCFullYear()']).stdout).toBe('1970\n');
    expect(world.git(['var', 'GIT_COMMITTER_IDENT'])).toMatch(/ 8\d{4} \+0000$/);
    expect(world.run('date', ['+%Y']).stdout).toBe('1970\n');
  });

  it('changes neither what is newest in a handoff nor whose it is', () =>
    seeded('clock', (random) => {
      const tally = new Tally();
      const written: string[] = [];
      for (let step = 0; step < amount(24, 1000); step++) {
        world.offset = random.pick(JUMPS);
        const text = `note ${step}`;
        world.ok(['write', 'auth-refresh', '-m', text], { session: A });
        written.push(text);
        world.offset = random.pick(JUMPS);
        expect(world.ok(['show', 'auth-refresh', '--raw'])).toBe(text);
        expect(world.handoff(['write', 'auth-refresh', '-m', 'mine'], { session: B }).status).toBe(3);
        tally.add('writes');
      }
      const log = world.ok(['log', 'auth-refresh']).split('\n');
      expect(log.map((line) => /note \d+$/.exec(line)?.[0])).toEqual(written.toReversed());
      for (const offset of JUMPS) {
        world.offset = offset;
        for (const words of [['list'], ['log', 'auth-refresh'], ['sessions', '--all'], ['show']]) {
          const { stdout, stderr } = world.handoff(words);
          expect(stdout + stderr, words[0]).not.toMatch(
            /-\d+ (?:s|min|h|d|second|minute|hour|day)|NaN|Invalid/,
          );
        }
      }
      expect(world.run('git', ['fsck', '--strict', '--no-dangling']).status).toBe(0);
      return tally.figures;
    }));

  it.each(JUMPS)('by %i s loses no claim: the other session is refused before and after', (offset) => {
    world.begin(A);
    world.begin(B);
    world.write(A, 'shared.md', 'of A\n');
    refusal(world.write(B, 'shared.md', 'of B\n'));
    world.offset = offset;
    refusal(world.write(B, 'shared.md', 'of B\n'));
    expect(world.write(A, 'shared.md', 'of A, later\n').kind).not.toBe('deny');
    expect(world.bash(A, 'echo more >> src/a.ts').before.kind).not.toBe('deny');
    world.offset = 0;
    refusal(world.write(B, 'shared.md', 'of B\n'));
    refusal(world.write(B, 'src/a.ts', 'of B\n'));
    world.git(['add', 'shared.md']);
    world.offset = offset;
    expect(world.as(B, ['commit', '-qm', 'x']).status).toBe(1);
    expect(world.as(A, ['commit', '-qm', 'x', '--', 'shared.md'])).toMatchObject({ status: 0 });
  });
});
