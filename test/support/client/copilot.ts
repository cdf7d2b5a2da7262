import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { call, type Script, type Turn } from '../model/script.ts';
import { COPILOT_CLI, COPILOT_UNPACKED, installClient } from './install.ts';
import { type ClientRun, type RunOptions, messageOf, runClient } from './run.ts';
import type { World } from './world.ts';

/** Makes Copilot CLI's home in the world. Its first start unpacks 200 MB into a cache, which all homes here share. */
export function prepareCopilot(world: World): void {
  installClient(COPILOT_CLI);
  const cache = path.join(world.home, '.cache');
  mkdirSync(cache, { recursive: true });
  if (!existsSync(path.join(cache, 'copilot'))) symlinkSync(COPILOT_UNPACKED, path.join(cache, 'copilot'));
  mkdirSync(path.join(world.home, '.copilot'), { recursive: true });
}

interface CopilotOptions extends RunOptions {
  /** Further arguments. */
  readonly args?: readonly string[];
}

/** Runs the real Copilot CLI in print mode in the world's repository, with a scripted model. */
export async function runCopilot(
  world: World,
  script: Script,
  options: CopilotOptions = {},
): Promise<ClientRun> {
  const { gates, args = [] } = options;
  return runClient(COPILOT_CLI, world, script, gates, (url) => ({
    args: ['-p', 'go', '--allow-all-tools', '--allow-all-paths', '--output-format', 'json', ...args],
    env: {
      ...world.environment,
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: 'none',
      COPILOT_MODEL: 'gpt-5.4',
      COPILOT_AUTO_UPDATE: 'false',
    },
    session: (lines) => lines.map(messageOf).find(({ type }) => type === 'result')?.['sessionId'],
  }));
}

/** A turn in which Copilot CLI runs a shell command. */
export function bash(command: string, gates: Partial<Turn> = {}): Turn {
  return call('bash', { command, description: 'test' }, gates);
}

/** A turn in which Copilot CLI applies a patch with these sections. */
export function applyPatch(...sections: readonly string[]): Turn {
  return call('apply_patch', `*** Begin Patch\n${sections.join('\n')}\n*** End Patch\n`);
}

/** A turn in which Copilot CLI starts a sub-agent and waits for it. */
export function task(prompt: string): Turn {
  const input = { agent_type: 'general-purpose', name: 'sub', description: 'sub', prompt, mode: 'sync' };
  return call('task', input);
}
