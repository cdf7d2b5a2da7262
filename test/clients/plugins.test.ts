import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runClaude } from '../support/client/claude.ts';
import { expectHealthy } from '../support/client/expectations.ts';
import { prepareCopilot, runCopilot, bash as copilotShell } from '../support/client/copilot.ts';
import {
  CLAUDE_CODE,
  CODEX,
  COPILOT_CLI,
  GEMINI_CLI,
  OPENCODE,
  QWEN_CODE,
  installClient,
  type ClientPackage,
} from '../support/client/install.ts';
import { prepareGemini, runGemini, shell as geminiShell } from '../support/client/gemini.ts';
import { OPENCODE_ID, opencodeShell, prepareOpencode, runOpencode } from '../support/client/opencode.ts';
import { REPOSITORY } from '../support/client/paths.ts';
import { runProgram } from '../support/client/program.ts';
import { prepareQwen, qwenShell, runQwen } from '../support/client/qwen.ts';
import { expectWell, outputs } from '../support/client/run.ts';
import { bash } from '../support/client/tools.ts';
import { createWorld, type World } from '../support/client/world.ts';
import { say } from '../support/model/script.ts';

const PLUGIN = path.join(REPOSITORY, 'plugins', 'claude');
const REF = 'refs/handoffs/main/auth-refresh';

/** A world where nobody has typed `git handoff init`, so that only the plugin has hooks. */
async function pluginWorld() {
  const world = await createWorld();
  onTestFinished(() => world.remove());
  await world.output('git config handoff.enabled true');
  await world.output(`git handoff write auth-refresh -m 'of a person'`);
  return world;
}

describe('the plugin for Claude Code', () => {
  it('refuses to discard a note, and leaves no settings behind', async () => {
    const world = await pluginWorld();
    const before = await world.output(`git rev-parse ${REF}`);
    const run = await runClaude(
      world,
      {
        turns: [
          bash(`git update-ref -d ${REF}`),
          bash(`git handoff write auth-refresh -m mine`),
          say('done'),
        ],
      },
      { plugin: PLUGIN },
    );
    expectHealthy(run);
    const [removal, clobber] = run.conversation.toolResults();
    expect(removal, removal?.output).toMatchObject({ failed: true });
    expect(removal?.output).toContain(`would change ${REF}`);
    expect(clobber?.output).toMatch(/^Exit code 3\n/);
    expect(await world.output(`git rev-parse ${REF}`)).toBe(before);
    expect(existsSync(path.join(world.home, '.claude', 'settings.json'))).toBe(false);
  });

  it('does nothing if the program is not on PATH', async () => {
    const world = await pluginWorld();
    rmSync(path.join(world.root, 'bin', 'git-handoff'));
    const run = await runClaude(
      world,
      { turns: [bash(`git update-ref -d ${REF}`), say('done')] },
      { plugin: PLUGIN },
    );
    expectHealthy(run);
    expect(run.conversation.toolResults()[0]).toMatchObject({ failed: false });
    expect(run.hooks.length).toBeGreaterThan(0);
    for (const hook of run.hooks) expect(hook).toMatchObject({ stdout: '', stderr: '', status: 0 });
  });

  it.each([['.'], ['plugins/claude']])('%s passes `claude plugin validate`', async (folder) => {
    await plugin(CLAUDE_CODE, 'validate', folder);
  });
});

describe('the marketplaces', () => {
  it.each([CLAUDE_CODE, CODEX])('$name installs git-handoff from this repository', async (client) => {
    const home = await plugin(client, 'marketplace', 'add', REPOSITORY);
    await plugin(client, client === CODEX ? 'add' : 'install', 'git-handoff@git-handoff', { home });
    const installed = readdirSync(home, { recursive: true, encoding: 'utf8' });
    const hooks = installed.find((file) => file.endsWith(path.join('hooks', 'hooks.json')));
    const source = path.join(REPOSITORY, 'plugins', client.name, 'hooks', 'hooks.json');
    expect(readFileSync(path.join(home, hooks ?? ''), 'utf8')).toBe(readFileSync(source, 'utf8'));
  });
});

/** Runs a client's own command in the world, which must succeed. */
async function typed(world: World, client: ClientPackage, ...args: readonly string[]): Promise<void> {
  const { status, lines, stderr } = await runProgram(installClient(client), args, {
    cwd: world.repository,
    env: world.environment,
    input: null,
  });
  expect(status, [...lines, stderr].join('\n')).toBe(0);
}

/** A separate folder with the files that git tracks in this repository. */
function checkedOut(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'git-handoff-clone-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('git', ['checkout-index', '--all', `--prefix=${folder}/`], { cwd: REPOSITORY });
  return folder;
}

describe('a plugin that its client installs from this repository', () => {
  const removal = `git update-ref -d ${REF}`;
  const cases = [
    {
      client: COPILOT_CLI,
      prepare: prepareCopilot,
      commands: () => [
        ['plugin', 'marketplace', 'add', REPOSITORY],
        ['plugin', 'install', 'git-handoff@git-handoff'],
      ],
      run: (world: World) => runCopilot(world, { turns: [copilotShell(removal), say('done')] }),
    },
    {
      client: QWEN_CODE,
      prepare: prepareQwen,
      commands: () => [['extensions', 'install', path.join(REPOSITORY, 'plugins', 'qwen'), '--consent']],
      run: (world: World) => runQwen(world, { turns: [qwenShell(removal), say('done')] }),
    },
    {
      client: GEMINI_CLI,
      prepare: prepareGemini,
      // Gemini CLI copies the whole folder, which for a user is a clone.
      commands: () => [['extensions', 'install', checkedOut(), '--consent']],
      run: (world: World) => runGemini(world, { turns: [geminiShell(removal), say('done')] }),
    },
    {
      client: OPENCODE,
      prepare: prepareOpencode,
      commands: () => [['plugin', '--global', path.join(REPOSITORY, 'plugins', 'opencode')]],
      // Before OpenCode starts the first plugin, it installs what plugins may import.
      run: (world: World) => runOpencode(world, { turns: [opencodeShell(removal), say('done')] }),
    },
  ];

  it.each(cases)(
    'guards $client.name, and init leaves its settings alone',
    async ({ client, prepare, commands, run }) => {
      const world = await pluginWorld();
      prepare(world);
      for (const command of commands()) await typed(world, client, ...command);
      const before = await world.output(`git rev-parse ${REF}`);
      const ended = await run(world);
      expectWell(ended, client === OPENCODE ? OPENCODE_ID : undefined);
      expect(outputs(ended)[0], world.guardLog()).toContain(`would change ${REF}`);
      expect(await world.output(`git rev-parse ${REF}`)).toBe(before);
      expect(await world.output('git handoff init --yes 2>&1')).toContain(
        `${client.name} (its plugin has the hooks`,
      );
    },
  );
});

/** Runs `<client> plugin …` in the repository, which must succeed; returns the home that it wrote to. */
async function plugin(
  client: typeof CLAUDE_CODE,
  ...words: readonly (string | { readonly home: string })[]
): Promise<string> {
  const given = words.find((word) => typeof word !== 'string');
  const home = given?.home ?? realpathSync(mkdtempSync(path.join(tmpdir(), 'git-handoff-plugin-')));
  if (given === undefined) onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const args = ['plugin', ...words.filter((word) => typeof word === 'string')];
  const { status, lines, stderr } = await runProgram(installClient(client), args, {
    cwd: REPOSITORY,
    env: { HOME: home, PATH: process.env['PATH'] ?? '', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    input: null,
  });
  expect(status, [...lines, stderr].join('\n')).toBe(0);
  return home;
}
