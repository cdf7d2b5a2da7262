import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GitRunner } from '../../src/git/run.ts';
import { runsConfigHooks } from '../../src/install/config-hooks.ts';
import { HOOK_MANAGERS } from './hook-managers.ts';
import { World } from './install-world.ts';

/**
 * git >= 2.54 runs hooks from its config. The git of this machine may be older and ignore them, so the tests run what the
 * config says as a newer git does: `sh -c '<command> "$@"' <command> <arguments>`.
 */
let world: World;
beforeEach(() => {
  world = new World();
  world.commit('first');
});
afterEach(() => world.remove());

const HOOKS = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'pre-push'];
const newer: GitRunner = async (args, options) => {
  const result = await world.runner(args, options);
  return args[0] === '--version' ? { ...result, stdout: Buffer.from('git version 2.54.1\n') } : result;
};
const init = (git: GitRunner = newer) => world.init({}, undefined, { git });

function configured(key: string): string[] {
  const run = world.shell(`git -C '${world.repository}' config --get-all '${key}'`);
  return run.output.split('\n').slice(0, -1);
}

const present = () => HOOKS.filter((hook) => configured(`hook.handoff-${hook}.event`).join() === hook);

const WAYS: Record<string, (() => void) | undefined> = {
  'husky 8': undefined,
  'core.hooksPath in the working tree': undefined,
  'core.hooksPath of all repositories': undefined,
  'no hooks folder at all': () => world.git(['config', 'core.hooksPath', '']),
};

describe.each(Object.entries(WAYS))('%s', (manager, install) => {
  beforeEach(() => (install ?? (() => HOOK_MANAGERS[manager]?.install(world, world.repository)))());

  it('git runs all four hooks from the config, init may be repeated, and uninstall restores every byte', async () => {
    const before = world.snapshot();
    const { notices, plan } = await init();
    expect(plan).toContain('+[hook "handoff-pre-commit"]');
    expect(notices.join('\n')).not.toContain('Add this line');
    expect(notices.join('\n')).toMatch(/hook\.handoff-/);
    expect(present()).toEqual(HOOKS);
    const installed = world.snapshot();
    for (let round = 2; round <= 3; round++) expect((await init()).outcome).toBe('unchanged');
    expect(world.snapshot()).toEqual(installed);
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });

  it('the config follows the package, and loses the hooks if git does not run them', async () => {
    const before = world.snapshot();
    await world.init({}, undefined, { git: newer, packageRoot: '/old' });
    await init();
    expect(configured('hook.handoff-pre-push.command').join()).toContain(world.packageRoot);
    expect(world.snapshot()['/world/repository/.git/config']).not.toContain('/old');
    await init(world.runner);
    expect(present()).toEqual([]);
    await init();
    world.git(['config', 'user.name', 'somebody']);
    await world.uninstall();
    expect(configured('user.name')).toEqual(['somebody']);
    expect(present()).toEqual([]);
    world.git(['config', '--remove-section', 'user']);
    expect(world.snapshot()).toEqual(before);
  });
});

describe('the command', () => {
  const run = (hook: string, args: string, env: Record<string, string> = {}) => {
    const [command = ''] = configured(`hook.handoff-${hook}.command`);
    return world.shell(`sh -c "$COMMAND \\"\\$@\\"" "$COMMAND" ${args}`, { COMMAND: command, ...env });
  };
  beforeEach(async () => {
    HOOK_MANAGERS['husky 8']?.install(world, world.repository);
    await init();
  });

  it('gets the arguments and passes on a refusal', () => {
    expect(run('commit-msg', "'a b' c")).toEqual({ status: 0, output: '' });
    expect(world.calls()[0]).toMatch(/^shim commit-msg 2 a b \d+$/);
    world.write(join(world.packageRoot, 'git-hooks', 'commit-msg'), '#!/bin/sh\nexit 3\n', 0o755);
    expect(run('commit-msg', 'x').status).toBe(3);
  });

  it('stops nothing if the package is gone, with one line at a commit', () => {
    rmSync(world.packageRoot, { recursive: true });
    for (const hook of HOOKS) {
      const { status, output } = run(hook, 'x');
      expect(status).toBe(0);
      const lines = output.split('\n').slice(0, -1);
      expect(lines).toHaveLength(hook === 'prepare-commit-msg' ? 1 : 0);
    }
  });
});

const real = execFileSync('git', ['--version'], { encoding: 'utf8' });
it.runIf(runsConfigHooks(real))(
  'this machine’s git runs the hooks, and commits without the package',
  async () => {
    HOOK_MANAGERS['husky 8']?.install(world, world.repository);
    await init();
    world.commit('two');
    const ran = world.calls().map((line) => line.split(' ').slice(0, 2).join(' '));
    expect(ran).toEqual(['shim pre-commit', 'shim prepare-commit-msg', 'shim commit-msg', 'mine']);
    rmSync(world.packageRoot, { recursive: true });
    world.commit('three');
    expect(world.calls()).toEqual(['mine']);
  },
);

it('once we may edit the hook files, ours move there from the config', async () => {
  const before = world.snapshot();
  world.git(['config', 'core.hooksPath', '']);
  await init();
  world.git(['config', '--unset', 'core.hooksPath']);
  await init();
  expect(present()).toEqual([]);
  world.commit();
  expect(world.calls()).toHaveLength(3);
  await world.uninstall();
  const inGit = ([path]: [string, string]) => !/\/(objects|logs|refs|index|COMMIT_EDITMSG)\b/.test(path);
  expect(Object.entries(world.snapshot()).filter(inGit)).toEqual(Object.entries(before).filter(inGit));
});

it("a person's own hooks in the config stay", async () => {
  HOOK_MANAGERS['hooks in the config']?.install(world, world.repository);
  world.git(['config', 'core.hooksPath', '/dev/null']);
  const before = world.snapshot();
  await init();
  expect(configured('hook.lint.command')).toEqual(['true']);
  await world.uninstall();
  expect(world.snapshot()).toEqual(before);
});
