import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { analyseShell } from '../../src/shell/analyse.ts';
import { ShellSandbox } from '../support/shell-sandbox.ts';
import { composeCommand, randomNumbers } from '../support/shell-commands.ts';
import { readCorpus, readFurtherCases } from '../support/shell-world.ts';

/** A run of every case and of more composed commands takes minutes: `SHELL_CASES=5000`. */
const COMPOSED = Number(process.env['SHELL_CASES'] ?? 40);
const SEED = 20_261_121;
const EVERY = COMPOSED > 1000 ? 1 : 20;

const sandbox = new ShellSandbox();
beforeEach(() => {
  sandbox.reset();
});
afterAll(() => {
  sandbox.dispose();
});

describe('the corpus, run for real', () => {
  const cases = readCorpus().filter(({ groundTruth }) => !groundTruth.startsWith('not-run'));
  it.each(cases)(
    '$id $expect: $why',
    async ({ command, expect: expected, groundTruth, setup, cwd, owner }) => {
      if (setup !== undefined) sandbox.run(sandbox.fill(setup));
      const text = sandbox.fill(command);
      const folder = sandbox.fill(cwd ?? '@CWD@');
      const effects = await analyseShell(text, sandbox.world(folder));
      const hit = sandbox.isHit(effects);
      if (expected === 'deny-or-detect') expect(hit || effects.unsure).toBe(true);
      else expect(hit).toBe(expected === 'deny' || owner === 'caller');
      const before = sandbox.state();
      sandbox.run(text, folder);
      expect(sandbox.state() !== before).toBe(groundTruth === 'mutates');
    },
  );
});

describe('further commands, run for real', () => {
  const sample = readFurtherCases().filter(({ setup }, n) => setup !== undefined || n % EVERY === 0);
  it.each(sample)('$groundTruth: $command', async ({ command, setup, groundTruth }) => {
    if (setup !== undefined) sandbox.run(sandbox.fill(setup));
    expect(await decideAndRun(command)).toEqual({
      hit: groundTruth === 'mutates',
      mutated: groundTruth === 'mutates',
    });
  });
});

describe('composed commands', () => {
  const random = randomNumbers(SEED);
  const commands = Array.from({ length: COMPOSED }, () => composeCommand(random));
  it.each(commands)('%j', async (command) => {
    const { hit, mutated } = await decideAndRun(command);
    expect(hit).toBe(mutated);
  });
});

/** What the analysis says of a command, and what it then does. */
async function decideAndRun(command: string): Promise<{ hit: boolean; mutated: boolean }> {
  const text = sandbox.fill(command);
  const hit = sandbox.isHit(await analyseShell(text, sandbox.world()));
  const before = sandbox.state();
  sandbox.run(text);
  return { hit, mutated: sandbox.state() !== before };
}
