import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Conversation } from '../model/conversation.ts';
import type { Gates } from '../model/gates.ts';
import { objectOf, stringOf } from '../model/json.ts';
import type { Script } from '../model/script.ts';
import { startModel } from '../model/server.ts';
import { CLAUDE_CODE, installClient } from './install.ts';
import { runProgram } from './program.ts';
import { messageOf } from './run.ts';
import type { World } from './world.ts';

/** Options of a run of Claude Code. */
export interface ClaudeOptions {
  readonly gates?: Gates;
  /** What the person types: each prompt follows the answer to the one before. */
  readonly prompts?: readonly string[];
  /** Default: `bypassPermissions`. Print mode refuses what would need the person's permission. */
  readonly permissionMode?: 'default' | 'acceptEdits' | 'bypassPermissions';
  /** The id of a conversation to continue. */
  readonly resume?: string;
  /** Folder of a plugin that is loaded for this run. */
  readonly plugin?: string;
}

/** What one hook process answered. (Claude Code does not show the answers of SessionEnd hooks.) */
export interface HookAnswer {
  readonly event: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number;
}

/** A finished run of Claude Code. */
export interface ClaudeRun {
  readonly status: number | null;
  /** The session id that Claude Code chose. */
  readonly session: string;
  /** All session ids of the run, oldest first: `/clear` begins a new session. */
  readonly sessions: readonly string[];
  readonly conversation: Conversation;
  readonly hooks: readonly HookAnswer[];
  /** Everything that Claude Code printed, one JSON object a line. */
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** Runs the real Claude Code in print mode in the world's repository, with a scripted model. */
export async function runClaude(
  world: World,
  script: Script,
  options: ClaudeOptions = {},
): Promise<ClaudeRun> {
  const program = installClient(CLAUDE_CODE);
  const model = await startModel(script, options.gates);
  const [first = 'go', ...later] = options.prompts ?? [];
  let answer = '';
  try {
    const ended = await runProgram(program, argumentsOf(options), {
      cwd: world.repository,
      env: { ...world.environment, ...settings(model.url) },
      input: typed(first),
      async onLine(line) {
        const { type, message } = messageOf(line);
        const { id, model: name } = objectOf(message);
        // Claude Code's own messages, such as the one about `/clear`, name this model, and no transcript has them.
        if (type === 'assistant' && name !== '<synthetic>') answer = stringOf(id);
        if (type !== 'result') return undefined;
        const next = later.shift();
        if (next === undefined) return null;
        await recorded(world, answer);
        return typed(next);
      },
    });
    const messages = ended.lines.map(messageOf);
    const results = messages.filter(({ type }) => type === 'result');
    const sessions = [...new Set(results.map((result) => stringOf(result['session_id'])))];
    const session = sessions[0] ?? '';
    return { ...ended, session, sessions, conversation: model.conversation, hooks: hookAnswers(messages) };
  } finally {
    await model.close();
  }
}

function argumentsOf({ permissionMode = 'bypassPermissions', resume, plugin }: ClaudeOptions): string[] {
  return [
    ...['--print', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
    '--include-hook-events',
    ...(permissionMode === 'bypassPermissions'
      ? ['--dangerously-skip-permissions']
      : ['--permission-mode', permissionMode]),
    ...(resume === undefined ? [] : ['--resume', resume]),
    ...(plugin === undefined ? [] : ['--plugin-dir', plugin]),
  ];
}

function settings(url: string): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'no-key',
    IS_SANDBOX: '1', // otherwise root, as in containers, may not skip permissions
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_BUG_COMMAND: '1',
  };
}

/** Milliseconds; `recorded` needs less even on the busiest machine. */
const RECORD_MS = 60_000;

/** Waits until Claude Code has written the answer to its transcript. A person would type even later. */
async function recorded(world: World, answer: string): Promise<void> {
  const folder = path.join(world.home, '.claude', 'projects');
  const files = () => readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const has = (name: string) =>
    name.endsWith('.jsonl') && readFileSync(path.join(folder, name), 'utf8').includes(answer);
  const end = Date.now() + RECORD_MS;
  while (Date.now() < end && !files().some(has)) await setTimeout(20);
}

function typed(prompt: string): string {
  return `${JSON.stringify({ type: 'user', message: { role: 'user', content: prompt } })}\n`;
}

function hookAnswers(messages: readonly Readonly<Record<string, unknown>>[]): HookAnswer[] {
  const answers = messages.filter(({ subtype }) => subtype === 'hook_response');
  return answers.map((answer) => ({
    event: stringOf(answer['hook_event']),
    stdout: stringOf(answer['stdout']),
    stderr: stringOf(answer['stderr']),
    status: Number(answer['exit_code'] ?? -1),
  }));
}
