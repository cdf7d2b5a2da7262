import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CALLER, GuardWorld } from '../support/guard.ts';

let world: GuardWorld;
beforeEach(() => {
  world = new GuardWorld();
});
afterEach(() => world.remove());

const hook = (name: string) => join(world.path, '.git', 'hooks', name);
const lines = () =>
  startText()
    .split('\n')
    .filter((line) => line.includes('git hooks'));

function startText(): string {
  const answer = world.sessionStart(CALLER);
  if (answer.kind !== 'context') throw new Error(`SessionStart said ${JSON.stringify(answer)}`);
  return answer.text;
}

/** Types the `init` command that a line contains. */
function follow(line: string | undefined): void {
  const command = /: (git handoff init .*)$/.exec(line ?? '')?.[1] ?? 'false';
  expect(world.run('sh', ['-c', command]).status).toBe(0);
}

it('a session hears that another program rewrote the git hooks, and how to restore ours', () => {
  expect(lines()).toEqual([]);
  writeFileSync(hook('pre-commit'), '#!/bin/sh\nexit 0\n');
  rmSync(hook('pre-push'));
  const told = lines();
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('rewrote the git hooks pre-commit, pre-push: commits go unchecked');
  expect(told[0]).toMatch(/git handoff init --yes --client none$/);
  follow(told[0]);
  expect(lines()).toEqual([]);
  expect(readFileSync(hook('pre-commit'), 'utf8')).toContain('exit 0');
});

it('the command does not register clients again', () => {
  world.ok(['uninstall', '--yes']);
  world.ok(['init', '--yes', '--client', 'codex,cursor', '--project']);
  const settings = join(world.home, '.claude', 'settings.json');
  rmSync(hook('commit-msg'));
  const [told] = lines();
  follow(told);
  expect(lines()).toEqual([]);
  expect(() => readFileSync(settings)).toThrow();
});

it('hooks that husky rewrote are reported, those that pre-commit keeps as legacy are not', () => {
  world.ok(['uninstall', '--yes']);
  const folder = join(world.path, '.husky', '_');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '.gitignore'), '*');
  writeFileSync(join(folder, 'pre-commit'), '#!/bin/sh\n', { mode: 0o755 });
  world.git(['config', 'core.hooksPath', '.husky/_']);
  world.ok(['init', '--yes']);
  expect(lines()).toEqual([]);
  renameSync(join(folder, 'pre-commit'), join(folder, 'pre-commit.legacy'));
  writeFileSync(join(folder, 'pre-commit'), '#!/bin/sh\n', { mode: 0o755 });
  expect(lines()).toEqual([]);
  rmSync(join(folder, 'pre-commit.legacy'));
  expect(lines()).toHaveLength(1);
});

it('nothing is reported if the receipt is damaged', () => {
  rmSync(hook('pre-push'));
  const receipt = join(world.path, '.git', 'handoff', 'install.json');
  for (const text of ['', '{', '[]', 'null', '{"files":[{"role":"git-hook"}]}']) {
    writeFileSync(receipt, text);
    expect(startText()).not.toContain('git hooks');
  }
});
