import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyChanges } from '../../src/install/changes.ts';
import { HOW_TO_INSTALL } from '../../src/install/client.ts';
import { planInit } from '../../src/install/plan-init.ts';
import { World } from './install-world.ts';

const SKILL = join('skills', 'git-handoff', 'SKILL.md');

let world: World;
const ship = (text: string) => world.write(join(world.packageRoot, SKILL), text);
beforeEach(() => {
  world = new World();
  ship('version one\n');
});
afterEach(() => world.remove());

const install = (clients = ['claude']) => world.init({ skill: true, clients });
const installed = () => join(world.home, '.claude', SKILL);
const read = (path = installed()) => readFileSync(path, 'utf8');

describe('init --skill', () => {
  it.each([
    ['claude', '.claude'],
    ['codex', '.codex'],
    ['gemini', '.gemini'],
    ['qwen', '.qwen'],
  ])('%s: in its folder %s, and gone with its folders', async (client, folder) => {
    const before = world.snapshot();
    const { plan } = await install([client]);
    expect(plan).toContain('+version one\n');
    expect(read(join(world.home, folder, SKILL))).toBe('version one\n');
    for (const again of [1, 2])
      expect([again, (await install([client])).outcome]).toEqual([again, 'unchanged']);
    expect(world.git(['status', '--porcelain'])).toBe('');
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });

  it.each([
    ['claude', 'CLAUDE_CONFIG_DIR', ''],
    ['codex', 'CODEX_HOME', ''],
    ['gemini', 'GEMINI_CLI_HOME', '.gemini'],
    ['qwen', 'QWEN_HOME', ''],
  ])('%s: %s moves it', async (client, variable, below) => {
    const folder = join(world.root, 'elsewhere');
    const env = { ...world.env, [variable]: folder };
    await world.init({ skill: true, clients: [client] }, undefined, { env });
    expect(read(join(folder, below, SKILL))).toBe('version one\n');
    expect(existsSync(join(world.home, `.${client}`))).toBe(false);
    await world.uninstall();
    expect(existsSync(folder)).toBe(false);
  });

  it('is installed for this user even if the hooks are for the project', async () => {
    const before = world.snapshot();
    await world.init({ skill: true, scope: 'project' });
    expect(read()).toBe('version one\n');
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });

  it('replaces an earlier version of ours', async () => {
    const before = world.snapshot();
    await install();
    ship('version two\n');
    await world.init();
    expect(read()).toBe('version one\n');
    await install();
    expect(read()).toBe('version two\n');
    await world.uninstall();
    ship('version one\n');
    expect(world.snapshot()).toEqual(before);
  });

  it('replaces it even after an interrupted upgrade', async () => {
    const before = world.snapshot();
    await install();
    ship('version two\n');
    const goal = { clients: ['claude'], scope: 'user', skill: true } as const;
    const { changes } = await planInit(world.context(), goal);
    expect(changes.length).toBe(2);
    await applyChanges(changes.slice(0, 1));
    expect(read()).toBe('version one\n');
    await install();
    expect(read()).toBe('version two\n');
    ship('version three\n');
    const third = await planInit(world.context(), goal);
    await applyChanges(third.changes.slice(0, 1));
    await world.uninstall();
    ship('version one\n');
    expect(world.snapshot()).toEqual(before);
  });

  it.each(['their own\n', ''])('leaves %j that somebody else put there, with a notice', async (text) => {
    world.write(installed(), text);
    const { notices } = await install();
    expect(notices.join()).toContain(`${installed()}: left as it is`);
    expect(read()).toBe(text);
    await world.uninstall();
    expect(read()).toBe(text);
  });

  it('leaves what somebody has edited, at an upgrade and at uninstall', async () => {
    await install();
    world.write(installed(), 'version one\nand more\n');
    ship('version two\n');
    expect((await install()).notices.join()).toContain(`${installed()}: left as it is`);
    expect((await world.uninstall()).notices.join()).toContain(`${installed()}: somebody edited it`);
    expect(read()).toBe('version one\nand more\n');
  });

  it('leaves a link to the same text as it is', async () => {
    const target = join(world.packageRoot, SKILL);
    world.write(join(world.home, '.claude', 'skills', 'git-handoff', 'x'), '');
    symlinkSync(target, installed());
    await install();
    await world.uninstall();
    expect(read()).toBe('version one\n');
    expect(read(target)).toBe('version one\n');
  });

  it('does not wait for a FIFO in its place', async () => {
    mkdirSync(dirname(installed()), { recursive: true });
    world.shell(`mkfifo '${installed()}'`);
    await expect(install()).rejects.toMatchObject({ code: 'environment' });
  });

  it('stays while another repository uses the hooks; --user removes it', async () => {
    const second = join(world.root, 'second');
    world.git(['init', '-q', second], world.root);
    await install();
    await world.init({}, second);
    await world.uninstall();
    expect(read()).toBe('version one\n');
    await world.uninstall({ user: true }, world.root);
    expect(existsSync(join(world.home, '.claude'))).toBe(false);
  });

  it('says so when the package lacks it', async () => {
    rmSync(join(world.packageRoot, 'skills'), { recursive: true });
    const before = world.snapshot();
    await expect(install()).rejects.toMatchObject({ code: 'environment', hint: HOW_TO_INSTALL });
    expect(world.snapshot()).toEqual(before);
  });
});
