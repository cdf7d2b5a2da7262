import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FaultWorld } from '../support/faults/fault-world.ts';
import { Tally, amount, seeded } from '../support/faults/seed.ts';
import { START, finished } from '../support/repository.ts';

const WRITERS = 4;
const WRITES = amount(12, 1250);
const CHORES = [
  ['gc', '--quiet', '--prune=now'],
  ['repack', '-q', '-a', '-d'],
  ['pack-refs', '--all'],
  ['repack', '-q', '-A', '-d', '--unpack-unreachable=now'],
];
let world: FaultWorld;

beforeEach(() => {
  world = new FaultWorld();
});
afterEach(() => world.remove());

/** Runs one session that writes its own topic; returns commit and text of each write that reported success. */
async function writer(name: string, tally: Tally): Promise<[string, string][]> {
  const written: [string, string][] = [];
  for (let round = 0; round < WRITES; round++) {
    const text = `${name}, round ${round}\n`;
    const words = [...START, 'write', '--json', `topic-${name}`];
    const done = await finished(world.start(process.execPath, words, { session: name, input: text }));
    tally.add(`exit ${done.status}`);
    if (done.status === 0) written.push([(JSON.parse(done.stdout) as { oid: string }).oid, text]);
    else expect(done.stderr, `exit ${done.status}`).toMatch(/your text is kept/);
  }
  return written;
}

it(`gc --prune=now, repack and pack-refs beside ${WRITERS} writers lose none of ${WRITERS * WRITES} writes`, () =>
  seeded('maintenance', async () => {
    const tally = new Tally();
    const state = { writing: true };
    const maintenance = (async () => {
      for (let chore = 0; state.writing; chore++) {
        const done = await finished(world.start('git', CHORES[chore % CHORES.length] ?? []));
        tally.add(done.status === 0 ? 'chores' : 'chores that git gave up');
        await wait(5);
      }
    })();
    const names = Array.from({ length: WRITERS }, (_, at) => `writer-${at}`);
    const writes = await Promise.all(names.map((name) => writer(name, tally)));
    state.writing = false;
    await maintenance;
    for (const [at, name] of names.entries()) {
      const chain = world.git(['rev-list', '--reverse', `refs/handoffs/main/topic-${name}`]).split('\n');
      expect(chain).toEqual(writes[at]!.map(([commit]) => commit));
      for (const [commit, text] of writes[at]!) expect(world.noteOf(commit)).toBe(text);
    }
    world.expectSound();
    return tally.figures;
  }));
