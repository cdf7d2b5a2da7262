import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type HookAnswer, readAnswer } from './hook-answer.ts';
import { IS_MAC, type RepositoryOptions, type Run, type RunOptions, TestRepository } from './repository.ts';

/** Two sessions that share a working tree, and a third. */
export const A = 'aaaaaaaa-1111-4111-8111-111111111111';
export const B = 'bbbbbbbb-2222-4222-8222-222222222222';
export const C = 'cccccccc-3333-4333-8333-333333333333';

/** Ten numbered lines. */
export const TEN = Array.from({ length: 10 }, (_, n) => `line ${n + 1}\n`).join('');

/** The ten lines with some of them replaced, by their numbers. */
export const lines = (changes: Readonly<Record<number, string>>): string =>
  Array.from({ length: 10 }, (_, n) => `${changes[n + 1] ?? `line ${n + 1}`}\n`).join('');

/** The text of a refusal; the test fails when it is none. */
export function refusal(answer: HookAnswer): string {
  if (answer.kind !== 'deny') throw new Error(`expected a refusal, got ${JSON.stringify(answer)}`);
  return answer.text;
}

/** The text that an answer gives to the model, empty when it gives none. */
export function contextText(answer: HookAnswer | undefined): string {
  return answer?.kind === 'context' ? answer.text : '';
}

/** The command to edit a file in place on this machine. A Mac's sed needs an argument after -i. */
export const SED_IN_PLACE = IS_MAC ? "sed -i ''" : 'sed -i';

/** Names this test process. A session's record names its process, so other test processes cannot use a copy of the world. */
const OWN = randomUUID();

export interface SharingOptions extends RepositoryOptions {
  /** Committed in addition to the three files that every such world has. */
  readonly files?: Readonly<Record<string, string>>;
  /** Sessions that begin here, in this order; what they are told is ignored. */
  readonly ready?: readonly string[];
}

/**
 * A repository with git-handoff switched on, in which sessions use tools. A tool call runs the client's two hooks, and
 * the real work between them. All sessions run in this test's process; the client's variable tells them apart.
 * `<session>/<agent>` is a sub-agent.
 */
export class SharingWorld extends TestRepository {
  #calls = 0;

  constructor(options: SharingOptions = {}) {
    const { files, ready = [] } = options;
    super(options, ready.length === 0 ? 'sharing' : `sharing of ${OWN}`);
    this.build(() => {
      this.commit('files', { 'src/a.ts': TEN, 'src/b.ts': TEN, 'shared.md': TEN, ...files });
      this.ok(['init', '--yes']);
      for (const session of ready) this.begin(session);
    });
  }

  /** A session starts here (or in another worktree). */
  begin(session: string, cwd = this.path, source = 'startup'): HookAnswer {
    return this.#hook(session, 'SessionStart', { source }, { cwd });
  }

  end(session: string, cwd = this.path, reason = 'other'): HookAnswer {
    return this.#hook(session, 'SessionEnd', { reason }, { cwd });
  }

  /** A session's turn ends: it waits for its user. */
  stop(session: string, cwd = this.path): HookAnswer {
    return this.#hook(session, 'Stop', {}, { cwd });
  }

  /** A sub-agent begins. */
  beginAgent(agent: string, cwd = this.path): HookAnswer {
    return this.#hook(agent, 'SubagentStart', {}, { cwd });
  }

  endAgent(agent: string, cwd = this.path): HookAnswer {
    return this.#hook(agent, 'SubagentStop', { stop_hook_active: false, background_tasks: [] }, { cwd });
  }

  /** A session's user types. */
  prompt(session: string, cwd = this.path): HookAnswer {
    return this.#hook(session, 'UserPromptSubmit', { prompt: 'go on' }, { cwd });
  }

  /** Uses a file tool, which writes the file if the call is allowed. */
  write(session: string, path: string, content: string, cwd = this.path): HookAnswer {
    const file = join(cwd, path);
    const input = { file_path: file, content };
    const answer = this.#hook(session, 'PreToolUse', { tool_name: 'Write', tool_input: input }, { cwd });
    if (answer.kind === 'deny') return answer;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    this.#hook(session, 'PostToolUse', { tool_name: 'Write', tool_input: input }, { cwd });
    return answer;
  }

  /** Whether a file tool may write a file. It is not written. */
  try(session: string, path: string, content: string, cwd = this.path): HookAnswer {
    const input = { file_path: resolve(cwd, path), content };
    return this.#hook(session, 'PreToolUse', { tool_name: 'Write', tool_input: input }, { cwd });
  }

  /** Replaces a text in a file with another. */
  edit(session: string, path: string, from: string, to: string, cwd = this.path): HookAnswer {
    return this.write(session, path, this.read(path, cwd).replace(from, to), cwd);
  }

