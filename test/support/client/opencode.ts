import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { call, type Script, type Turn } from '../model/script.ts';
import { installClient, OPENCODE } from './install.ts';
import { runProgram } from './program.ts';
import { type ClientRun, type RunOptions, messageOf, runClient } from './run.ts';
import type { World } from './world.ts';

/** The form of OpenCode's session ids. */
export const OPENCODE_ID = /^ses_\w{26}$/;

/** A person's settings. Each start passes the model's address. */
const SETTINGS = {
  autoupdate: false,
  share: 'disabled',
  model: 'scripted/model',
  small_model: 'scripted/model',
  permission: { bash: 'allow', edit: 'allow' },
};

/** Makes OpenCode's home in the world, like that of a person who uses it. */
export function prepareOpencode(world: World): void {
  const folder = path.join(world.home, '.config', 'opencode');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'opencode.json'), JSON.stringify(SETTINGS));
}

/** Starts OpenCode once, to create its database: if two starts create it at the same time, one may hang. */
export async function startOpencode(world: World): Promise<void> {
  const { status, stderr } = await runProgram(installClient(OPENCODE), ['session', 'list'], {
    cwd: world.repository,
    env: { ...world.environment, ...environment('http://127.0.0.1:9/v1') },
    input: null,
  });
  if (status !== 0) throw new Error(`opencode session list: ${stderr}`);
}

/** Runs the real OpenCode (`opencode run`) in the world's repository, with a scripted model. */
export async function runOpencode(
  world: World,
  script: Script,
  options: RunOptions = {},
): Promise<ClientRun> {
  const resume = options.resume === undefined ? [] : ['--session', options.resume];
  return runClient(OPENCODE, world, script, options.gates, (url) => ({
    args: ['run', '--format', 'json', ...resume, 'go'],
    env: { ...world.environment, ...environment(`${url}/v1`) },
    session: ([first = '']) => messageOf(first)['sessionID'],
  }));
}

/** The model's address, and settings that keep OpenCode from contacting other servers. */
function environment(baseURL: string): Record<string, string> {
  const model = { name: 'model', tool_call: true, limit: { context: 100_000, output: 8000 } };
  const options = { baseURL, apiKey: 'none' };
  const provider = { npm: '@ai-sdk/openai-compatible', name: 'scripted', options, models: { model } };
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify({ provider: { scripted: provider } }),
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  };
}

/** A turn in which OpenCode runs a shell command. */
export function opencodeShell(command: string, gates: Partial<Turn> = {}): Turn {
  return call('bash', { command, description: 'test' }, gates);
}

/** A turn in which OpenCode writes a whole file. */
export function opencodeWrite(file: string, content: string): Turn {
  return call('write', { filePath: file, content });
}

/** A turn in which OpenCode reads a file, as it must before it changes an existing one. */
export function opencodeRead(file: string, gates: Partial<Turn> = {}): Turn {
  return call('read', { filePath: file }, gates);
}

/** A turn in which OpenCode replaces a text in a file. */
export function opencodeEdit(file: string, from: string, to: string): Turn {
  return call('edit', { filePath: file, oldString: from, newString: to });
}

/** A turn in which OpenCode hands work to a sub-agent, and waits for it. */
export function opencodeAgent(prompt: string): Turn {
  return call('task', { description: 'test', prompt, subagent_type: 'general' });
}
