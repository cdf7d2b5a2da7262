import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runClaude } from '../support/client/claude.ts';
import { expectHealthy } from '../support/client/expectations.ts';
import { CLAUDE_CODE, installClient } from '../support/client/install.ts';
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
    const home = path.join((await pluginWorld()).root, 'validator');
    mkdirSync(home);
    const { status, lines, stderr } = await runProgram(
      installClient(CLAUDE_CODE),
      ['plugin', 'validate', folder],
      {
        cwd: REPOSITORY,
        env: { HOME: home, PATH: process.env['PATH'] ?? '', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
        timeout: 60_000,
        input: null,
      },
    );
    expect(status, [...lines, stderr].join('\n')).toBe(0);
  });
});
