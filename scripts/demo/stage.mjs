/** The stage of the demo: a temporary folder with a home and a repository, and what is printed about them. */
import { fork, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { interpretBy, shellFolder, shellUnderTest } from '../shells.mjs';

const root = dirname(dirname(import.meta.dirname));
const client = join(import.meta.dirname, 'client.mjs');

/** A word, quoted for a shell. */
export const quote = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export class Unmet extends Error {}

/** Ends the demo unless the condition holds, since the demo is also a test of the installed program. */
export function expect(condition, what) {
  if (!condition) throw new Unmet(what);
}

export const print = (text = '') =>
  process.stdout.write(text === '' || text.endsWith('\n') ? text : `${text}\n`);

/** Prints a comment between the commands, after an empty line. */
export const say = (...lines) => print(`\n${lines.map((line) => `# ${line}\n`).join('')}`);

const indent = (text) => text.trimEnd().replace(/^/gm, '  ');

export class Stage {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-handoff-demo-')));
  home = join(this.folder, 'home');
  bin = join(this.folder, 'bin');
  project = join(this.folder, 'project');
  sessions = [];
  #shells;

  constructor() {
    for (const path of [this.home, this.bin, this.project]) mkdirSync(path);
    // `git handoff` runs the `git-handoff` on PATH, as after a global installation.
    symlinkSync(join(this.#package(), 'bin', 'git-handoff'), join(this.bin, 'git-handoff'));
  }

  /** The program's folder: this one or, to test a shell, a copy whose scripts run in that shell. */
  #package() {
    if (shellUnderTest === undefined) return root;
    const copy = join(this.folder, 'package');
    for (const part of ['package.json', 'bin', 'dist', 'git-hooks', 'schema', 'skills']) {
      cpSync(join(root, part), join(copy, part), { recursive: true });
    }
    this.#shells = shellFolder(shellUnderTest);
    for (const part of ['bin', 'git-hooks']) interpretBy(join(copy, part), join(this.#shells, 'sh'));
    return copy;
  }

  /** Makes the hooks of `init` run in the shell to be tested, too. */
  hooksAreMade() {
    if (this.#shells !== undefined)
      interpretBy(join(this.project, '.git', 'hooks'), join(this.#shells, 'sh'));
  }

  /** The environment, with nothing of the user's set-up except the programs on PATH. */
  environment() {
    const kept = ['TMPDIR', 'LANG', 'SystemRoot'].filter((name) => process.env[name] !== undefined);
    return {
      ...Object.fromEntries(kept.map((name) => [name, process.env[name]])),
      PATH: [this.bin, this.#shells, dirname(process.execPath), process.env.PATH]
        .filter(Boolean)
        .join(delimiter),
      HOME: this.home,
      GIT_CONFIG_NOSYSTEM: '1',
    };
  }

  /** Types a command line as a person at a terminal; returns both streams of its output. */
  async type(command) {
    print(`$ ${command}`);
    const result = await new Promise((resolve, reject) => {
      const options = { cwd: this.project, env: this.environment(), stdio: ['ignore', 'pipe', 'inherit'] };
      const child = spawn('sh', ['-c', `exec 2>&1\n${command}`], options);
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
      child.on('error', reject).on('close', (status) => resolve({ output, status }));
    });
    return shown(result);
  }

  session(letter, id) {
    const session = new Session(letter, id, { cwd: this.project, env: this.environment() });
    this.sessions.push(session);
    return session;
  }

  endSessions() {
    for (const session of this.sessions) session.process.kill();
  }
}

function shown({ output, status, ...rest }) {
  print(output);
  if (status !== 0) print(`(exit status ${status})`);
  return { output, status, ...rest };
}

/** One session: a process of its own (client.mjs) that calls the hooks as Claude Code does. */
class Session {
  #next = 0;

  constructor(letter, id, options) {
    this.letter = letter;
    this.id = id;
    this.short = id.slice(0, 8);
    this.process = fork(client, [id], { ...options, execArgv: [] });
  }

  #ask(request) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const settle = (answer) => {
        if (answer.id !== id) return;
        this.process.off('message', settle).off('exit', gone);
        if (answer.error === undefined) resolve(answer);
        else reject(new Unmet(`session ${this.letter}: ${answer.error}`));
      };
      const gone = () => reject(new Unmet(`the process of session ${this.letter} ended`));
      this.process.on('message', settle).on('exit', gone);
      this.process.send({ id, ...request });
    });
  }

  /** Starts the session; returns what its hook tells it. */
  async start() {
    const { answer } = await this.#ask({ hook: 'SessionStart', source: 'startup' });
    print(`${this.letter}: starts, process ${this.process.pid}; its SessionStart hook tells it:`);
    print(indent(answer.additionalContext ?? '(nothing)'));
    return answer.additionalContext ?? '';
  }

  /** Ends the session's turn: it waits for its user. */
  async stop() {
    await this.#ask({ hook: 'Stop', stop_hook_active: false });
  }

  async end() {
    await this.#ask({ hook: 'SessionEnd', reason: 'prompt_input_exit' });
  }

  /** Runs a command line in its shell tool. */
  async type(command) {
    print(`${this.letter}$ ${command}`);
    const answer = await this.#ask({ shell: command });
    return answer.denied === undefined ? shown(answer) : this.#refused(answer);
  }

  async write(path, content) {
    print(`${this.letter}: Write ${path}`);
    print(indent(content));
    return this.#changed(await this.#ask({ write: path, content }));
  }

  async edit(path, old, text) {
    print(`${this.letter}: Edit ${path}, ${JSON.stringify(old)} to ${JSON.stringify(text)}`);
    return this.#changed(await this.#ask({ edit: path, old, new: text }));
  }

  #changed(answer) {
    if (answer.denied !== undefined) return this.#refused(answer);
    print('the file now:');
    print(indent(answer.content));
    return answer;
  }

  #refused(answer) {
    print('refused by the guard, the session reads:');
    print(indent(answer.denied));
    return answer;
  }
}
