import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startGroup } from '../support/faults/process-group.ts';
import { type Random, Tally, amount, seeded } from '../support/faults/seed.ts';
import { readAnswer } from '../support/hook-answer.ts';
import { LAUNCHER } from '../support/repository.ts';
import { A, B, SharingWorld, contextText } from '../support/sharing-world.ts';

const ROUNDS = amount(12, 300);
/** A kill comes at a random moment within this many times the duration of a call. */
const GROWTH = 1.15;

it(`SIGKILL of calls that record and report changes in other worktrees, ${ROUNDS} times`, () =>
  seeded('kill between worktrees', async (random) => {
    const tally = new Tally();
    const world = new SharingWorld({ ready: [A], calls: 'process' });
    onTestFinished(() => world.remove());
    const other = world.worktree('other');
    const killed = killer(world, other, random);
    const byB = (path: string) => contextText(world.wrote(B, path, 'B\n', other));
    const changedByA = (path: string) => {
      world.wrote(A, path, 'A\n');
      return path;
    };
    world.begin(B, other);
    let span = 1000;
    for (let round = 1; round <= ROUNDS; round += 1) {
      // A kill loses at most one notice, and repeats none.
      const path = changedByA(`killed-${round}.ts`);
      writeFileSync(join(other, path), 'B\n');
      const first = await killed('PostToolUse', { tool_name: 'Write', tool_input: inputOf(path) }, span);
      const texts = [first, byB(path), byB(path)].filter((text) => text.includes('is also changed'));
      expect(texts.length).toBeLessThanOrEqual(1);
      tally.add(texts.length === 0 ? 'lost' : first === '' ? 'told by the next call' : 'told');
      const start = performance.now();
      expect(byB(changedByA(`whole-${round}.ts`))).toContain('It conflicts with yours.');
      span = (performance.now() - start) * GROWTH;
      // Wherever a session's end and start were cut off, its next start lists what changed meanwhile.
      await killed('SessionEnd', { reason: 'other' }, span);
      const meanwhile = changedByA(`meanwhile-${round}.ts`);
      await killed('SessionStart', { source: 'startup' }, span);
      world.begin(B, other);
      expect(byB(meanwhile)).toContain('It conflicts with yours.');
      expect(byB(changedByA(`after-${round}.ts`))).toContain('It conflicts with yours.');
    }
    return tally.figures;

    function inputOf(path: string) {
      return { file_path: join(other, path), content: 'B\n' };
    }
  }));

/** Starts a call of B, and kills it with all its children at a random moment within `span`. Returns its output. */
function killer(world: SharingWorld, cwd: string, random: Random) {
  return async (event: string, payload: object, span: number): Promise<string> => {
    const input = JSON.stringify({ session_id: B, hook_event_name: event, cwd, ...payload });
    const group = startGroup(world, LAUNCHER, ['guard', '--client', 'claude'], { session: B, input });
    await wait(random.next() * span);
    await group.kill();
    const run = await group.ended;
    return run.status === 0 ? contextText(readAnswer(run, event)) : '';
  };
}
