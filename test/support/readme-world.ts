import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DemoSession } from './demo-session.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SESSIONS = {
  A: 'a1f0c3d2-6b7e-4c58-9d21-0e5f7a8b9c10',
  B: 'b7d94e06-13ac-4f8e-8a52-c4d6e8f0a2b4',
};

/** A command line of a `console` block: who types it, and what the README says it prints. */
export interface ConsoleLine {
  readonly who: 'A' | 'B' | 'person';
  readonly command: string;
  readonly expected: string;
}

/** The command lines of every fenced block that is marked as `console`, in order. */
export function consoleLines(markdown: string): ConsoleLine[] {
  const blocks = [...markdown.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block]) => block ?? '');
  return blocks.flatMap((block) =>
    block.split(/^(?=[AB]?\$ )/m).map((text) => {
      const [, letter, command = ''] = /^([AB]?)\$ (.*)\n/.exec(text) ?? [];
      const expected = text.slice(text.indexOf('\n') + 1);
      return { who: letter === 'A' || letter === 'B' ? letter : 'person', command, expected };
    }),
  );
}

/** The repository that the README's commands are typed in: initialised, two sessions, one handoff file of A. */
export class ReadmeWorld {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-handoff-readme-')));
  readonly #home = join(this.#folder, 'home');
  readonly #project = join(this.#home, 'app');
  readonly #sessions: { A: DemoSession; B: DemoSession };

  private constructor() {
    const memory = join(this.#home, '.claude', 'projects', 'app', 'memory');
    for (const folder of [this.#project, memory, join(this.#folder, 'bin')])
      mkdirSync(folder, { recursive: true });
    symlinkSync(join(ROOT, 'bin', 'git-handoff'), join(this.#folder, 'bin', 'git-handoff'));
    const note = `<!-- claude-session: ${SESSIONS.A} -->\nRead the retry test first.\n`;
    writeFileSync(join(memory, 'handoff-main-auth-refresh.md'), note);
    this.#run('git init -q -b main . && git config user.name You && git config user.email you@example.com');
    this.#run("git commit -q --allow-empty -m 'Begin' && git handoff init --yes");
    const session = (id: string) => new DemoSession(id, this.#project, this.#environment());
    this.#sessions = { A: session(SESSIONS.A), B: session(SESSIONS.B) };
  }

  static async open(): Promise<ReadmeWorld> {
    const world = new ReadmeWorld();
    for (const session of [world.#sessions.A, world.#sessions.B]) {
      await session.ask({ hook: 'SessionStart', source: 'startup' });
    }
    return world;
  }

  /** Types a command line; what a terminal shows, or the refusal that a session reads. */
  async type({ who, command }: ConsoleLine): Promise<string> {
    if (who === 'person') return this.#run(command, true);
    const answer = await this.#sessions[who].ask({ shell: command });
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.denied === undefined ? (answer.output ?? '') : `${answer.denied}\n`;
  }

  /** What differs from run to run is replaced: object names, ages, folders, versions, padding. */
  shape(output: string): string {
    return output
      .replaceAll(this.#home, '/home/you')
      .replace(/\b(?:[0-9a-f]{40}|[0-9a-f]{12}|[0-9a-f]{16})\b/g, '<oid>')
      .replace(/\b(still|to) [0-9a-f]{8}\b/g, '$1 <oid>')
      .replace(/just now|\d+ minutes? ago/g, '<age>')
      .replace(/git version \S+/g, 'git version <version>')
      .replace(/(?<=in the last )\d+ lines?/g, '<lines>')
      .replace(/ {2,}/g, '  ');
  }

  close(): void {
    this.#sessions.A.end();
    this.#sessions.B.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #environment(): Record<string, string> {
    const path = [join(this.#folder, 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(':');
    return { PATH: path, HOME: this.#home, GIT_CONFIG_NOSYSTEM: '1' };
  }

  #run(command: string, mayFail = false): string {
    const options = { cwd: this.#project, env: this.#environment(), encoding: 'utf8' } as const;
    const { status, stdout } = spawnSync('/bin/sh', ['-c', `exec 2>&1\n${command}`], options);
    if (status !== 0 && !mayFail) throw new Error(`${command}: ${stdout}`);
    return stdout;
  }
}
