import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LAUNCHER, type RunOptions, TestRepository } from '../support/repository.ts';

/**
 * Whatever is missing, no client is stopped, no commit is refused, and `doctor` says what is wrong. The installed package
 * is a copy that tests may remove; doctor then runs from this repository.
 */
const FILES = {
  claude: join('.claude', 'settings.json'),
  codex: join('.codex', 'hooks.json'),
  gemini: join('.gemini', 'settings.json'),
  qwen: join('.qwen', 'settings.json'),
  cursor: join('.cursor', 'hooks.json'),
  copilot: join('.copilot', 'hooks', 'git-handoff.json'),
} as const;
type Client = keyof typeof FILES;
const CLIENTS = Object.keys(FILES) as Client[];

let world: TestRepository;
let installed: string;
/** Every registered command line, read while all was well. */
let lines: { client: Client; command: string }[];

beforeEach(() => {
  world = new TestRepository();
  installed = join(world.root, 'package');
  const root = dirname(dirname(LAUNCHER));
  for (const part of ['bin', 'dist', 'git-hooks', 'skills', 'schema', 'package.json'])
    cpSync(join(root, part), join(installed, part), { recursive: true });
  const init = world.run(join(installed, 'bin', 'git-handoff'), [
    'init',
    '--yes',
    '--client',
    CLIENTS.join(','),
  ]);
  expect(init.status).toBe(0);
  lines = CLIENTS.map((client) => {
    const text = readFileSync(join(world.home, FILES[client]), 'utf8');
    const [, command = ''] = /"(?:command|bash)": ("p=.*")/.exec(text) ?? [];
    return { client, command: JSON.parse(command) as string };
  });
});
afterEach(() => world.remove());

/** Expects that every line exits 0 without output, even for a call that would be refused if all were well. */
function expectClientsGoOn(
  options: RunOptions = {},
  tried = 'git update-ref -d refs/handoffs/main/x-y',
): void {
  const payload = { hook_event_name: 'PreToolUse', session_id: 's-1', cwd: world.path, tool_name: 'Bash' };
  const input = JSON.stringify({
    ...payload,
    tool_input: { command: tried },
  });
  writeFileSync(join(world.root, 'payload'), input);
  for (const { client, command } of lines) {
    const file = join(world.root, 'payload');
    const run = world.run('/bin/sh', ['-c', `(${command}) <'${file}'`], options);
    expect({ client, status: run.status, out: run.stdout + run.stderr }).toEqual({
      client,
      status: 0,
      out: '',
    });
  }
}

/** Commits as a session beside another one; returns the lines shown. */
function expectCommitGoesOn(options: RunOptions = {}): string[] {
  writeFileSync(join(world.path, 'a.txt'), `${String(performance.now())}\n`);
  const before = world.git(['rev-parse', 'HEAD']);
  const run = world.run('git', ['commit', '-qam', 'more'], { session: 's-1', ...options });
  expect(run.status, run.stderr).toBe(0);
  expect(world.git(['rev-parse', 'HEAD'])).not.toBe(before);
  return run.stderr.split('\n').filter(Boolean);
}

const problems = (options: RunOptions = {}) =>
  world
    .json(['doctor'], options)
    .items.filter(({ status }) => status === 'problem')
    .map(({ check, detail }) => `${String(check)}: ${String(detail)}`);

/** A PATH with the programs that a system has, except `programs`. */
function without(...programs: readonly string[]): { PATH: string } {
  const tools = join(world.root, 'tools');
  mkdirSync(tools, { recursive: true });
  const names = [
    'sh',
    'bash',
    'head',
    'timeout',
    'cat',
    'grep',
    'readlink',
    'date',
    'rm',
    'env',
    'git',
    'node',
  ];
  for (const name of names.filter((one) => !programs.includes(one))) {
    const path = world.run('sh', ['-c', `command -v ${name}`]).stdout.trim();
    symlinkSync(path, join(tools, name));
  }
  return { PATH: tools };
}

it('if all is well, calls are seen', () => {
  expect(problems()).toEqual([]);
});

