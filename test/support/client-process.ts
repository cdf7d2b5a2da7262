import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HookAnswer, readAnswer } from './hook-answer.ts';
import { LAUNCHER, type Run, type TestRepository } from './repository.ts';

let count = 0;

/**
 * A process that stands in for a client (Claude Code). It is the parent of the hooks and shell commands that it runs,
 * so its pid is the one in a session's record. Call `kill()` when done.
 */
export class ClientProcess {
  readonly #shell: ChildProcess;
  readonly #name = `client-${(count += 1)}`;
  readonly #world: TestRepository;
  readonly #cwd: string;

  constructor(world: TestRepository, cwd = world.path) {
    this.#world = world;
    this.#cwd = cwd;
    this.#shell = spawn('sh', [], { cwd, env: world.env({ LAUNCHER }), stdio: ['pipe', 'pipe', 'ignore'] });
  }

  get pid(): number {
    return this.#shell.pid ?? 0;
  }

  /** Runs one shell command as a child of this process; `input` is its stdin. */
  async shell(command: string, input = ''): Promise<Run> {
    const file = (kind: string) => join(this.#world.root, `${this.#name}.${kind}`);
    writeFileSync(file('in'), input);
    const redirects = `<'${file('in')}' >'${file('out')}' 2>'${file('err')}'`;
    this.#shell.stdin?.write(`{ ${command}\n} ${redirects}; echo "$?"\n`);
    const [status] = (await once(this.#shell.stdout as NonNullable<ChildProcess['stdout']>, 'data')) as [
      Buffer,
    ];
    const bytes = readFileSync(file('out'));
    const stderr = readFileSync(file('err'), 'utf8');
    return { status: Number(status.toString()), stdout: bytes.toString('utf8'), stderr, bytes };
  }

  /** One hook call of a session that runs in this process. */
  hook(payload: Readonly<Record<string, unknown>>): Promise<HookAnswer> {
    return this.#hook('"$LAUNCHER" guard --client claude', payload);
  }

  /** One hook call of a client that was started inside this one. */
  nestedHook(payload: Readonly<Record<string, unknown>>): Promise<HookAnswer> {
    return this.#hook(`sh -c '"$LAUNCHER" guard --client claude; true'`, payload);
  }

  async #hook(command: string, payload: Readonly<Record<string, unknown>>): Promise<HookAnswer> {
    const full = { cwd: this.#cwd, hook_event_name: 'PreToolUse', ...payload };
    const run = await this.shell(command, JSON.stringify(full));
    return readAnswer(run, full.hook_event_name);
  }

  start(session: string, source = 'startup'): Promise<HookAnswer> {
    return this.hook({ hook_event_name: 'SessionStart', session_id: session, source });
  }

  end(session: string, reason: string): Promise<HookAnswer> {
    return this.hook({ hook_event_name: 'SessionEnd', session_id: session, reason });
  }

  /** A harmless tool call. */
  tool(session: string, command = 'ls'): Promise<HookAnswer> {
    return this.hook({ session_id: session, tool_name: 'Bash', tool_input: { command } });
  }

  /** Ends the process at once, as a crash would. */
  async kill(): Promise<void> {
    if (this.#shell.exitCode !== null || this.#shell.signalCode !== null) return;
    this.#shell.kill('SIGKILL');
    await once(this.#shell, 'close');
  }
}
