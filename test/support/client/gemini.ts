import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { objectOf } from '../model/json.ts';
import { call, type Script, type Turn } from '../model/script.ts';
import { GEMINI_CLI } from './install.ts';
import { type ClientRun, type RunOptions, runClient } from './run.ts';
import type { World } from './world.ts';

/** A person's handwritten settings, and those that keep Gemini CLI from contacting other servers. */
const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
};

/** Makes Gemini CLI's home in the world, and a `~/.gitconfig`, as a person who uses both has them. */
export function prepareGemini(world: World): void {
  const folder = path.join(world.home, '.gemini');
  mkdirSync(folder, { recursive: true });
  const settings = `// Mine.\n${JSON.stringify(SETTINGS, null, 4)}\n`;
  writeFileSync(path.join(folder, 'settings.json'), settings);
  writeFileSync(path.join(world.home, '.gitconfig'), '[user]\n\tname = Dev\n\temail = dev@example.com\n');
}

/** Runs the real Gemini CLI in print mode in the world's repository, with a scripted model. */
export async function runGemini(world: World, script: Script, options: RunOptions = {}): Promise<ClientRun> {
  return runClient(GEMINI_CLI, world, script, options.gates, (url) => ({
    args: ['--prompt', 'go', '--yolo', '--model', 'gemini-2.5-pro', '--output-format', 'json'],
    env: { ...geminiEnvironment(world), GOOGLE_GEMINI_BASE_URL: url },
    session: (lines) => objectOf(jsonIn(lines.join('\n')))['session_id'],
  }));
}

/** The committer's identity is only in `~/.gitconfig`, which Gemini CLI's shell hides from git. */
function geminiEnvironment({ environment }: World): Record<string, string> {
  const own = Object.entries(environment).filter(([name]) => !/^GIT_(?:AUTHOR|COMMITTER)_/.test(name));
  return { ...Object.fromEntries(own), GEMINI_API_KEY: 'none', GEMINI_TELEMETRY_ENABLED: 'false' };
}

function jsonIn(stdout: string): unknown {
  try {
    return JSON.parse(stdout.slice(Math.max(0, stdout.indexOf('{'))));
  } catch {
    return undefined;
  }
}

/** A turn in which Gemini CLI runs a shell command. */
export function shell(command: string, gates: Partial<Turn> = {}): Turn {
  return call('run_shell_command', { command, description: 'test' }, gates);
}

/** A turn in which Gemini CLI writes a whole file. */
export function writeFile(file: string, content: string): Turn {
  return call('write_file', { file_path: file, content });
}

/** A turn in which Gemini CLI replaces a text in a file. */
export function replace(file: string, from: string, to: string): Turn {
  return call('replace', { file_path: file, instruction: 'test', old_string: from, new_string: to });
}