it('the package is deleted', () => {
  rmSync(installed, { recursive: true });
  expectClientsGoOn();
  expect(expectCommitGoesOn()).toEqual([expect.stringMatching(/^git-handoff is not at .* any more/)]);
  const found = problems();
  for (const client of CLIENTS)
    expect(found).toContainEqual(
      expect.stringMatching(new RegExp(`^hooks \\(${client}\\): .*not at .* any more`)),
    );
  for (const hook of ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'pre-push'])
    expect(found).toContainEqual(expect.stringMatching(new RegExp(`hooks/${hook} runs .*which is gone`)));
  world.ok(['init', '--yes', '--client', CLIENTS.join(',')]);
  expect(problems()).toEqual([]);
});

it('the package is there in part', () => {
  renameSync(join(installed, 'dist'), join(installed, 'elsewhere'));
  expectClientsGoOn();
  expectCommitGoesOn();
  const found = problems();
  for (const client of CLIENTS) expect(found.join('\n')).toContain(`hooks (${client})`);
  const verb = world.run(join(installed, 'bin', 'git-handoff'), ['doctor']);
  expect(verb.status).toBe(7);
  expect(verb.stderr).toMatch(
    /^error: the package is incomplete.*\nhint: in a clone of git-handoff: npm ci .*\n$/,
  );
});

it('Node is missing', () => {
  writeFileSync(join(world.home, '.local', 'state', 'git-handoff', 'node'), '/gone/node\n');
  const env = without('node');
  // Codex starts a login shell, and the system's profile may find another Node.
  writeFileSync(join(world.home, '.profile'), `PATH='${env.PATH}'\n`);
  expectClientsGoOn({ env });
  expectCommitGoesOn({ env });
  const verb = world.run(join(installed, 'bin', 'git-handoff'), ['doctor'], { env });
  expect(verb.status).toBe(7);
  expect(verb.stderr).toMatch(/^error: node not found\nhint: install Node\.js/);
  // doctor itself is started with a Node that the hooks do not find.
  const program = join(installed, 'dist', 'start.cjs');
  const run = world.run(process.execPath, [program, String(process.pid), 'doctor', '--json'], { env });
  const { items } = JSON.parse(run.stdout) as { items: Record<string, string>[] };
  const found = items.filter(({ status }) => status === 'problem').map(({ check }) => check);
  expect(found).toEqual(['node', ...CLIENTS.map((client) => `hooks (${client})`)]);
});

it('Node is too old for the bundles', () => {
  const old = join(world.root, 'old node');
  // An old Node fails on a program with newer syntax.
  writeFileSync(old, '#!/bin/sh\necho "SyntaxError: Unexpected token" >&2\nexit 1\n', { mode: 0o755 });
  writeFileSync(join(world.home, '.local', 'state', 'git-handoff', 'node'), `${old}\n`);
  expectClientsGoOn();
  expectCommitGoesOn();
});

it('git is missing', () => {
  const env = without('git');
  expectClientsGoOn({ env });
  const verb = world.run(join(installed, 'bin', 'git-handoff'), ['doctor'], { env });
  expect(verb.status).toBe(7);
  expect(verb.stderr).toMatch(/^error: git could not be started.*\nhint: install git/);
});

describe('a broken settings file', () => {
  it.each(CLIENTS)('of %s: the others work, nothing is overwritten, uninstall leaves it', (client) => {
    const file = join(world.home, FILES[client]);
    const broken = `${readFileSync(file, 'utf8').trimEnd().slice(0, -1)},,`;
    writeFileSync(file, broken);
    expectClientsGoOn({}, 'ls');
    expectCommitGoesOn();
    expect(problems()).toEqual([expect.stringContaining(`hooks (${client}): ${file} is not valid JSON`)]);
    expect(world.handoff(['init', '--yes', '--client', client])).toMatchObject({ status: 2 });
    const gone = world.handoff(['uninstall', '--yes']);
    expect(gone.status).toBe(0);
    expect(gone.stdout + gone.stderr).toContain(file);
    expect(readFileSync(file, 'utf8')).toBe(broken);
  });

  it('of git: git reports it itself, and no client is stopped', () => {
    const config = join(world.path, '.git', 'config');
    const text = readFileSync(config, 'utf8');
    writeFileSync(config, `${text}[broken\n`);
    expectClientsGoOn();
    expect(world.handoff(['doctor']).status).toBe(7);
    writeFileSync(config, text);
    expectCommitGoesOn();
  });
});
