import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { amount, seeded, Tally } from '../support/faults/seed.ts';
import { A, B, refusal, SharingWorld } from '../support/sharing-world.ts';

/** Adds seconds to every answer about the time of day, but not to the monotonic clock. */
const SOURCE = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long offset(void) { const char *text = getenv("TEST_CLOCK_OFFSET"); return text ? atol(text) : 0; }
int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int status = real(clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += offset();
  return status;
}
int gettimeofday(struct timeval *now, void *zone) {
  struct timespec exact;
  (void)zone;
  int status = clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return status;
}
time_t time(time_t *out) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (out) *out = exact.tv_sec;
  return exact.tv_sec;
}
`;

/** Why clocks cannot be moved here; `undefined` if they can. */
const NO_CLOCK: string | undefined =
  process.platform !== 'linux'
    ? 'only Linux lets a library answer for the clock'
    : spawnSync('cc', ['--version']).status === 0
      ? undefined
      : 'no C compiler is installed';

/** Sessions in one working tree on a machine whose clock jumps between calls, for all processes. */
class ClockWorld extends SharingWorld {
  /** How many seconds the clock is ahead. */
  offset = 0;
  #library = '';

  constructor() {
    super();
    this.#library = join(this.root, 'clock.so');
    const source = join(this.root, 'clock.c');
    writeFileSync(source, SOURCE);
    const words = ['-shared', '-fPIC', '-O1', '-o', this.#library, source, '-ldl'];
    const done = spawnSync('cc', words, { encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`the clock could not be built: ${done.stderr}`);
  }

  override env(extra: Readonly<Record<string, string | undefined>> = {}): Record<string, string> {
    const dates = { GIT_AUTHOR_DATE: undefined, GIT_COMMITTER_DATE: undefined };
    // The world's constructor runs programs before the library exists.
    if (!(#library in this) || this.offset === 0) return super.env({ ...dates, ...extra });
    const clock = { LD_PRELOAD: this.#library, TEST_CLOCK_OFFSET: String(this.offset) };
    return super.env({ ...dates, ...clock, ...extra });
  }
}

const DAY = 86_400;
const now = Math.floor(Date.now() / 1000);
/** Seconds by which the clock jumps: to 1970 (an empty battery), to 2099, or by an hour or a day in either direction. */
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

  it('changes neither which version of a handoff is newest nor its owner', () =>
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
