import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ClientName, Typist } from './blocks.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CLIENT = join(ROOT, 'scripts', 'demo', 'client.mjs');

/** What the stand-in client answers: the guard's refusal, or what the tool did. */
interface ToolAnswer {
  readonly denied?: string;
  readonly output?: string;
  readonly status?: number | null;
  readonly error?: string;
}

/** A session of the demo's stand-in client: its own process, which runs the registered hooks. */
class DemoSession {
  readonly #process: ChildProcess;

  constructor(id: string, cwd: string, env: Readonly<Record<string, string>>, client = 'claude') {
    this.#process = fork(CLIENT, [id, client], { cwd, env: { ...env }, execArgv: [] });
  }

  /** Makes one request at a time; scripts/demo/client.mjs lists the possible ones. */
  ask(request: Readonly<Record<string, string>>): Promise<ToolAnswer> {
    return new Promise((resolve, reject) => {
      const gone = () => reject(new Error('the stand-in client ended'));
      this.#process.once('exit', gone);
      this.#process.once('message', (answer) => {
        this.#process.off('exit', gone);
        resolve(answer as ToolAnswer);
      });
      this.#process.send({ id: 0, ...request });
    });
  }

  end(): void {
    this.#process.kill();
  }
}

const SESSIONS = {
  A: 'a1f0c3d2-6b7e-4c58-9d21-0e5f7a8b9c10',
  B: 'b7d94e06-13ac-4f8e-8a52-c4d6e8f0a2b4',
};
/** Commands that ask before they change anything: these are typed at a pseudo-terminal and answered with yes. */
const ASKS = /^git handoff (?:init|uninstall|purge|prune)\b(?!.*(?:--yes|--dry-run|--print|\|))/;

/** The result of a command line. */
export interface Typed {
  readonly output: string;
  readonly status: number | null;
}

/**
 * The world of a page: a person with a home, a repository `~/app` with one commit and a bare remote
 * `/srv/git/app.git`, the same person at a second machine (`laptop`), and two sessions of one client that begin
 * when they first type something. Real paths replace the page's paths in commands, and the reverse happens in the output.
 */
export class DocsWorld {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-handoff-docs-')));
  readonly #client: ClientName;
  readonly #cwd = { person: '/home/you/app', laptop: '/home/you' };
  readonly #sessions = new Map<'A' | 'B', DemoSession>();

  constructor(client: ClientName) {
    this.#client = client;
    for (const name of ['person/app', 'laptop', 'srv/git', 'bin', 'tmp']) {
      mkdirSync(join(this.#folder, name), { recursive: true });
    }
    symlinkSync(join(ROOT, 'bin', 'git-handoff'), join(this.#folder, 'bin', 'git-handoff'));
    for (const machine of ['person', 'laptop'] as const) {
      this.#run(machine, 'git config --global user.name You');
      this.#run(machine, 'git config --global user.email you@example.com');
    }
    this.#run('person', 'git init -q -b main . && git init -q --bare -b main /srv/git/app.git');
    this.#run('person', "echo 'An app.' >README.md && git add README.md && git commit -q -m 'Begin'");
    this.#run('person', 'git remote add origin /srv/git/app.git && git push -q -u origin main');
  }

  /** Types a command line; returns what a terminal shows, or the refusal that a session reads (status null). */
  async type(who: Typist, command: string): Promise<Typed> {
    if (who === 'person' || who === 'laptop') return this.#run(who, command);
    const session = this.#sessions.get(who) ?? (await this.#start(who));
    if (command === 'exit') return this.#close(who, session);
    const answer = await session.ask({ shell: this.#real('person', command) });
    if (answer.error !== undefined) throw new Error(answer.error);
    const { denied, output = '', status = null } = answer;
    return denied === undefined
      ? { output: this.#shown(output), status }
      : { output: `${this.#shown(denied)}\n`, status: null };
  }

  close(): void {
    for (const session of this.#sessions.values()) session.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Closes a session's client, as a person does. */
  async #close(who: 'A' | 'B', session: DemoSession): Promise<Typed> {
    await session.ask({ hook: 'SessionEnd', reason: 'prompt_input_exit' });
    session.end();
    this.#sessions.delete(who);
    return { output: '', status: 0 };
  }

  async #start(who: 'A' | 'B'): Promise<DemoSession> {
    const home = join(this.#folder, 'person');
    const session = new DemoSession(SESSIONS[who], join(home, 'app'), this.#environment(home), this.#client);
    this.#sessions.set(who, session);
    await session.ask({ hook: 'SessionStart', source: 'startup' });
    return session;
  }

  #environment(home: string): Record<string, string> {
    const path = [join(this.#folder, 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(':');
    const folders = { HOME: home, TMPDIR: join(this.#folder, 'tmp') };
    return { PATH: path, ...folders, GIT_CONFIG_NOSYSTEM: '1', LANG: 'C.UTF-8' };
  }

  /** Runs a person's command; a `cd` stays in effect. */
  #run(machine: 'person' | 'laptop', command: string): Typed {
    const place = join(this.#folder, `${machine}.cwd`);
    const real = this.#real(machine, command);
    const typed = ASKS.test(command) ? `script -qec "$COMMAND" /dev/null` : real;
    const env = { ...this.#environment(join(this.#folder, machine)), COMMAND: real, PLACE: place };
    const cwd = this.#real(machine, this.#cwd[machine]);
    const ran = spawnSync('/bin/sh', ['-c', `exec 2>&1\ntrap 'pwd >"$PLACE"' EXIT\n${typed}`], {
      ...{ cwd, env, encoding: 'utf8' },
      ...(typed === real ? {} : { input: 'y\n' }),
    });
    if (existsSync(place)) this.#cwd[machine] = this.#shown(readFileSync(place, 'utf8').trimEnd());
    return { output: this.#shown(ran.stdout), status: ran.status };
  }

  #real(machine: 'person' | 'laptop', text: string): string {
    return text
      .replaceAll('/home/you', join(this.#folder, machine))
      .replaceAll('/srv/git', join(this.#folder, 'srv', 'git'));
  }

  #shown(text: string): string {
    return text
      .replaceAll(join(this.#folder, 'person'), '/home/you')
      .replaceAll(join(this.#folder, 'laptop'), '/home/you')
      .replaceAll(join(this.#folder, 'srv', 'git'), '/srv/git')
      .replaceAll(join(this.#folder, 'bin'), '/usr/local/bin')
      .replaceAll(join(this.#folder, 'tmp'), '/tmp')
      .replaceAll(ROOT, '/usr/local/lib/node_modules/git-handoff');
  }
}
