import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { World } from './install-world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.remove());

const FILES = {
  claude: join('.claude', 'settings.json'),
  codex: join('.codex', 'hooks.json'),
  gemini: join('.gemini', 'settings.json'),
  qwen: join('.qwen', 'settings.json'),
  cursor: join('.cursor', 'hooks.json'),
  copilot: join('.copilot', 'hooks', 'git-handoff.json'),
};

/** Runs init; returns the clients whose settings in the home folder it wrote. */
async function chosen(
  clients: readonly string[],
  more: Parameters<World['init']>[0] & { readonly PATH?: string } = {},
): Promise<string[]> {
  const { PATH, ...options } = more;
  const env = { ...world.env, PATH: PATH ?? '/nowhere' };
  const { changed } = await world.init({ clients, ...options }, undefined, { env });
  return Object.entries(FILES).flatMap(([client, file]) =>
    changed.includes(join(world.home, file)) ? [client] : [],
  );
}

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

it('with no client named or found, init chooses Claude Code', async () => {
  expect(await chosen([])).toEqual(['claude']);
});

it.each([
  [['.codex'], ['codex']],
  [
    ['.gemini', '.claude'],
    ['claude', 'gemini'],
  ],
])('no client named, %j there: %j', async (folders, clients) => {
  for (const folder of folders) mkdirSync(join(world.home, folder));
  expect(await chosen([])).toEqual(clients);
});

it('with no client named or used so far, init chooses those on PATH', async () => {
  const bin = join(world.root, 'bin');
  for (const name of ['codex', 'cursor-agent']) put(join(bin, name), '#!/bin/sh\n', 0o755);
  put(join(bin, 'gemini'), 'not a program\n');
  expect(await chosen([], { PATH: `relative:${bin}` })).toEqual(['codex', 'cursor']);
  mkdirSync(join(world.home, '.gemini'));
  expect(await chosen([], { PATH: bin })).toEqual(['gemini']);
});

it('--client none sets up git hooks and the switch, but no settings; a second time there is nothing to do', async () => {
  mkdirSync(join(world.home, '.claude'));
  const { changed, notices } = await world.init({ clients: ['none'] });
  const theirs = Object.values(FILES).map((file) => join(world.home, file));
  expect(changed.filter((path) => theirs.includes(path))).toEqual([]);
  expect(world.git(['config', 'handoff.enabled'])).toBe('true\n');
  world.commit();
  expect(world.calls().map((line) => line.split(' ')[1])).toContain('pre-commit');
  expect(notices).toEqual(["no client's hooks are registered now; those registered earlier stay"]);
  expect(await world.init({ clients: ['none'] })).toMatchObject({ outcome: 'unchanged' });
  await world.uninstall();
  expect(world.git(['config', '--get', '--default', 'gone', 'handoff.enabled'])).toBe('gone\n');
});

it('--client none together with a client or a skill is refused', async () => {
  await expect(chosen(['none', 'codex'])).rejects.toThrow('--client none excludes all others');
  await expect(chosen(['none'], { skill: true })).rejects.toThrow('--skill needs a client');
});

it.each([
  [{ scope: 'user', clients: [] }, 'git handoff init --yes'],
  [
    { scope: 'project', clients: ['codex', 'gemini'], instructions: true },
    'git handoff init --yes --project --client codex,gemini --instructions',
  ],
  [{ scope: 'user', clients: ['none'] }, 'git handoff init --yes --client none'],
] as const)('nobody to ask for %j: the hint is the same command', async (options, hint) => {
  await expect(world.init({ yes: false, ...options })).rejects.toMatchObject({ hint });
});

it('with no client named, one whose settings cannot be edited is reported, and the others are set up', async () => {
  const broken = join(world.home, FILES.gemini);
  put(broken, '{\n  "theme": dark\n}\n');
  await expect(world.init({ clients: [] })).rejects.toMatchObject({
    hint: 'fix that file, or leave gemini out: git handoff init --client none',
  });
  mkdirSync(join(world.home, '.claude'));
  await expect(world.init({ clients: ['gemini', 'claude'] })).rejects.toMatchObject({
    hint: 'fix that file, or leave gemini out: git handoff init --client claude',
  });
  const { changed, notices } = await world.init({ clients: [] });
  expect(changed).toContain(join(world.home, FILES.claude));
  expect(changed).not.toContain(broken);
  expect(notices.join('\n')).toContain(`gemini is left out: ${broken}: not valid JSON`);
});
