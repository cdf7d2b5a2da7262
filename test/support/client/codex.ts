import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { listOf, objectOf, stringOf } from '../model/json.ts';
import type { Script, Turn } from '../model/script.ts';
import { call } from '../model/script.ts';
import { CODEX, installClient } from './install.ts';
import { runProgram } from './program.ts';
import { type ClientRun, type RunOptions, messageOf, runClient } from './run.ts';
import type { World } from './world.ts';

/** Turns off the features that would contact other servers. Each start passes the model's address. */
const CONFIG = `
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
enable_request_compression = false
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:9/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1
`;

/** Makes Codex's home in the world, like that of a person who uses it in this repository. */
export function prepareCodex(world: World): void {
  const folder = path.join(world.home, '.codex');
  mkdirSync(folder, { recursive: true });
  const project = `[projects.${JSON.stringify(world.repository)}]\ntrust_level = "trusted"\n`;
  writeFileSync(path.join(folder, 'config.toml'), CONFIG + project);
  // Codex's shell is a login shell, so /etc/profile may reset PATH.
  writeFileSync(
    path.join(world.home, '.profile'),
    `PATH='${world.environment['PATH'] ?? ''}'\nexport PATH\n`,
  );
}

/** Does what a person does with `/hooks`: trusts every hook that is registered. Returns their events. */
export async function trustCodexHooks(world: World): Promise<string[]> {
  const events: string[] = [];
  const asked = [
    { id: 1, method: 'initialize', params: { clientInfo: { name: 't', title: 't', version: '1' } } },
    { method: 'initialized' },
    { id: 2, method: 'hooks/list', params: { cwds: [world.repository] } },
  ];
  await runProgram(installClient(CODEX), ['app-server'], {
    cwd: world.repository,
    env: codexEnvironment(world),
    input: asked.map((message) => `${JSON.stringify(message)}\n`).join(''),
    onLine(line) {
      const answer = objectOf(JSON.parse(line));
      if (answer['id'] !== 2) return undefined;
      const hooks = listOf(objectOf(answer['result'])['data']).flatMap((entry) =>
        listOf(objectOf(entry)['hooks']),
      );
      for (const hook of hooks.map(objectOf)) {
        events.push(stringOf(hook['eventName']));
        const state = `[hooks.state.${JSON.stringify(hook['key'])}]\ntrusted_hash = ${JSON.stringify(hook['currentHash'])}\n`;
        appendFileSync(path.join(world.home, '.codex', 'config.toml'), state);
      }
      return null;
    },
  });
  return events.sort();
}

/** Runs the real Codex (`codex exec`) in the world's repository, with a scripted model. */
export async function runCodex(world: World, script: Script, options: RunOptions = {}): Promise<ClientRun> {
  if (!existsSync(path.join(world.home, '.codex', 'config.toml'))) prepareCodex(world);
  const resume = options.resume === undefined ? [] : ['resume', options.resume];
  return runClient(CODEX, world, script, options.gates, (url) => {
    const address = `model_providers.scripted.base_url=${JSON.stringify(`${url}/v1`)}`;
    return {
      args: ['exec', ...resume, '-c', address, ...UNASKED, '--json', 'go'],
      env: codexEnvironment(world),
      session: (lines) => lines.map(messageOf).find(({ type }) => type === 'thread.started')?.['thread_id'],
    };
  });
}

const UNASKED = ['--dangerously-bypass-approvals-and-sandbox'];

function codexEnvironment({ environment }: World): Record<string, string> {
  return { ...environment, SCRIPTED_KEY: 'none' };
}

/** A turn in which Codex runs a shell command. */
export function exec(command: string, gates: Partial<Turn> = {}): Turn {
  return call('exec_command', { cmd: command }, gates);
}

/** A turn in which Codex applies a patch with these sections. */
export function applyPatch(...sections: readonly string[]): Turn {
  return call('apply_patch', `*** Begin Patch\n${sections.join('\n')}\n*** End Patch\n`);
}
