import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SharingWorld } from '../sharing-world.ts';

/** Answers every question for the time of day with so many seconds more; the clock of durations is left alone. */
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

/** Why clocks cannot be moved here, `undefined` when they can. */
export const NO_CLOCK: string | undefined =
  process.platform !== 'linux'
    ? 'only Linux lets a library answer for the clock'
    : spawnSync('cc', ['--version']).status === 0
      ? undefined
      : 'no C compiler is installed';

/** Sessions in one working tree on a machine whose clock is moved between calls, for every process of it. */
export class ClockWorld extends SharingWorld {
  /** Seconds that the clock is ahead. */
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
    // The constructor of the world runs programs before there is a library.
    if (!(#library in this) || this.offset === 0) return super.env({ ...dates, ...extra });
    const clock = { LD_PRELOAD: this.#library, TEST_CLOCK_OFFSET: String(this.offset) };
    return super.env({ ...dates, ...clock, ...extra });
  }
}
