import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { objectOf } from '../model/json.ts';
import { call, say, type Script, type Turn } from '../model/script.ts';
import { GROK_BUILD } from './install.ts';
import { type ClientRun, type RunOptions, runClient } from './run.ts';
import type { World } from './world.ts';

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
export async function runGrok(world: World, script: Script, options: RunOptions = {}): Promise<ClientRun> {
  const titled = (one: Script): Script => ({ ...one, turns: [TITLE, ...one.turns] });
  const agents = (script.agents ?? []).map((agent) => ({ ...agent, turns: [TITLE, ...agent.turns] }));
  return runClient(GROK_BUILD, world, { ...titled(script), agents }, options.gates, (url) => {
    configure(world, url);
    return {
      args: ['-p', 'go', '--always-approve', '--output-format', 'json'],
      env: world.environment,
      session: (lines) => objectOf(JSON.parse(lines.join('\n')))['sessionId'],
    };
  });
}

/** A turn in which Grok Build runs a shell command. */
export function shell(command: string, gates: Partial<Turn> = {}): Turn {
  return call('run_terminal_command', { command, description: 'test' }, gates);
}

/** A turn in which Grok Build changes a text in a file. */
export function replace(file: string, from: string, to: string): Turn {
  return call('search_replace', { file_path: file, old_string: from, new_string: to });
}

/** A turn in which Grok Build starts a sub-agent and waits for it. */
export function subagent(prompt: string): Turn {
  return call('spawn_subagent', { prompt, description: 'sub', background: false });
}
