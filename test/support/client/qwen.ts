import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { listOf, objectOf } from '../model/json.ts';
import { call, type Script, type Turn } from '../model/script.ts';
import { QWEN_CODE } from './install.ts';
import { type ClientRun, type RunOptions, runClient } from './run.ts';
import type { World } from './world.ts';

/** A person's handwritten settings, and those that keep Qwen Code from contacting other servers. */
const SETTINGS = {
  security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false },
  // Without a version, Qwen Code would add one to the file.
  $version: 4,
};

/** Makes Qwen Code's home in the world, like that of a person who uses it. */
export function prepareQwen(world: World): void {
  const folder = path.join(world.home, '.qwen');
  mkdirSync(folder, { recursive: true });
  const settings = `// Mine.\n${JSON.stringify(SETTINGS, null, 4)}\n`;
  writeFileSync(path.join(folder, 'settings.json'), settings);
}

/** Runs the real Qwen Code in print mode in the world's repository, with a scripted model. */
export async function runQwen(world: World, script: Script, options: RunOptions = {}): Promise<ClientRun> {
  const resume = options.resume === undefined ? [] : ['--resume', options.resume];
  const run = await runClient(QWEN_CODE, world, script, options.gates, (url) => ({
    args: ['--prompt', 'go', '--yolo', '--output-format', 'json', ...resume],
    env: {
      ...world.environment,
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_MODEL: 'qwen3-coder-plus',
    },
    session: (lines) => objectOf(messagesIn(lines.join('\n'))[0])['session_id'],
  }));
  // One line holds the whole conversation. Its first message lists the hooks, tools and so on that Qwen Code knows.
  const [, ...messages] = messagesIn(run.stdout);
  return { ...run, stdout: messages.map((message) => JSON.stringify(message)).join('\n') };
}

function messagesIn(stdout: string): readonly unknown[] {
  try {
    return listOf(JSON.parse(stdout));
  } catch {
    return [];
  }
}

/** A turn in which Qwen Code runs a shell command. */
export function qwenShell(command: string, gates: Partial<Turn> = {}): Turn {
  return call('run_shell_command', { command, description: 'test', is_background: false }, gates);
}

/** A turn in which Qwen Code writes a whole file. */
export function qwenWrite(file: string, content: string): Turn {
  return call('write_file', { file_path: file, content });
}

/** A turn in which Qwen Code reads a file, as it must before it changes an existing one. */
export function qwenRead(file: string, gates: Partial<Turn> = {}): Turn {
  return call('read_file', { file_path: file }, gates);
}

/** A turn in which Qwen Code replaces a text in a file. */
export function qwenEdit(file: string, from: string, to: string): Turn {
  return call('edit', { file_path: file, old_string: from, new_string: to });
}

/** A turn in which Qwen Code hands work to a sub-agent, and waits for it. */
export function qwenAgent(prompt: string): Turn {
  const input = { description: 'test', prompt, subagent_type: 'general-purpose', run_in_background: false };
  return call('agent', input);
}
