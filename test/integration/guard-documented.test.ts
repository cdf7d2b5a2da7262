import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { CALLER, GuardWorld, type GuardWorldOptions, OWNER, markedNote } from '../support/guard.ts';
import { type Payload, capturedPayload, capturedPayloads } from '../support/payloads.ts';

/**
 * Cursor and Copilot CLI, tested against their documentation: payloads go through the command line that `init` registers,
 * and the vendors' rules interpret the answers. test/clients/ runs Copilot CLI itself.
 */
const CLIENTS = {
  cursor: {
    folder: 'cursor-documented',
    session: 'conversation_id',
    settings: join('.cursor', 'hooks.json'),
    start: 'sessionStart',
    end: 'sessionEnd',
    before: 'preToolUse-Write',
    shell: 'preToolUse-Shell',
    afterShell: 'postToolUse-Shell',
    write: (path: string, content = 'mine\n') => ({ file_path: path, content }),
    reason: (answer: Payload) => (answer['permission'] === 'deny' ? answer['agent_message'] : undefined),
    context: (answer: Payload) => answer['additional_context'],
  },
  copilot: {
    folder: 'copilot-documented',
    session: 'session_id',
    settings: join('.copilot', 'hooks', 'git-handoff.json'),
    start: 'SessionStart',
    end: 'SessionEnd',
    before: 'PreToolUse-Write',
    shell: 'PreToolUse-Bash',
    afterShell: 'PostToolUse-Bash',
    write: (path: string, content = 'mine\n') => ({ path, file_text: content }),
    reason: (answer: Payload) =>
      answer['permissionDecision'] === 'deny' ? answer['permissionDecisionReason'] : undefined,
    context: (answer: Payload) => answer['additionalContext'],
  },
} as const;

type Client = keyof typeof CLIENTS;

interface Answer {
  readonly stdout: string;
  readonly denied: string | undefined;
  readonly told: string | undefined;
}

function open(client: Client, options: GuardWorldOptions = {}): GuardWorld {
  const world = new GuardWorld(options);
  onTestFinished(() => world.remove());
  world.ok(['init', '--yes', '--client', client]);
  return world;
}

/** Makes one call as the client does: runs the registered line in a shell, in the folder of the user's settings. */
function call(
  world: GuardWorld,
  client: Client,
  name: string,
  change: object = {},
  session = CALLER,
): Answer {
  const of = CLIENTS[client];
  const captured = JSON.stringify(capturedPayload(of.folder, name)).replaceAll('/repo', world.path);
  const payload = { ...(JSON.parse(captured) as Payload), [of.session]: session, ...change };
  const event = String(payload['hook_event_name']);
  const line = registeredLine(world, client, event);
  const run = world.run('sh', ['-c', line], { cwd: world.home, input: JSON.stringify(payload) });
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  if (run.stdout === '') return { stdout: '', denied: undefined, told: undefined };
  const answer = JSON.parse(run.stdout) as Payload;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return { stdout: run.stdout, denied: text(of.reason(answer)), told: text(of.context(answer)) };
}

function registeredLine(world: GuardWorld, client: Client, event: string): string {
  type Handler = Readonly<Record<string, string>>;
  const text = readFileSync(join(world.home, CLIENTS[client].settings), 'utf8');
  const { hooks } = JSON.parse(text) as { hooks: Record<string, Handler[]> };
  const [handler] = hooks[event] ?? [];
  const line = handler?.['command'] ?? handler?.['bash'];
  if (line === undefined) throw new Error(`${client} has no hook for ${event}`);
  return line;
}

const NAMES = ['cursor', 'copilot'] as const;

describe.each(NAMES)('a session of %s', (client) => {
  const of = CLIENTS[client];

  it('hears about the notes, is recorded under its client, and ends', () => {
    const world = open(client);
    const start = call(world, client, of.start);
    expect(start.told).toContain('auth-refresh');
    expect(start.told).toContain(OWNER.slice(0, 8));
    const record = () => world.json(['sessions', '--all']).items.find((item) => item['session'] === CALLER);
    expect(record()).toMatchObject({ client, ended: null });
    expect(call(world, client, of.end).stdout).toBe('');
    expect(record()).toMatchObject({ liveness: 'ended' });
  });

  it("may write its own handoff, but not another session's, by a file tool or a command", () => {
    const world = open(client);
    call(world, client, of.start);
    const write = { tool_input: of.write(world.file) };
    expect(call(world, client, of.before, write).denied).toContain(OWNER.slice(0, 8));
    const command = { tool_input: { command: `echo mine > "${world.file}"` } };
    expect(call(world, client, of.shell, command).denied).toContain(OWNER.slice(0, 8));
    const named = { tool_input: { command: 'git update-ref -d refs/handoffs/main/auth-refresh' } };
    expect(call(world, client, of.shell, named).denied).toBeDefined();
    const own = { tool_input: of.write(world.file, markedNote(OWNER, 'more\n')) };
    expect(call(world, client, of.before, own, OWNER).stdout).toBe('');
    expect(call(world, client, of.before, { tool_input: of.write(join(world.path, 'b.txt')) }).stdout).toBe(
      '',
    );
    expect(call(world, client, of.shell).stdout).toBe('');
  });

  it('may not overwrite what another live session changed in the same worktree', () => {
    const world = open(client);
    const path = join(world.path, 'a.txt');
    call(world, client, of.start);
    call(world, client, of.start, {}, OWNER);
    const write = { tool_input: of.write(path) };
    expect(call(world, client, of.before, write, OWNER).stdout).toBe('');
    writeFileSync(path, 'mine\n');
    const after = of.before.replace(/^(p)re/, 'post').replace(/^(P)re/, 'Post');
    call(world, client, after, write, OWNER);
    expect(call(world, client, of.before, write).denied).toContain(OWNER.slice(0, 8));
  });

  it('hears after a command what was moved behind its back', () => {
    const world = open(client);
    call(world, client, of.start);
    const moving = 'git update-ref -d refs/handoffs/main/auth-refresh';
    world.bash(moving);
    expect(call(world, client, of.afterShell, { tool_input: { command: moving } }).told).toContain(
      'auth-refresh',
    );
  });

  it('is not stopped if the package is gone', () => {
    const world = open(client);
    const line = registeredLine(world, client, of.start);
    const gone = line.replace('/bin/git-handoff', '/gone/git-handoff');
    expect(gone).not.toBe(line);
    const run = world.run('sh', ['-c', gone]);
    expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });
});

