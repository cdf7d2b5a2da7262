import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { listOf, objectOf, stringOf } from '../model/json.ts';
import { call, type Script, type Turn } from '../model/script.ts';
import { startModel } from '../model/server.ts';
import { installClient, QWEN_CODE } from './install.ts';
import { runProgram } from './program.ts';
import type { ClientRun, RunOptions } from './run.ts';
import type { World } from './world.ts';

/** A person's handwritten settings, and those that keep Qwen Code from contacting other servers. */
const SETTINGS = {
  security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false },
  // Without this, Qwen Code would add it to the file.
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
  const program = installClient(QWEN_CODE);
  const model = await startModel(script, options.gates);
  try {
    const resume = options.resume === undefined ? [] : ['--resume', options.resume];
    const args = ['--prompt', 'go', '--yolo', '--output-format', 'json', ...resume];
    const { status, lines, stderr } = await runProgram(program, args, {
      cwd: world.repository,
      env: {
        ...world.environment,
        OPENAI_API_KEY: 'none',
        OPENAI_BASE_URL: `${model.url}/v1`,
        OPENAI_MODEL: 'qwen3-coder-plus',
      },
      input: null,
    });
    // One line holds the whole conversation. Its first message lists the hooks, tools and so on that Qwen Code knows.
    const [begin, ...messages] = messagesIn(lines.join('\n')).map(objectOf);
    const stdout = messages.map((message) => JSON.stringify(message)).join('\n');
    const session = stringOf(begin?.['session_id']);
    return { status, session, conversation: model.conversation, stdout, stderr };
  } finally {
    await model.close();
  }
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
