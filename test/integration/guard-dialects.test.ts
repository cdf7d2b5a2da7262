import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { CALLER, GuardWorld, type GuardWorldOptions, OWNER } from '../support/guard.ts';
import { hostileCases } from '../support/hostile-cases.ts';
import { type HookAnswer, readAnswer } from '../support/hook-answer.ts';
import { capturedPayload, capturedPayloads, type Payload } from '../support/payloads.ts';
import { type Run, TestRepository } from '../support/repository.ts';

/** What a guard process said to a client, read by that client's own rules. */
interface DialectAnswer {
  readonly kind: 'silent' | 'deny' | 'rewrite' | 'context' | 'notice';
  /** What the model or the person is told. */
  readonly text: string;
  /** The whole new input of the tool, if rewritten. */
  readonly input?: Readonly<Record<string, unknown>>;
}

type OtherClient = 'codex' | 'gemini' | 'qwen';

type Output = Readonly<Record<string, unknown>>;

/** Events for which the clients pass `additionalContext` to the model. */
const CONTEXT_EVENTS: Readonly<Record<OtherClient, readonly string[]>> = {
  codex: ['SessionStart', 'PreToolUse', 'PostToolUse', 'SubagentStart'],
  gemini: ['SessionStart', 'BeforeAgent', 'AfterTool'],
  qwen: ['SessionStart', 'PostToolUse', 'PostToolUseFailure'],
};

/**
 * Reads an answer. Fails the test unless the process exited 0, wrote nothing on stderr, and its stdout is
 * empty or one JSON object that the client would accept: Codex ignores an answer with an unknown key, Gemini CLI
 * drops context from an event that cannot have any.
 */
function readDialectAnswer(client: OtherClient, run: Run, event: string): DialectAnswer {
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  if (run.stdout === '') return { kind: 'silent', text: '' };
  const { hookSpecificOutput, ...rest } = JSON.parse(run.stdout) as Output;
  if (hookSpecificOutput === undefined) return plain(client, rest, event);
  const { hookEventName, ...specific } = hookSpecificOutput as Output;
  expect(hookEventName).toBe(event);
  if ('additionalContext' in specific) {
    expect({ keys: [...Object.keys(specific), ...Object.keys(rest)] }).toEqual({
      keys: ['additionalContext'],
    });
    expect(CONTEXT_EVENTS[client]).toContain(event);
    return { kind: 'context', text: textOf(specific['additionalContext']) };
  }
  return client === 'gemini' ? geminiRewrite(specific, rest, event) : nestedDenial(specific, rest, event);
}

function plain(client: OtherClient, output: Output, event: string): DialectAnswer {
  if ('decision' in output) {
    expect({ client, event, keys: Object.keys(output) }).toEqual({
      client: 'gemini',
      event: 'BeforeTool',
      keys: ['decision', 'reason'],
    });
    expect(output['decision']).toBe('deny');
    return { kind: 'deny', text: textOf(output['reason']) };
  }
  expect(Object.keys(output)).toEqual(['systemMessage']);
  return { kind: 'notice', text: textOf(output['systemMessage']) };
}

function nestedDenial(specific: Output, rest: Output, event: string): DialectAnswer {
  expect({ event, rest, keys: Object.keys(specific) }).toEqual({
    event: 'PreToolUse',
    rest: {},
    keys: ['permissionDecision', 'permissionDecisionReason'],
  });
  expect(specific['permissionDecision']).toBe('deny');
  return { kind: 'deny', text: textOf(specific['permissionDecisionReason']) };
}

function geminiRewrite(specific: Output, rest: Output, event: string): DialectAnswer {
  expect({ event, keys: Object.keys(specific) }).toEqual({ event: 'BeforeTool', keys: ['tool_input'] });
  const { systemMessage = '', ...more } = rest;
  expect(more).toEqual({});
  return { kind: 'rewrite', text: String(systemMessage), input: specific['tool_input'] as Output };
}

function textOf(value: unknown): string {
  expect(typeof value).toBe('string');
  expect(value).not.toBe('');
  return value as string;
}

interface ClientCase {
  readonly id: string;
  readonly client: 'claude' | OtherClient;
  readonly tool: string;
  readonly tool_input: unknown;
  readonly expect: 'deny' | 'allow' | 'rewrite';
  readonly why: string;
  readonly setup?: string;
  readonly owner?: 'caller';
  readonly marker?: 'rewrite';
  readonly platform?: string;
}

const BEFORE = {
  claude: 'PreToolUse',
  codex: 'PreToolUse',
  gemini: 'BeforeTool',
  qwen: 'PreToolUse',
} as const;
const CAPTURED_SHELL = {
  claude: 'PreToolUse-Bash',
  codex: 'PreToolUse-Bash',
  gemini: 'BeforeTool-run_shell_command',
  qwen: 'PreToolUse-run_shell_command',
} as const;
const WORDS = {
  codex: { stop: 'Stop', after: 'PostToolUse', shell: 'Bash', variable: 'CODEX_SESSION_ID' },
  gemini: {
    stop: 'AfterAgent',
    after: 'AfterTool',
    shell: 'run_shell_command',
    variable: 'GEMINI_SESSION_ID',
  },
  qwen: {
    stop: 'Stop',
    after: 'PostToolUse',
    shell: 'run_shell_command',
    variable: 'QWEN_CODE_SESSION_ID',
  },
} as const;

