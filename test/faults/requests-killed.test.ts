import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Random, Tally, amount, seeded } from '../support/faults/seed.ts';
import {
  type Injection,
  NO_STRACE,
  positions,
  readTrace,
  straceWords,
  wasInjected,
} from '../support/faults/strace.ts';
import { LAUNCHER } from '../support/repository.ts';
import { A, B, SharingWorld, refusal } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

const ASKS = /wants to edit src\/a\.ts/g;
const asked = (...texts: string[]) => texts.join('').match(ASKS)?.length ?? 0;

/** What a session is told before a command. `words` run the hook under strace. */
function runs(session: string, words: readonly string[] = []): string {
  return hook(session, { tool_name: 'Bash', tool_input: { command: 'make' } }, words);
}

/** B tries to change what A has changed, and is refused. */
const wants = (words: readonly string[] = []) =>
  hook(
    B,
    { tool_name: 'Write', tool_input: { file_path: join(world.path, 'src/a.ts'), content: 'b\n' } },
    words,
  );

function hook(session: string, tool: object, words: readonly string[]): string {
  const call = { session_id: session, cwd: world.path, hook_event_name: 'PreToolUse', ...tool };
  const [program, ...rest] = [...words, LAUNCHER, 'guard', '--client', 'claude'];
  return world.run(program, rest, { input: JSON.stringify(call) }).stdout;
}

/** strace detaches itself, so that the hook stays a child of this process, which identifies its session. */
function traced(trace: string, injection?: Injection): string[] {
  const [strace = '', ...words] = straceWords(trace, ['write'], injection);
  return [strace, '-D', ...words];
}

const why = NO_STRACE === undefined ? '' : ` (skipped: ${NO_STRACE})`;

/** Kills a hook before each of its writes, or before some in a short run. Each time A has made another change. */
function atWrites(
  random: Random,
  prepare: () => void,
  killed: (words: readonly string[]) => string,
  then: (text: string) => void,
): Tally {
  const tally = new Tally();
  const trace = join(world.root, 'trace');
  const begin = (content: string) => {
    world.git(['checkout', '-q', '--', 'src/a.ts']);
    // Without this look, A's next change would count as the same change.
    world.ok(['status']);
    world.write(A, 'src/a.ts', content);
    prepare();
  };
  begin('to count the calls\n');
  killed(traced(trace));
  const all = positions(readTrace(trace));
  for (const { when } of random.sample(all, amount(6, all.length))) {
    rmSync(trace);
    begin(`change ${when}\n`);
    const text = killed(traced(trace, { call: 'write', when, fault: 'signal=KILL' }));
    tally.add(wasInjected(trace) ? 'killed' : 'not reached');
    then(text);
  }
  return tally;
}

describe.skipIf(NO_STRACE)(`SIGKILL at a write${why}`, () => {
  it('of the refused call leaves no duplicate request', () =>
    seeded('kill who asks', (random) => {
      const tally = atWrites(
        random,
        () => undefined,
        wants,
        () => {
          refusal(world.try(B, 'src/a.ts', 'b\n'));
          expect(asked(runs(A), runs(A))).toBe(1);
        },
      );
      expect(tally.of('killed')).toBeGreaterThan(2);
      return tally.figures;
    }));

  it('of the call that delivers the request delivers it at most once', () =>
    seeded('kill who is asked', (random) => {
      const tally = atWrites(
        random,
        wants,
        (words) => runs(A, words),
        (text) => {
          expect(asked(text, runs(A), runs(A))).toBeLessThanOrEqual(1);
        },
      );
      expect(tally.of('killed')).toBeGreaterThan(2);
      return tally.figures;
    }));
});