  /** Writes the file, and runs only the hook after the tool. */
  wrote(session: string, path: string, content: string, cwd = this.path): HookAnswer {
    const file = join(cwd, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return this.#hook(
      session,
      'PostToolUse',
      { tool_name: 'Write', tool_input: { file_path: file, content } },
      { cwd },
    );
  }

  /** Whether a session may run a shell command. It is not run. */
  may(session: string, command: string, cwd = this.path): HookAnswer {
    const input = { command };
    return this.#hook(session, 'PreToolUse', { tool_name: 'Bash', tool_input: input }, { cwd });
  }

  /** Uses the shell tool: runs the hook before it and, if the call is allowed, the command and the hook after it. */
  bash(
    session: string,
    command: string,
    { shell = 'bash', ...options }: RunOptions & { readonly shell?: string } = {},
  ): { before: HookAnswer; run?: Run; after?: HookAnswer } {
    const cwd = options.cwd ?? this.path;
    const tool = {
      tool_name: 'Bash',
      tool_input: { command },
      tool_use_id: `toolu_${(this.#calls += 1)}`,
    };
    const before = this.#hook(session, 'PreToolUse', tool, { cwd });
    if (before.kind === 'deny') return { before };
    const [own] = session.split('/');
    const typed = before.kind === 'rewrite' ? String(before.input['command']) : command;
    const run = this.run(shell, ['-c', typed], { ...options, session: own ?? '' });
    const answer = { ...tool, cwd, tool_response: { stdout: run.stdout } };
    // The command may have removed the folder that it was typed in.
    const after = this.#hook(session, 'PostToolUse', answer, { cwd: existsSync(cwd) ? cwd : this.path });
    return { before, run, after };
  }

  /** Starts one hook call beside the test. */
  startGuard(payload: Readonly<Record<string, unknown>>, options: RunOptions = {}): Promise<Run> {
    const input = JSON.stringify({ cwd: this.path, ...payload });
    return this.handoffBeside(['guard', '--client', 'claude'], { ...options, input });
  }

  /** Runs git as a session's shell does, but without the guard seeing the call. */
  as(session: string, args: readonly string[], options: RunOptions = {}): Run {
    return this.run('git', args, { ...options, session });
  }

  read(path: string, cwd = this.path): string {
    return readFileSync(join(cwd, path), 'utf8');
  }

  /** The entries of `git status`. */
  status(cwd = this.path): string[] {
    const out = this.git(['status', '--porcelain=v1', '-z', '-uall', '--no-renames'], { cwd });
    return out.split('\0').filter(Boolean);
  }

  /** The file of a session's journal. */
  journal(session: string): string {
    return join(this.path, '.git', 'handoff', 'sessions', `${session}.jsonl`);
  }

  /** The lines of a session's journal: all, or of one worktree. */
  ledger(session: string, cwd?: string): Readonly<Record<string, unknown>>[] {
    const file = this.journal(session);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
    const tree = cwd === undefined ? undefined : this.#worktree(cwd);
    const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    return tree === undefined ? events : events.filter((one) => one['tree'] === tree);
  }

  /** Adds an event to a session's journal, for events that no single hook call would cause. */
  note(session: string, event: object): void {
    mkdirSync(join(this.path, '.git', 'handoff', 'sessions'), { recursive: true });
    const line = JSON.stringify({ tree: this.#worktree(this.path), ...event });
    appendFileSync(this.journal(session), `${line}\n`);
  }

  #worktree(cwd: string): string {
    const gitDir = this.git(['rev-parse', '--absolute-git-dir'], { cwd });
    return readFileSync(join(gitDir, 'handoff-id'), 'utf8').trim();
  }

  /** The state and the owners of each path, by `git handoff status --json`. */
  whose(session?: string, options: RunOptions = {}): Record<string, string> {
    const { items } = this.json(['status'], session === undefined ? options : { ...options, session });
    return Object.fromEntries(
      items.map(({ path, state, owners }) => [
        String(path),
        [String(state), ...(owners as string[])].join(' '),
      ]),
    );
  }

  /** Paths that a session has claimed at some time, sorted. */
  claimed(session: string): string[] {
    const paths = this.ledger(session)
      .filter(({ t }) => t === 'claim')
      .map(({ path }) => String(path));
    return [...new Set(paths)].sort();
  }

  guardLog(): string {
    try {
      return readFileSync(join(this.path, '.git', 'handoff', 'guard.log'), 'utf8');
    } catch {
      return '';
    }
  }

  clearGuardLog(): void {
    rmSync(join(this.path, '.git', 'handoff', 'guard.log'), { force: true });
  }

  #hook(
    session: string,
    event: string,
    payload: Readonly<Record<string, unknown>>,
    options: RunOptions,
  ): HookAnswer {
    const [id, agent] = session.split('/');
    const by = agent === undefined ? {} : { agent_id: agent, agent_type: 'general-purpose' };
    const full = { session_id: id, ...by, hook_event_name: event, ...payload };
    return readAnswer(this.guard(full, options), event);
  }
}