describe('sub-agents of Copilot CLI', () => {
  const [AGENT, DEEPER] = ['b055b639-85c0-4c3b-b034-8cf9b71fff1a', '0f3c5c5e-74d6-42ba-ab09-62f5f5273f2f'];
  const by = (agent: string, parent: string) => ({ agent_id: agent, parent_agent_id: parent });

  /** A session with a sub-agent that has a sub-agent of its own. */
  function withAgents(): GuardWorld {
    const world = open('copilot');
    call(world, 'copilot', 'SessionStart');
    const line = registeredLine(world, 'copilot', 'SubagentStart');
    for (const [agent, parent] of [
      [AGENT, CALLER],
      [DEEPER, AGENT],
    ] as const) {
      const captured = JSON.stringify(capturedPayload('copilot', 'SubagentStart')).replaceAll(
        '/repo',
        world.path,
      );
      const input = JSON.stringify({
        ...(JSON.parse(captured) as Payload),
        sessionId: parent,
        ...by(agent, parent),
      });
      expect(world.run('sh', ['-c', line], { cwd: world.home, input })).toMatchObject({
        status: 0,
        stderr: '',
      });
    }
    return world;
  }

  const sessions = (world: GuardWorld) =>
    world.json(['sessions', '--all']).items.map((item) => item['session']);

  it.each([
    ['one', AGENT, CALLER],
    ['one of a sub-agent', DEEPER, AGENT],
  ])('%s works for the session, and nobody else is there', (_, agent, parent) => {
    const world = withAgents();
    const shell = { ...by(agent, parent), tool_input: { command: 'echo sub > sub.txt' } };
    expect(call(world, 'copilot', 'PreToolUse-Bash', shell, agent).denied).toBeUndefined();
    writeFileSync(join(world.path, 'sub.txt'), 'sub\n');
    call(world, 'copilot', 'PostToolUse-Bash', shell, agent);
    expect(sessions(world)).toEqual([CALLER]);
    const changed = world.json(['sessions']).items.map((item) => item['uncommitted']);
    expect(changed).toEqual([['sub.txt']]);
  });

  it('end their turns without a reminder to write a note, and are forgotten when the session ends', () => {
    const world = withAgents();
    writeFileSync(join(world.path, 'sub.txt'), 'sub\n');
    expect(call(world, 'copilot', 'Stop', by(AGENT, CALLER), AGENT).stdout).toBe('');
    const kept = () => readdirSync(join(world.home, '.local', 'state', 'git-handoff', 'agents'));
    expect(kept().sort()).toEqual([DEEPER, AGENT].sort());
    call(world, 'copilot', 'SessionEnd');
    expect(kept()).toEqual([]);
  });
});

describe.each([
  ...NAMES.map((client) => ({ client, folder: CLIENTS[client].folder })),
  { client: 'copilot' as const, folder: 'copilot' },
])('payloads of $folder', ({ client, folder }) => {
  const world = new GuardWorld();
  afterAll(() => world.remove());

  it.each(capturedPayloads(folder))('$name: everyday calls pass', ({ name, payload }) => {
    world.clearLog();
    const input = JSON.stringify(payload).replaceAll('/repo', world.path);
    for (const words of [
      ['--client', client],
      ['--client', 'claude'],
    ]) {
      const run = world.handoff(['guard', ...words], { input });
      expect(run).toMatchObject({ status: 0, stderr: '' });
      if (!/sessionStart/i.test(name)) expect(run.stdout).toBe('');
    }
    expect(world.log().filter(({ kind }) => kind === 'error' || kind === 'open')).toEqual([]);
  });
});

it.each(NAMES)('%s, which also runs the hooks of .claude/settings.json, is refused by them', (client) => {
  const world = open(client);
  const of = CLIENTS[client];
  const captured = JSON.stringify(capturedPayload(of.folder, of.before)).replaceAll('/repo', world.path);
  const payload = {
    ...(JSON.parse(captured) as Payload),
    tool_input: of.write(world.file),
    [of.session]: CALLER,
  };
  const run = world.handoff(['guard', '--client', 'claude'], { input: JSON.stringify(payload) });
  expect(run.status).toBe(0);
  expect(of.reason(JSON.parse(run.stdout) as Payload)).toContain(OWNER.slice(0, 8));
});
