import type { Gates } from '../model/gates.ts';
import type { Script, Turn } from '../model/script.ts';
import { type ClaudeRun, runClaude } from './claude.ts';
import * as copilot from './copilot.ts';
import { applyPatch, exec, prepareCodex, runCodex, trustCodexHooks } from './codex.ts';
import { expectHealthy } from './expectations.ts';
import { prepareGemini, replace, runGemini, shell, writeFile } from './gemini.ts';
import { type ClientRun, expectWell } from './run.ts';
import {
  OPENCODE_ID,
  opencodeEdit,
  opencodeRead,
  opencodeShell,
  opencodeWrite,
  prepareOpencode,
  runOpencode,
  startOpencode,
} from './opencode.ts';
import { prepareQwen, qwenEdit, qwenRead, qwenShell, qwenWrite, runQwen } from './qwen.ts';
import { bash, edit, read, write } from './tools.ts';
import type { World } from './world.ts';

/** What a test makes a client do, so that one test serves all clients. Paths are relative to the repository. */
export interface Hands {
  readonly client: 'claude' | 'codex' | 'gemini' | 'qwen' | 'opencode' | 'copilot';
  /** Makes the client's home, before `git handoff init`. */
  prepare(world: World): void;
  /** What the person has to do after `git handoff init`. */
  trust(world: World): Promise<void>;
  /** Creates a file of one line, using the client's file tool. */
  create(world: World, file: string, line: string): Turn[];
  /** Replaces the only line of a file, using the client's file tool. The last of these turns calls the tool. */
  change(world: World, file: string, lines: { from: string; to: string }, gates: Partial<Turn>): Turn[];
  shell(command: string, gates?: Partial<Turn>): Turn;
  /** Runs a script, and expects the run to end well. */
  run(world: World, script: Script, gates: Gates): Promise<HandRun>;
}

/** A finished session of any client. */
export interface HandRun {
  readonly session: string;
  /** What the model got back from each tool call, in order. */
  readonly outputs: readonly string[];
  /** What the model was told about others' commits: each text, in order, with repetitions. */
  readonly news: readonly string[];
  /** What the model was told about other sessions' requests to this one: each text, with repetitions. */
  readonly requests: readonly string[];
  /** What the model was told about paths also changed in other worktrees: each text, with repetitions. */
  readonly overlaps: readonly string[];
}

/** What a client does in its own way. */
interface Ways<Run> extends Omit<Hands, 'prepare' | 'trust' | 'run'> {
  readonly prepare?: Hands['prepare'];
  readonly trust?: Hands['trust'];
  readonly start: (world: World, script: Script, options: { gates: Gates }) => Promise<Run>;
  readonly expects: (run: Run) => void;
}

const handsOf = <Run extends ClaudeRun | ClientRun>({ start, expects, ...ways }: Ways<Run>): Hands => ({
  prepare: () => undefined,
  trust: () => Promise.resolve(),
  ...ways,
  async run(world, script, gates) {
    const run = await start(world, script, { gates });
    expects(run);
    return handRun(run);
  },
});

/** Claude Code, which must read a file before it changes it. */
export const CLAUDE_HANDS = handsOf({
  client: 'claude',
  create: ({ repository }, file, line) => [write(`${repository}/${file}`, `${line}\n`)],
  change: ({ repository }, file, { from, to }, gates) => [
    { ...gates, ...read(`${repository}/${file}`) },
    edit(`${repository}/${file}`, from, to),
  ],
  shell: bash,
  start: runClaude,
  expects: expectHealthy,
});

/** Codex, whose hooks the person has trusted. */
export const CODEX_HANDS = handsOf({
  client: 'codex',
  prepare: prepareCodex,
  trust: async (world) => {
    await trustCodexHooks(world);
  },
  create: (_, file, line) => [applyPatch(`*** Add File: ${file}`, `+${line}`)],
  change: (_, file, { from, to }, gates) => [
    { ...gates, ...applyPatch(`*** Update File: ${file}`, '@@', `-${from}`, `+${to}`) },
  ],
  shell: exec,
  start: runCodex,
  expects: expectWell,
});

/** Gemini CLI, in whose shell git runs no hook and knows no configuration but the repository's. */
export const GEMINI_HANDS = handsOf({
  client: 'gemini',
  prepare: prepareGemini,
  create: ({ repository }, file, line) => [writeFile(`${repository}/${file}`, `${line}\n`)],
  change: ({ repository }, file, { from, to }, gates) => [
    { ...gates, ...replace(`${repository}/${file}`, from, to) },
  ],
  shell,
  start: runGemini,
  expects: expectWell,
});

/** Copilot CLI with a model that changes files by patches. */
export const COPILOT_HANDS = handsOf({
  client: 'copilot',
  prepare: copilot.prepareCopilot,
  create: (_, file, line) => [copilot.applyPatch(`*** Add File: ${file}`, `+${line}`)],
  change: (_, file, { from, to }, gates) => [
    { ...gates, ...copilot.applyPatch(`*** Update File: ${file}`, '@@', `-${from}`, `+${to}`) },
  ],
  shell: copilot.bash,
  start: copilot.runCopilot,
  expects: expectWell,
});

/** Qwen Code, which must read a file before it changes it. */
export const QWEN_HANDS = handsOf({
  client: 'qwen',
  prepare: prepareQwen,
  create: ({ repository }, file, line) => [qwenWrite(`${repository}/${file}`, `${line}\n`)],
  change: ({ repository }, file, { from, to }, gates) => [
    qwenRead(`${repository}/${file}`, gates),
    qwenEdit(`${repository}/${file}`, from, to),
  ],
  shell: qwenShell,
  start: runQwen,
  expects: expectWell,
});

/** OpenCode, which must read a file before it changes it. */
export const OPENCODE_HANDS = handsOf({
  client: 'opencode',
  prepare: prepareOpencode,
  trust: startOpencode,
  create: ({ repository }, file, line) => [opencodeWrite(`${repository}/${file}`, `${line}\n`)],
  change: ({ repository }, file, { from, to }, gates) => [
    opencodeRead(`${repository}/${file}`, gates),
    opencodeEdit(`${repository}/${file}`, from, to),
  ],
  shell: opencodeShell,
  start: runOpencode,
  expects: (run) => expectWell(run, OPENCODE_ID),
});

function handRun({ session, conversation }: ClaudeRun | ClientRun): HandRun {
  const outputs = conversation.toolResults().map(({ output }) => output);
  // Gemini CLI and Qwen Code escape hooks' texts as in XML.
  const heard = [...conversation.userTexts().flat(), ...outputs]
    .join('\n')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>');
  return {
    session,
    outputs,
    news: heard.match(/\b\w{8} committed [^\n.]*/g) ?? [],
    requests: heard.match(/\b\w+ \w{8} wants to [^\n]* -- \S+/g) ?? [],
    overlaps: heard.match(/\S+ (?:is|are) also changed in [^\n]* git handoff overlap/g) ?? [],
  };
}
