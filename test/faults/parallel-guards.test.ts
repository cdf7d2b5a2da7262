import { afterEach, beforeEach, expect, it } from 'vitest';
import { GuardWorld } from '../support/guard.ts';
import { Tally, amount, seeded } from '../support/faults/seed.ts';
import { type Run, LAUNCHER, finished } from '../support/repository.ts';

const CALLS = amount(40, 400);
const RUNS = [4, 100];
const SESSIONS = 8;
let world: GuardWorld;

beforeEach(() => {
  world = new GuardWorld();
});
afterEach(() => world.remove());

/** The payload of a call. The first calls register the sessions, and the later calls are the sessions' work. */
function payload(call: number): Readonly<Record<string, unknown>> {
  const base = { session_id: `sess-guard-${call % SESSIONS}`, cwd: world.path };
  if (call < SESSIONS) return { ...base, hook_event_name: 'SessionStart', source: 'startup' };
  const event = call % 3 === 0 ? 'PostToolUse' : 'PreToolUse';
  const shell = { tool_name: 'Bash', tool_input: { command: `git log refs/heads/main # ${call}` } };
  const file = {
    tool_name: 'Edit',
    tool_input: { file_path: `${world.path}/note.txt`, old_string: 'a', new_string: 'b' },
  };
  return { ...base, hook_event_name: event, ...(call % 2 === 0 ? shell : file) };
}

const call = (number: number): Promise<Run> =>
  finished(
    world.start(LAUNCHER, ['guard', '--client', 'claude'], { input: JSON.stringify(payload(number)) }),
  );

it.each(RUNS)('hook calls, %i at a time, leave every record intact and log no lock', (atOnce) =>
  seeded(`guards, ${atOnce} at a time`, async () => {
    const tally = new Tally();
    for (let first = 0; first < Math.max(CALLS, atOnce); first += atOnce) {
      const done = await Promise.all(Array.from({ length: atOnce }, (_, at) => call(first + at)));
      for (const { status, stderr } of done) {
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
        tally.add('calls');
      }
    }
    const log = world.log();
    for (const line of log) {
      tally.add(`logged ${line['kind']}`);
      expect(JSON.stringify(line)).not.toMatch(/\.lock|File exists|cannot lock/);
    }
    const refs = world.refs('refs/handoffs-local/live');
    const records = refs.map(
      (ref) => JSON.parse(world.git(['cat-file', 'blob', ref])) as { session: string },
    );
    const known = records.map(({ session }) => session).sort();
    expect(new Set(known).size).toBe(known.length);
    // A call that took too long lets the tool pass and says so in the log. Only the next call registers its session.
    const late = log.filter((line) => line['kind'] !== 'deny').length;
    if (late === 0)
      expect(known).toEqual(
        expect.arrayContaining(Array.from({ length: SESSIONS }, (_, at) => `sess-guard-${at}`)),
      );
    if (atOnce <= 4) expect(known.length).toBeGreaterThan(0);
    expect(world.locks()).toEqual([]);
    expect(world.run('git', ['fsck', '--strict', '--no-dangling']).status).toBe(0);
    return tally.figures;
  }),
);
