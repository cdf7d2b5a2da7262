import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type HookAnswer, readAnswer } from './hook-answer.ts';
import { type RepositoryOptions, type RunOptions, TestRepository } from './repository.ts';

/** The sessions of the hostile corpus: the one that calls, and the one that owns the guarded file. */
export const CALLER = 'sess-aaaaaaaa-1111';
export const OWNER = 'sess-bbbbbbbb-2222';

export const HANDOFF_REF = 'refs/handoffs/main/auth-refresh';

export interface GuardWorldOptions extends RepositoryOptions {
  /** Whether `git handoff init` ran here. Default: true. */
  readonly initialised?: boolean;
  /** `handoff.marker`; `unset` is for a user who never set it. Default: handshake. */
  readonly marker?: 'rewrite' | 'handshake' | 'unset';
  /** Who owns the guarded file and the handoff's ref. Default: {@link OWNER}. */
  readonly owner?: string;
}

/**
 * The world of the hostile corpus (`fixtures/hostile/README.md`): a guarded file in a memory folder, a
 * handoff on a ref, and other files with similar names. Its repository uses the built guard.
 */
export class GuardWorld extends TestRepository {
  constructor(options: GuardWorldOptions = {}) {
    super(options, 'guard');
    this.build(() => this.#fill(options));
  }

  get memory(): string {
    return join(this.home, '.claude', 'projects', 'testproj', 'memory');
  }

  /** The guarded file, owned by the fixture's owner. */
  get file(): string {
    return join(this.memory, 'handoff-main-auth-refresh.md');
  }

  #fill({ initialised = true, marker = 'handshake', owner = OWNER }: GuardWorldOptions): void {
    mkdirSync(this.memory, { recursive: true });
    if (this.#typedHome !== this.home) symlinkSync(basename(this.home), this.#typedHome);
    writeFileSync(this.file, markedNote(owner));
    writeFileSync(join(this.memory, 'MEMORY.md'), '- remember\n');
    this.commit('fixture', {
      'note.txt': 'b\na\n',
      'handoff-main-auth-refresh.md': markedNote(owner),
      'p.diff': `--- a\n+++ b\n@@ -1,2 +1,2 @@\n <!-- claude-session: ${owner} -->\n-secret token\n+gone\n`,
      'n.diff': '--- a/note.txt\n+++ b/note.txt\n@@ -1,2 +1,2 @@\n-b\n+c\n a\n',
    });
    if (initialised) this.ok(['init', '--yes']);
    if (marker !== 'unset') this.git(['config', 'handoff.marker', marker]);
    this.ok(['write', 'auth-refresh', '-m', 'secret token'], { session: owner });
  }

  /** A path of the home that needs no quotes: a link if the real path has a blank. */
  get #typedHome(): string {
    return this.home.includes(' ') ? join(this.root, 'home') : this.home;
  }

  /** Fills in the corpus's placeholders. */
  fill(text: string): string {
    return text
      .replaceAll('@FILE@', '@HOME@/.claude/projects/testproj/memory/handoff-main-auth-refresh.md')
      .replaceAll('@MEM@', '@HOME@/.claude/projects/testproj/memory')
      .replaceAll('@HOME@', this.#typedHome)
      .replaceAll('@CWD@', this.path);
  }

  /** One hook call of Claude Code's, by a session that works in this repository. */
  hook(payload: Readonly<Record<string, unknown>>, options: RunOptions = {}): HookAnswer {
    const full = { session_id: CALLER, hook_event_name: 'PreToolUse', ...payload };
    return readAnswer(this.guard(full, options), full.hook_event_name);
  }

  /** The caller wants to use a tool. */
  before(tool: string, input: object, more: Readonly<Record<string, unknown>> = {}): HookAnswer {
    return this.hook({ tool_name: tool, tool_input: input, ...more });
  }

  /** The caller has used a tool. */
  after(tool: string, input: object, more: Readonly<Record<string, unknown>> = {}): HookAnswer {
    return this.hook({ hook_event_name: 'PostToolUse', tool_name: tool, tool_input: input, ...more });
  }

  /** A session starts. */
  sessionStart(session: string, source = 'startup', options: RunOptions = {}): HookAnswer {
    return this.hook({ hook_event_name: 'SessionStart', session_id: session, source }, options);
  }

  /** Runs shell lines for real, as the client's shell would once they are allowed. */
  bash(command: string, options: RunOptions = {}): void {
    this.run('bash', ['-c', command], options);
  }

  /** Restores the fixture's files, whatever a case's setup did. */
  clean(): void {
    this.git(['clean', '-qfdx']);
    this.git(['checkout', '-q', '.']);
  }

  /** The lines of the guard's log, of this repository and of the user's state folder. */
  log(): readonly Readonly<Record<string, string>>[] {
    return this.#logFiles().flatMap((file) => {
      const isFile = existsSync(file) && lstatSync(file).isFile();
      const lines = isFile ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
      return lines.map((line) => JSON.parse(line) as Record<string, string>);
    });
  }

  /** Forgets what was logged so far. */
  clearLog(): void {
    for (const file of this.#logFiles()) rmSync(file, { force: true });
  }

  #logFiles(): string[] {
    const folders = [join(this.path, '.git', 'handoff'), join(this.home, '.local', 'state', 'git-handoff')];
    return folders.map((folder) => join(folder, 'guard.log'));
  }
}

/** A note in the predecessor's form. */
export function markedNote(owner: string, text = 'secret token\n'): string {
  return `<!-- claude-session: ${owner} -->\n${text}`;
}
