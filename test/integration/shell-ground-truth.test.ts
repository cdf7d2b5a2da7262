import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { analyseShell } from '../../src/domain/shell/analyse.ts';
import { ShellSandbox } from '../support/shell-sandbox.ts';
import { readCorpus } from '../support/shell-world.ts';

const sandbox = new ShellSandbox();
beforeEach(() => {
  sandbox.reset();
});
afterAll(() => {
  sandbox.dispose();
});

describe('the corpus, run for real', () => {
  const cases = readCorpus().filter(({ groundTruth }) => !groundTruth.startsWith('not-run'));
  it.each(cases)('$id $expect: $why', ({ command, expect: expected, groundTruth, setup, cwd, owner }) => {
    if (setup !== undefined) sandbox.run(sandbox.fill(setup));
    const text = sandbox.fill(command);
    const folder = sandbox.fill(cwd ?? '@CWD@');
    const effects = analyseShell(text, sandbox.world(folder));
    const hit = sandbox.isHit(effects);
    if (expected === 'deny-or-detect') expect(hit || effects.unsure).toBe(true);
    else expect(hit).toBe(expected === 'deny' || owner === 'caller');
    const before = sandbox.state();
    sandbox.run(text, folder);
    expect(sandbox.state() !== before).toBe(groundTruth === 'mutates');
  });
});
