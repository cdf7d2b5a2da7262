import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Run, type RunOptions, TestRepository } from './repository.ts';

export const [A, B] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];

/** A repository where `init` ran and sessions work side by side, by hook payloads as Claude Code sends them. */
export class LedgerWorld extends TestRepository {
  constructor() {
    super({}, 'ledger');
    this.build(() => {
      this.commit('base', { 'src/one.txt': 'one\n', 'src/two.txt': 'two\n', 'gone.txt': 'bye\n' });
      this.ok(['init', '--yes']);
    });
  }

  /** Sessions begin; from the second one on nobody is alone. */
  sessions(ids: readonly string[] = [A, B], cwd = this.path): void {
    for (const id of ids) {
      this.guard({ session_id: id, hook_event_name: 'SessionStart', source: 'startup' }, { cwd });
    }
  }

  /** The session ends; what it claimed stays. */
  end(session: string): void {
    this.guard({ session_id: session, hook_event_name: 'SessionEnd', reason: 'logout' });
  }

  /** The session writes a file with its Write tool; returns what the guard said. */
  writes(session: string, path: string, content: string, cwd = this.path): string {
    const file = join(cwd, path);
    const call = { session_id: session, tool_name: 'Write', tool_input: { file_path: file, content } };
    const before = this.guard({ ...call, hook_event_name: 'PreToolUse' }, { cwd });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    const after = this.guard({ ...call, hook_event_name: 'PostToolUse' }, { cwd });
    return before.stdout + after.stdout;
  }

  /** The session's next shell command, as far as the guard is asked; returns what it said. */
  nextCall(session: string, cwd = this.path): string {
    const call = {
      session_id: session,
      tool_name: 'Bash',
      tool_input: { command: 'make' },
      tool_use_id: 't1',
    };
    const before = this.guard({ ...call, hook_event_name: 'PreToolUse' }, { cwd });
    return before.stdout + this.guard({ ...call, hook_event_name: 'PostToolUse' }, { cwd }).stdout;
  }

  /** Adds a line to a session's ledger, for what no payload brings about at once. */
  note(session: string, entry: object, cwd = this.path): void {
    const folder = this.#ledger(cwd);
    mkdirSync(folder, { recursive: true });
    appendFileSync(join(folder, `${session}.jsonl`), `${JSON.stringify(entry)}\n`);
  }

  /** The entries of a session's ledger. */
  entries(session: string, cwd = this.path): Readonly<Record<string, unknown>>[] {
    const file = join(this.#ledger(cwd), `${session}.jsonl`);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** All ledgers, byte for byte. */
  allEntries(): string {
    const folder = join(this.path, '.git', 'handoff', 'ledger');
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('');
  }

  /** `git handoff status --json`, a line a path. */
  whose(session?: string, options: RunOptions = {}): Record<string, string> {
    const { items } = this.json(['status'], session === undefined ? options : { ...options, session });
    return Object.fromEntries(
      items.map(({ path, state, owners }) => [
        String(path),
        [String(state), ...(owners as string[])].join(' '),
      ]),
    );
  }

  /** `git handoff take -- <path>…`. */
  take(paths: readonly string[], session?: string, options: RunOptions = {}): Run {
    const words = ['take', '--', ...paths];
    return this.handoff(words, session === undefined ? options : { ...options, session });
  }

  #ledger(cwd: string): string {
    const gitDir = this.git(['rev-parse', '--absolute-git-dir'], { cwd });
    const id = readFileSync(join(gitDir, 'handoff-id'), 'utf8').trim();
    return join(this.path, '.git', 'handoff', 'ledger', id);
  }
}
