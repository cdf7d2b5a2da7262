import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '..', '..', 'scripts', 'fresh-environment.mjs');

describe('the README on a machine with nothing but git and Node', () => {
  it.each([
    ['from the packed tarball', []],
    ['from a clone', ['--clone']],
  ])('%s: a mixed commit is refused within a minute, and uninstall leaves nothing', (_, args) => {
    const { status, stdout } = spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8' });
    const [, seconds] = /^first refused commit after (\d+\.\d) s$/m.exec(stdout) ?? [];
    expect({ status, said: seconds === undefined ? stdout : '' }).toEqual({ status: 0, said: '' });
    expect(Number(seconds)).toBeLessThanOrEqual(60);
    console.log(`first refused commit after ${seconds ?? '?'} s`);
  });
});
