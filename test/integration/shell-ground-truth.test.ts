import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { analyseShell } from '../../src/shell/analyse.ts';
import { Snapshot } from '../support/disk-snapshot.ts';
import { GuardWorld, HANDOFF_REF } from '../support/guard.ts';
import { diskWorld, isHit, readCorpus, readFurtherCases } from '../support/shell-world.ts';

/** What real shells do does not change, so a sample suffices; `SHELL_CASES=all` runs all, which takes minutes. */
const isSampled = (n: number, every: number) => process.env['SHELL_CASES'] === 'all' || n % every === 0;

// A world without init, so that nothing of ours stops a command.
const world = new GuardWorld({ initialised: false, marker: 'unset' });
world.commit('another of the name', { 'handoff-main-auth-refresh.md': 'unguarded\n' });
world.git(['update-ref', HANDOFF_REF, 'HEAD~1']);
const snapshot = new Snapshot(world.root);
beforeEach(() => snapshot.restore());
afterAll(() => world.remove());

const fill = (text: string) => world.fill(text).replaceAll('@PWN@', `${world.root}/canary`);

/** Whether the analysis says that a command changes the file or a handoff's ref, and whether it does when run. */
async function readAndRun(command: string, setup = '', cwd = '@CWD@') {
  if (setup !== '') world.bash(fill(setup));
  const [text, folder] = [fill(command), fill(cwd)];
  const { file, home } = world;
  const watched = [file, `${world.path}/.git/${HANDOFF_REF}`];
  const effects = await analyseShell(
    text,
    diskWorld({ cwd: folder, home, watched, environment: world.env() }),
  );
  const before = state();
  world.bash(text, { cwd: folder });
  return { hit: isHit(effects, file, world.path), mutated: state() !== before };
}

/** What should not change: the file's content, and the handoffs' refs. */
function state(): string {
  const content = existsSync(world.file) ? readFileSync(world.file, 'latin1') : 'absent';
  const refs = ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/handoffs'];
  return `${content}\n${world.run('git', refs).stdout}`;
}

describe('the corpus of hostile commands, run for real', () => {
  const cases = readCorpus()
    .filter(({ groundTruth }) => !groundTruth.startsWith('not-run'))
    .filter((_, n) => isSampled(n, 4));
  it.each(cases)(
    '$id $expect: $why',
    async ({ command, expect: expected, groundTruth, setup, cwd, owner }) => {
      const { hit, mutated } = await readAndRun(command, setup, cwd);
      if (expected !== 'deny-or-detect') expect(hit).toBe(expected === 'deny' || owner === 'caller');
      expect(mutated).toBe(groundTruth === 'mutates');
    },
  );
});

describe('further commands, run for real', () => {
  const sample = readFurtherCases().filter(({ setup }, n) => isSampled(n, setup === undefined ? 40 : 4));
  it.each(sample)('$groundTruth: $command', async ({ command, setup, groundTruth }) => {
    const mutates = groundTruth === 'mutates';
    expect(await readAndRun(command, setup)).toMatchObject({ hit: mutates, mutated: mutates });
  });
});
