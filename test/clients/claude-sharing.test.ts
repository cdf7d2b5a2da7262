import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ClaudeRun, runClaude } from '../support/client/claude.ts';
import { expectHealthy, short } from '../support/client/expectations.ts';
import { historyOf, NEXT_COMMAND } from '../support/client/sharing.ts';
import { bash, write } from '../support/client/tools.ts';
import { createInstalledWorld, type World } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { say, type Turn } from '../support/model/script.ts';

/** Runs two real sessions at the same time. */
async function both(
  world: World,
  ofA: readonly Turn[],
  ofB: readonly Turn[],
): Promise<[ClaudeRun, ClaudeRun]> {
  const gates = createGates();
  const runs = await Promise.allSettled([
    runClaude(world, { turns: [...ofA] }, { gates }),
    runClaude(world, { turns: [...ofB] }, { gates }),
  ]);
  const [a, b] = runs.map((run) => {
    if (run.status === 'rejected') throw run.reason as Error;
    expectHealthy(run.value);
    return run.value;
  });
  return [a as ClaudeRun, b as ClaudeRun];
}

const outputs = (run: ClaudeRun): string[] => run.conversation.toolResults().map(({ output }) => output);

describe('two real sessions', () => {
  it('whose folder is the parent of the repository are recorded, refused, and told what works there', async () => {
    const world = await createInstalledWorld();
    const { repository, root } = world;
    const name = path.basename(repository);
    const file = (one: string) => path.join(repository, one);
    const [a, b] = await both(
      { ...world, repository: root },
      [write(file('of-a.txt'), "A's\n"), say('done', { opens: 'A has written', waitsFor: 'B is over' })],
      [
        write(file('of-b.txt'), "B's\n", { waitsFor: 'A has written' }),
        bash(`echo "B's" > ${name}/of-a.txt`),
        bash(`cd ${name} && git stash -u`),
        bash(`rm -rf ${name}/of-a.txt`),
        bash(`git -C ${name} handoff sessions`),
        bash(`git -C ${name} add -A && git -C ${name} commit -m b`),
        bash(NEXT_COMMAND),
        say('done', { opens: 'B is over' }),
      ],
    );
    const [, overwrite, stash, remove, sessions, sweep] = outputs(b);
    for (const answer of [overwrite, stash, remove, sweep]) {
      expect(answer, world.guardLog()).toContain(short(a.session));
    }
    expect(readFileSync(file('of-a.txt'), 'utf8')).toBe("A's\n");
    expect(await historyOf(world), outputs(b).join('\n')).toMatchObject([
      { paths: ['of-b.txt'], sessions: [b.session] },
    ]);
    for (const { session } of [a, b]) expect(sessions).toContain(short(session));
    expect(await world.output('git status --porcelain')).toBe('A  of-a.txt');
  });

  it('that start in the same second keep their work separate, twenty times', async () => {
    const world = await createInstalledWorld();
    const file = (one: string) => path.join(world.repository, one);
    for (let round = 1; round <= 20; round += 1) {
      const turns = (who: 'A' | 'B', other: 'A' | 'B'): Turn[] => [
        write(file(`${who}-${round}.txt`), `${who}\n`),
        // Each has its file before either commits, and A goes first.
        bash(`git add -A && git commit -m ${who}`, {
          opens: `${who} has written`,
          waitsFor: who === 'A' ? `${other} has written` : 'A is over',
        }),
        bash(who === 'A' ? NEXT_COMMAND : 'git log -1 --format=%s'),
        say('done', { opens: `${who} is over`, waitsFor: `${other} is over` }),
      ];
      const [a, b] = await both(world, turns('A', 'B'), turns('B', 'A'));
      const told = [...outputs(a), ...outputs(b), world.guardLog()].join('\n');
      expect((await historyOf(world)).slice(-2), `round ${round}: ${told}`).toMatchObject([
        { paths: [`A-${round}.txt`], sessions: [a.session] },
        { paths: [`B-${round}.txt`], sessions: [b.session] },
      ]);
    }
  });

  it('commit their own work as told, even if one formats the whole tree', async () => {
    const world = await createInstalledWorld();
    const { repository, home } = world;
    writeFileSync(
      path.join(home, 'format.cjs'),
      `const fs = require('node:fs');
       for (const name of fs.readdirSync('.').filter((name) => name.endsWith('.txt'))) {
         fs.writeFileSync(name, fs.readFileSync(name, 'utf8').replaceAll("'", '"').trimEnd() + '\\n');
       }\n`,
    );
    const file = (one: string) => path.join(repository, one);
    await world.output('echo "cart = \'none\'" > cart.txt && git add . && git commit -qm cart');
    const [a, b] = await both(
      world,
      [
        bash(`printf "cart = 'half done'\\n" > cart.txt`),
        bash('git commit -a -m A', { opens: 'A has written', waitsFor: 'B has committed' }),
        say('done', { opens: 'A is over' }),
      ],
      [
        write(file('of-b.txt'), "b = 'done'\n\n", { waitsFor: 'A has written' }),
        bash('node ~/format.cjs'),
        bash('git add -A && git commit -m B'),
        bash(NEXT_COMMAND),
        say('done', { opens: 'B has committed', waitsFor: 'A is over' }),
      ],
    );
    const told = [...outputs(a), ...outputs(b), world.guardLog()].join('\n');
    expect((await historyOf(world)).slice(-2), told).toMatchObject([
      { paths: ['of-b.txt'], sessions: [b.session], message: 'B' },
      { paths: ['cart.txt'], sessions: [a.session], message: 'A' },
    ]);
    expect(await world.output('git show HEAD:cart.txt')).toBe('cart = "half done"');
    expect(await world.output('git status --porcelain')).toBe('');
  });
});