/** Calls the guard as a client's hook does: a captured payload with this world's folder and the test's changes. */
function hook(world: GuardWorld, client: OtherClient, payload: Payload): DialectAnswer {
  const input = JSON.stringify({ cwd: world.path, session_id: CALLER, ...payload });
  const run = world.handoff(['guard', '--client', client], { input });
  return readDialectAnswer(client, run, String(payload['hook_event_name']));
}

function beforeTool(world: GuardWorld, client: ClientCase['client'], tool: string, input: unknown) {
  const captured = capturedPayload(client, CAPTURED_SHELL[client]);
  const payload = { ...captured, session_id: CALLER, cwd: world.path, tool_name: tool, tool_input: input };
  const run = world.handoff(['guard', '--client', client], { input: JSON.stringify(payload) });
  const read = (): HookAnswer | DialectAnswer =>
    client === 'claude' ? readAnswer(run, BEFORE[client]) : readDialectAnswer(client, run, BEFORE[client]);
  return read();
}

const cases = hostileCases<ClientCase>('other-clients.json').filter(
  ({ platform }) => platform === undefined || platform.includes(process.platform),
);
const ANSWERS = { deny: 'deny', allow: 'silent', rewrite: 'rewrite' } as const;

const worlds: readonly (GuardWorldOptions & { title: string; peer?: boolean; every?: number })[] = [
  { title: 'alone in an initialised repository' },
  // How the guard reads its surroundings does not depend on the dialect, so some cases suffice.
  { title: 'beside a live session', peer: true, every: 8 },
  { title: 'in a repository without init', initialised: false, every: 8 },
];

describe.each(worlds)('hostile calls, $title', ({ peer = false, every = 1, ...options }) => {
  const variants = {
    foreign: new GuardWorld(options),
    own: new GuardWorld({ ...options, owner: CALLER }),
    rewriting: new GuardWorld({ ...options, marker: 'rewrite' }),
  };
  for (const world of Object.values(variants)) {
    world.sessionStart(CALLER);
    if (peer) world.sessionStart('sess-cccccccc-3333');
  }
  afterEach(() => variants.foreign.clean());
  afterAll(() => Object.values(variants).forEach((world) => world.remove()));

  // Cases about a session's identity need init.
  const here = cases
    .filter((_, n) => n % every === 0)
    .filter(({ why }) => options.initialised !== false || !why.includes('identity'));
  it.each(here)(
    '$client $id $why: $expect',
    ({ client, tool, tool_input, setup, owner, marker, expect: wanted }) => {
      const world =
        owner === 'caller' ? variants.own : marker === 'rewrite' ? variants.rewriting : variants.foreign;
      if (setup !== undefined) world.bash(world.fill(setup));
      const input = JSON.parse(world.fill(JSON.stringify(tool_input))) as unknown;
      expect(beforeTool(world, client, tool, input)).toMatchObject({ kind: ANSWERS[wanted] });
    },
  );
});

describe.each(['codex', 'codex-codemode', 'gemini', 'qwen'] as const)(
  'payloads captured from %s',
  (folder) => {
    const client = folder === 'codex-codemode' ? 'codex' : folder;
    const world = new GuardWorld();
    afterAll(() => world.remove());

    it.each(capturedPayloads(folder))('$name is understood, and everyday calls pass', ({ payload }) => {
      world.clearLog();
      const here = JSON.parse(JSON.stringify(payload).replaceAll('/repo', world.path)) as Payload;
      const answer = hook(world, client, here);
      const event = String(payload['hook_event_name']);
      if (event !== 'SessionStart' && event !== 'Stop') expect(answer.kind, answer.text).toBe('silent');
      expect(world.log().filter(({ kind }) => kind === 'error' || kind === 'open')).toEqual([]);
    });
  },
);

