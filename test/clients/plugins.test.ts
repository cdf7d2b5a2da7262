import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runClaude } from '../support/client/claude.ts';
import { expectHealthy } from '../support/client/expectations.ts';
import { CLAUDE_CODE, CODEX, installClient } from '../support/client/install.ts';
import { REPOSITORY } from '../support/client/paths.ts';
import { runProgram } from '../support/client/program.ts';
import { bash } from '../support/client/tools.ts';
import { createWorld } from '../support/client/world.ts';
import { say } from '../support/model/script.ts';

const PLUGIN = path.join(REPOSITORY, 'plugins', 'claude');
const REF = 'refs/handoffs/main/auth-refresh';

/** A world where nobody has typed `git handoff init`: only the plugin brings hooks. */
async function pluginWorld() {
  const world = await createWorld();
  onTestFinished(() => world.remove());
  await world.output('git config handoff.enabled true');
  await world.output(`git handoff write auth-refresh -m 'of a person'`);
  return world;
}

describe('the plugin for Claude Code', () => {
  it('refuses to throw a note away, and leaves no settings behind', async () => {
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

  it('is inert where the program is not on PATH', async () => {
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

/** Runs `<client> plugin …` in the repository, which must succeed; the home that it wrote to. */
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
    timeout: 60_000,
    input: null,
  });
  expect(status, [...lines, stderr].join('\n')).toBe(0);
  return home;
}
