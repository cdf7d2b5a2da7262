import { expect } from 'vitest';
import type { Conversation } from '../model/conversation.ts';
import type { Gates } from '../model/gates.ts';
import { objectOf, stringOf } from '../model/json.ts';
import type { Script } from '../model/script.ts';
import { startModel } from '../model/server.ts';
import { type ClientPackage, installClient } from './install.ts';
import { runProgram } from './program.ts';
import type { World } from './world.ts';

/** Options of a run. */
export interface RunOptions {
  readonly gates?: Gates;
  /** The client's id of a session to continue. */
  readonly resume?: string;
}

/** A finished run of a client that says little about its hooks. */
export interface ClientRun {
  readonly status: number | null;
  /** The session id that the client chose. */
  readonly session: string;
  readonly conversation: Conversation;
  /** Everything that the client printed. */
  readonly stdout: string;
  readonly stderr: string;
}

/** How to start a client for one prompt, and what of its output to keep. */
interface Start {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Finds the client's id of the session. */
  readonly session: (lines: readonly string[]) => unknown;
}

/** Runs a real client in the world's repository, with a scripted model. `start` gets the model's address. */
export async function runClient(
  client: ClientPackage,
  world: World,
  script: Script,
  gates: Gates | undefined,
  start: (url: string) => Start,
): Promise<ClientRun> {
  const program = installClient(client);
  const model = await startModel(script, gates);
  try {
    const { args, env, session } = start(model.url);
    const { status, lines, stderr } = await runProgram(program, args, {
      cwd: world.repository,
      env,
      input: null,
    });
    const stdout = lines.join('\n');
    return { status, session: stringOf(session(lines)), conversation: model.conversation, stdout, stderr };
  } finally {
    await model.close();
  }
}

/** Reads a line that may be a JSON object. */
export function messageOf(line: string): Readonly<Record<string, unknown>> {
  return line.startsWith('{') ? objectOf(JSON.parse(line) as unknown) : {};
}

/** What the model got back from each tool call, in order. */
export function outputs(run: ClientRun): string[] {
  return run.conversation.toolResults().map(({ output }) => output);
}

/** What the model was told before its first turn. */
export function beginning(run: ClientRun): string {
  return run.conversation.userTexts()[0]?.join('\n') ?? '';
}

/** Expects what holds for every run: it ended well, its script was played, and the client complained about no hook. */
export function expectWell(run: ClientRun, id = /^[0-9a-f]{8}-[0-9a-f-]{27}$/): void {
  expect(run.conversation.problems).toEqual([]);
  expect(run.status, run.stderr + run.stdout).toBe(0);
  expect(run.session).toMatch(id);
  const said = (run.stdout + run.stderr).split('\n').filter((line) => /hook/i.test(line));
  // All clients log refusals. Copilot CLI also logs what hooks tell the model, and Gemini CLI what they tell the person.
  const wanted =
    /blocked by PreToolUse hook|Tool execution blocked|Denied by preToolUse hook|guidance from postToolUse hooks|Hook system message: Handoff reminder/;
  const complaints = said.filter((line) => !wanted.test(line));
  expect(complaints).toEqual([]);
}

/** The record of a session in `git handoff sessions --json`. */
export function recordIn(output: string, session: string): Readonly<Record<string, unknown>> {
  const { items } = objectOf(JSON.parse(output));
  const records = Array.isArray(items) ? items.map(objectOf) : [];
  return objectOf(records.find((record) => record['session'] === session));
}
