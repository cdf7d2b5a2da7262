import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runsConfigHooks } from '../../src/install/config-hooks.ts';
import { TestRepository } from '../support/repository.ts';

const CONFIG_HOOKS = runsConfigHooks(execFileSync('git', ['--version'], { encoding: 'utf8' }));

let repo: TestRepository;
beforeEach(() => {
  repo = new TestRepository();
  repo.ok(['init', '--yes']);
});
afterEach(() => repo.remove());

const hook = (name: string) => join(repo.path, '.git', 'hooks', name);
const hookLines = (cwd = repo.path) =>
  repo.json(['doctor'], { cwd }).items.filter((item) => item['check'] === 'git hooks');
const types = (command: unknown) => repo.run('sh', ['-c', String(command).replace('init', 'init --yes')]);

describe('git hooks', () => {
  it('are sound after init, alone or after an existing hook', () => {
    expect(hookLines()).toMatchObject([{ status: 'ok' }]);
    repo.ok(['uninstall', '--yes']);
    writeFileSync(hook('pre-commit'), '#!/bin/sh\ntrue\n');
    chmodSync(hook('pre-commit'), 0o755);
    repo.ok(['init', '--yes']);
    expect(hookLines()).toMatchObject([{ status: 'ok' }]);
  });

  it.each([
    ['is removed', (name: string) => rmSync(hook(name)), 'is missing'],
    [
      'was written anew by another program',
      (name: string) => writeFileSync(hook(name), '#!/bin/sh\nexit 0\n'),
      'does not run git-handoff any more',
    ],
    [
      'may not be run',
      (name: string) => chmodSync(hook(name), 0o644),
      'is not executable: git does not run it',
    ],
  ])('one that %s is told, and the hint mends it', (_what, damage, expected) => {
    for (const name of ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'pre-push']) {
      damage(name);
      const items = hookLines();
      expect(items).toMatchObject([{ status: 'problem' }]);
      expect(items[0]?.['detail']).toBe(`${hook(name)} ${expected}`);
      expect(repo.handoff(['doctor']).status).toBe(1);
      expect(types(items[0]?.['hint']).status).toBe(0);
      expect(hookLines()).toMatchObject([{ status: 'ok' }]);
    }
  });

  it('of another version are reported', () => {
    const text = readFileSync(hook('pre-push'), 'utf8');
    writeFileSync(hook('pre-push'), text.replace('# What follows gets the refs, too.', '# older'));
    expect(hookLines()).toMatchObject([{ status: 'warning', hint: 'git handoff init' }]);
  });

  it('that are missing in a worktree with its own hooks are reported with that worktree', () => {
    const path = repo.worktree('other');
    expect(hookLines()).toMatchObject([{ status: 'ok' }]);
    repo.git(['config', 'core.hooksPath', '.hooks']);
    writeFileSync(join(repo.path, '.git', 'info', 'exclude'), '.hooks\n');
    for (const folder of [repo.path, path]) mkdirSync(join(folder, '.hooks'));
    expect(hookLines()).toHaveLength(8);
    repo.ok(['init', '--yes']);
    const left = hookLines();
    expect(left).toHaveLength(4);
    for (const item of left) expect(item['detail']).toContain(path);
    expect(types(left[0]?.['hint']).status).toBe(0);
    expect(hookLines()).toMatchObject([{ status: 'ok' }]);
  });

  it('in a folder shared by worktrees are reported once each', () => {
    const shared = join(repo.root, 'shared hooks');
    mkdirSync(shared);
    repo.git(['config', 'core.hooksPath', shared]);
    const items = hookLines();
    expect(items).toHaveLength(4);
    // If git can run hooks from its config, init sets up ours there.
    const [status, detail] = CONFIG_HOOKS
      ? ['problem', 'hook.handoff-pre-commit is missing']
      : ['warning', 'core.hooksPath leads outside this repository'];
    for (const item of items) expect(item).toMatchObject({ status });
    expect(items[0]?.['detail']).toContain(detail);
  });

  it('are not expected after uninstall', () => {
    repo.ok(['uninstall', '--yes']);
    expect(hookLines()).toEqual([]);
  });
});
