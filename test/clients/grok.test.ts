import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { GROK_BUILD } from '../support/client/install.ts';
import { type ClientRun, expectWell, outputs, runClient } from '../support/client/run.ts';
import { createInstalledWorld, type World } from '../support/client/world.ts';
import { objectOf } from '../support/model/json.ts';
import { call, say, type Script, type Turn } from '../support/model/script.ts';

const REF = 'refs/handoffs/main/auth-refresh';

it('Grok Build is guarded by Claude Code’s hooks, and its sub-agents count as its session', async () => {
  const world = await createInstalledWorld();
  await world.output("git handoff write main/auth-refresh -m 'of a person'");
  const before = await world.output(`git rev-parse ${REF}`);
  const run = await runGrok(world, {
    turns: [
      shell(`git update-ref -d ${REF}`),
      call('monitor', { command: `git update-ref -d ${REF}`, description: 'test' }),
      shell("printf 'mine' | git handoff write main/auth-refresh"),
      replace(path.join(world.repository, 'a.txt'), 'hello', 'bye'),
      subagent('SUBAGENT'),
      shell('git handoff sessions && git handoff commit -m mine'),
      say('done'),
    ],
    agents: [{ match: 'SUBAGENT', turns: [shell('echo sub > sub.txt; git handoff sessions'), say('sub')] }],
  });
  expectWell(run);
  const told = outputs(run).join('\n');
  for (const refused of outputs(run).slice(0, 2))
    expect(refused, world.guardLog()).toContain(`would change ${REF}`);
  expect(told).toContain('git handoff take main/auth-refresh');
  expect(await world.output(`git rev-parse ${REF}`)).toBe(before);
  expect(told.match(/^\* .* live {2}grok .*$/gm)).toHaveLength(2);
  expect(await world.output('git show --format= --name-only HEAD')).toBe('a.txt\nsub.txt');
  expect(await world.output("git log -1 --format='%(trailers:key=Claude-Session-Id,valueonly)'")).toContain(
    run.session,
  );
  expect(await world.output('git status --porcelain')).toBe('');
});

/** A session asks its model for a title before it begins. */
const TITLE = say('title');

/** Turns off Grok's features that would contact other servers. */
function configure({ home }: World, address: string): void {
  const folder = path.join(home, '.grok');
  mkdirSync(folder, { recursive: true });
  const model = [
    'model = "scripted"',
    `base_url = "${address}/v1"`,
    'api_key = "none"',
    'context_window = 200000',
  ];
  const config = [
    '[cli]',
    'auto_update = false',
    '[models]',
    'default = "scripted"',
    '[model.scripted]',
    ...model,
  ];
  writeFileSync(path.join(folder, 'config.toml'), `${config.join('\n')}\n`);
}

/** Runs the real Grok Build in print mode in the world's repository, with a scripted model. */
async function runGrok(world: World, script: Script): Promise<ClientRun> {
  const titled = (one: Script): Script => ({ ...one, turns: [TITLE, ...one.turns] });
  const agents = (script.agents ?? []).map((agent) => ({ ...agent, turns: [TITLE, ...agent.turns] }));
  return runClient(GROK_BUILD, world, { ...titled(script), agents }, undefined, (url) => {
    configure(world, url);
    return {
      args: ['-p', 'go', '--always-approve', '--output-format', 'json'],
      env: world.environment,
      session: (lines) => objectOf(JSON.parse(lines.join('\n')))['sessionId'],
    };
  });
}

/** A turn in which Grok Build runs a shell command. */
function shell(command: string): Turn {
  return call('run_terminal_command', { command, description: 'test' });
}

/** A turn in which Grok Build changes a text in a file. */
function replace(file: string, from: string, to: string): Turn {
  return call('search_replace', { file_path: file, old_string: from, new_string: to });
}

/** A turn in which Grok Build starts a sub-agent and waits for it. */
function subagent(prompt: string): Turn {
  return call('spawn_subagent', { prompt, description: 'sub', background: false });
}
