import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Random, SEED, amount } from '../support/faults/seed.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

/**
 * Two sessions change lines of shared files and files of their own in turn, and break some. The result of `try` for a session
 * must be that of a tree with only that session's changes, unless `try` refuses because the changes cannot be separated.
 */

const SEEDS = Array.from({ length: amount(20, 500) }, (_, n) => SEED + n);
const FILES = ['one.txt', 'two.txt', 'deep/three.txt'];
const LINES = 24;

type Files = Map<string, readonly string[]>;

/** A session writes a line of a shared file or, without `at`, its own file; without `text`, it removes its own file. */
interface Act {
  readonly session: string;
  readonly path: string;
  readonly at?: number;
  readonly text?: string;
}

const base = (): Files =>
  new Map(FILES.map((path) => [path, Array.from({ length: LINES }, (_, n) => `${path} ${n}`)]));

function play(acts: readonly Act[]): Files {
  const files = base();
  for (const { path, at, text } of acts) {
    if (text === undefined) files.delete(path);
    else if (at === undefined) files.set(path, [text]);
    else files.set(path, files.get(path)?.map((line, n) => (n === at ? text : line)) ?? []);
  }
  return files;
}

const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

function actOf(random: Random, n: number): Act {
  const session = random.pick([A, B]);
  const text = `${random.below(4) === 0 ? 'BROKEN' : 'fine'} ${session.slice(0, 1)} ${n}`;
  if (random.below(4) > 0) return { session, path: random.pick(FILES), at: random.below(LINES), text };
  const path = `own-${session.slice(0, 1)}.txt`;
  return random.below(4) === 0 ? { session, path } : { session, path, text };
}

describe('what try says about one session beside another', () => {
  const total = { red: 0, green: 0, refused: 0 };
  afterAll(() => {
    const figures = Object.entries(total).map(([what, count]) => `${what} ${count}`);
    process.stdout.write(`try: ${figures.join(', ')} (seed ${SEED})\n`);
    if (SEEDS.length > 10) expect(total.refused).toBeLessThan(total.red + total.green);
  });

  it.each(SEEDS)('is the result for its changes alone (seed %i)', (seed) => {
    const random = new Random(seed);
    const files = Object.fromEntries([...base()].map(([path, lines]) => [path, textOf(lines)]));
    const world = new SharingWorld({ ready: [A, B], files });
    const acts: Act[] = [];
    try {
      for (let n = 2 + random.below(6); n > 0; n -= 1) {
        const act = actOf(random, n);
        acts.push(act);
        const lines = play(acts).get(act.path);
        if (lines !== undefined) world.wrote(act.session, act.path, textOf(lines));
        else {
          rmSync(join(world.path, act.path), { force: true });
          world.bash(act.session, 'true');
        }
      }
      const session = random.pick([A, B]);
      const check =
        "find . -name '*.txt' ! -path ./a.txt | sort | xargs cat; ! grep -rq BROKEN --include='*.txt' .";
      const run = world.handoff(['try', 'sh', '-c', check], { session, calls: 'process' });
      if (run.stderr.includes('cannot be separated')) {
        total.refused += 1;
        return;
      }
      const alone = play(acts.filter((act) => act.session === session));
      const sorted = [...alone].sort(([one], [other]) => (`./${one}` < `./${other}` ? -1 : 1));
      const text = sorted.map(([, lines]) => textOf(lines)).join('');
      const isRed = text.includes('BROKEN');
      expect({ status: run.status, text: run.stdout }).toEqual({ status: isRed ? 1 : 0, text });
      total[isRed ? 'red' : 'green'] += 1;
    } catch (error) {
      if (error instanceof Error) error.message += `\n${acts.map((act) => JSON.stringify(act)).join('\n')}`;
      throw error;
    } finally {
      world.remove();
    }
  });
});