describe.each(['codex', 'gemini', 'qwen'] as const)('a session of %s', (client) => {
  const words = WORDS[client];
  const start = (session: string, source: string) => ({
    hook_event_name: 'SessionStart',
    session_id: session,
    source,
  });
  const end = (session: string, reason: string) => ({
    hook_event_name: 'SessionEnd',
    session_id: session,
    reason,
  });
  const world = (options: GuardWorldOptions = {}) => {
    const made = new GuardWorld(options);
    onTestFinished(() => made.remove());
    return made;
  };
  const record = (of: GuardWorld, session: string) =>
    of.json(['sessions', '--all']).items.find((item) => item['session'] === session);

  it('hears about the notes, is recorded under its client, and ends', () => {
    const here = world();
    const answer = hook(here, client, start(CALLER, 'startup'));
    expect(answer.kind).toBe('context');
    expect(answer.text).toContain('auth-refresh');
    expect(answer.text).toContain(OWNER.slice(0, 8));
    expect(record(here, CALLER)).toMatchObject({ client, ended: null });
    expect(hook(here, client, end(CALLER, 'exit'))).toMatchObject({ kind: 'silent' });
    expect(record(here, CALLER)).toMatchObject({ liveness: 'ended' });
  });

  it('is reminded once, by a message to the person', () => {
    const here = world();
    hook(here, client, start(CALLER, 'startup'));
    here.bash('echo more >> a.txt');
    const stop = { hook_event_name: words.stop, stop_hook_active: false };
    expect(hook(here, client, stop)).toMatchObject({ kind: 'notice' });
    expect(hook(here, client, stop)).toMatchObject({ kind: 'silent' });
  });

  it('hears after a shell command that a handoff was moved behind its back', () => {
    const here = world();
    hook(here, client, start(CALLER, 'startup'));
    const moving = 'git update-ref -d refs/handoffs/main/auth-refresh';
    here.bash(moving);
    const shell = { tool_name: words.shell, tool_input: { command: moving } };
    const answer = hook(here, client, { hook_event_name: words.after, ...shell, tool_response: 'a.txt' });
    expect(answer).toMatchObject({ kind: 'context' });
    expect(answer.text).toContain('auth-refresh');
  });

  it('gets no marker by a rewrite that would approve the call, but hears the exact line', () => {
    const here = world({ marker: 'rewrite' });
    hook(here, client, start(CALLER, 'startup'));
    const path = `${here.memory}/handoff-main-new-topic.md`;
    const line = `<!-- claude-session: ${CALLER} -->`;
    if (client === 'gemini') {
      const written = beforeTool(here, client, 'write_file', { file_path: path, content: 'goal\n', more: 1 });
      expect(written).toMatchObject({
        kind: 'rewrite',
        input: { file_path: path, content: `${line}\ngoal\n`, more: 1 },
      });
      const replaced = { file_path: path, instruction: 'x', old_string: '', new_string: 'goal\n' };
      expect(beforeTool(here, client, 'replace', replaced)).toMatchObject({
        kind: 'rewrite',
        input: { ...replaced, new_string: `${line}\ngoal\n` },
      });
      return;
    }
    if (client === 'qwen') {
      const file = (content: string) => beforeTool(here, client, 'write_file', { file_path: path, content });
      expect(file('goal\n')).toMatchObject({ kind: 'deny' });
      expect(file('goal\n')).toHaveProperty('text', expect.stringContaining(line));
      expect(file(`${line}\ngoal\n`)).toMatchObject({ kind: 'silent' });
      return;
    }
    const add = (first: string) => `*** Begin Patch\n*** Add File: ${path}\n${first}+goal\n*** End Patch\n`;
    const refused = beforeTool(here, client, 'apply_patch', { command: add('') });
    expect(refused).toMatchObject({ kind: 'deny' });
    expect(refused).toHaveProperty('text', expect.stringContaining(line));
    expect(beforeTool(here, client, 'apply_patch', { command: add(`+${line}\n`) })).toMatchObject({
      kind: 'silent',
    });
    const mcp = beforeTool(here, client, 'mcp__files__write_file', { path, content: 'goal\n' });
    expect(mcp).toMatchObject({ kind: 'deny' });
    expect(mcp).toHaveProperty('text', expect.stringContaining(line));
  });

  it('owns what it writes, by its variable', () => {
    const here = world();
    hook(here, client, start(CALLER, 'startup'));
    const env = {
      [words.variable]: CALLER,
      CODEX_THREAD_ID: client === 'codex' ? 'a-thread-of-its' : undefined,
    };
    here.ok(['write', 'new-topic', '-m', 'goal'], { env });
    expect(here.json(['show', 'new-topic'])).toMatchObject({ owner: CALLER });
  });
});

describe('doctor', () => {
  const checks = (world: TestRepository) =>
    world
      .json(['doctor'])
      .items.filter(({ check }) => String(check).startsWith('hooks ('))
      .map(({ check, status }) => `${String(check)}: ${String(status)}`);
  const repository = () => {
    const made = new TestRepository();
    onTestFinished(() => made.remove());
    return made;
  };

  it('reaches the guard through the hooks of every client', () => {
    const world = repository();
    world.ok(['init', '--yes', '--client', 'codex,gemini', '--client=claude']);
    expect(checks(world)).toEqual(['hooks (claude): ok', 'hooks (codex): ok', 'hooks (gemini): ok']);
  });

  it('ignores a client that is not in use, and warns about an unguarded one that is', () => {
    const world = repository();
    world.ok(['init', '--yes', '--client', 'codex']);
    expect(checks(world)).toEqual(['hooks (codex): ok']);
    mkdirSync(join(world.home, '.gemini'));
    expect(checks(world)).toEqual(['hooks (codex): ok', 'hooks (gemini): warning']);
  });

  it('reports a problem if nothing is guarded', () => {
    const world = repository();
    world.git(['config', 'handoff.enabled', 'true']);
    expect(checks(world)).toEqual(['hooks (claude): problem']);
  });
});
