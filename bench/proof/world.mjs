/**
 * A separate machine for one play of a scenario: a home, a repository with one commit, and clients. A client is a process
 * that lives as long as its session and runs what a real client would: the hooks registered in `~/.claude/settings.json`,
 * with the payloads that Claude Code sends (fixtures/payloads), and the command lines of its shell tool.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const PAYLOADS = join(ROOT, 'fixtures', 'payloads', 'claude-new');
/** The date of every commit, so that object names and outputs repeat. */
const DATE = '2026-01-02T03:04:05Z';

/** A word, quoted for a shell. */
export const quote = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

const payload = (name) => JSON.parse(readFileSync(join(PAYLOADS, `${name}.json`), 'utf8')).payload;

export class World {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'git-proof-')));
  home = join(this.dir, 'home');
  /** The first checkout. */
  primary = join(this.dir, 'repository');
  /** How many milliseconds hooks and commands ran, and how many bytes of their output sessions read. */
  cost = { ms: 0, bytes: 0 };
  clients = [];

  constructor(files) {
    for (const folder of [this.home, join(this.home, '.claude'), join(this.dir, 'tmp'), this.primary])
      mkdirSync(folder);
    const settings = [
      '[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n[gc]\nauto = 0',
      '[maintenance]\nauto = false\n[advice]\ndetachedHead = false\n',
    ];
    writeFileSync(join(this.home, '.gitconfig'), settings.join('\n'));
    this.git(['init', '-q']);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.primary, path)), { recursive: true });
      writeFileSync(join(this.primary, path), text);
    }
    this.git(['add', '-A']);
    this.git(['commit', '-q', '-m', 'Begin']);
  }

  /** The environment of every process here, built from nothing. */
  env(more = {}) {
    return {
      HOME: this.home,
      PATH: [join(ROOT, 'bin'), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(
        delimiter,
      ),
      TMPDIR: join(this.dir, 'tmp'),
      LC_ALL: 'C.UTF-8',
      TZ: 'UTC',
      TERM: 'dumb',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_EDITOR: 'true',
      GIT_AUTHOR_DATE: DATE,
      GIT_COMMITTER_DATE: DATE,
      ...more,
    };
  }

  /** Runs a program without a session; returns its standard output. It may fail only with `mayFail`. */
  run(program, args, { cwd = this.primary, mayFail = false, input = '' } = {}) {
    const done = spawnSync(program, args, {
      cwd,
      env: this.env(),
      encoding: 'utf8',
      input,
      maxBuffer: 64 << 20,
    });
    if (done.status !== 0 && !mayFail) {
      throw new Error(`${program} ${args.join(' ')}: ${done.stdout}${done.stderr}`);
    }
    return done.stdout;
  }

  git(args, options) {
    return this.run('git', args, options);
  }

  client(name, id, checkout) {
    const client = new Client(this, { name, id, checkout });
    this.clients.push(client);
    return client;
  }

  remove() {
    for (const client of this.clients) client.kill();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** One session's client, a stand-in for Claude Code. */
export class Client {
  isRunning = true;
  #world;
  #folder;
  #shell;
  #answer;
  #calls = 0;

  constructor(world, { name, id, checkout }) {
    this.#world = world;
    this.id = id;
    this.checkout = checkout;
    this.#folder = join(world.dir, 'tmp', name);
    mkdirSync(this.#folder);
    const env = world.env({ CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: id });
    this.#shell = spawn('bash', ['--noprofile', '--norc'], {
      cwd: checkout,
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let output = '';
    this.#shell.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (!output.endsWith('\n')) return;
      this.#answer?.resolve(Number(output));
      output = '';
    });
    this.#shell.stdin.on('error', () => undefined);
    this.#shell.on('close', () => this.#answer?.reject(new Error(`the client ${name} ended`)));
  }

  kill() {
    this.isRunning = false;
    this.#answer = undefined;
    this.#shell.kill('SIGKILL');
  }

  /** Starts a new conversation in the same process, as `/clear` does. */
  async clear(id) {
    await this.fire('SessionEnd', { reason: 'clear' });
    this.id = id;
    this.#shell.stdin.write(`export CLAUDE_CODE_SESSION_ID=${id}\n`);
    await this.fire('SessionStart', { source: 'clear' });
  }

  /** Runs a command line in a child of the client's process. */
  async shell(command, { program = 'bash', input = '', cwd = this.checkout } = {}) {
    const file = (name) => join(this.#folder, name);
    writeFileSync(file('in'), input);
    const began = performance.now();
    const status = await new Promise((resolve, reject) => {
      this.#answer = { resolve, reject };
      const line = `( cd ${quote(cwd)} && exec ${program} -c ${quote(command)} ) <${file('in')} >${file('out')} 2>${file('err')}`;
      this.#shell.stdin.write(`${line}; echo $?\n`);
    });
    this.#world.cost.ms += performance.now() - began;
    return { status, stdout: readFileSync(file('out'), 'utf8'), stderr: readFileSync(file('err'), 'utf8') };
  }

  /**
   * Runs the hooks registered for an event.
   * @returns {Promise<{ denied?: string, input?: object }>} why the call is refused, or its changed input
   */
  async fire(name, fields, { agent, checkout = this.checkout } = {}) {
    const settings = JSON.parse(readFileSync(join(this.#world.home, '.claude', 'settings.json'), 'utf8'));
    const sent = {
      ...payload(name),
      ...(agent === undefined ? {} : { agent_id: agent, agent_type: 'general-purpose' }),
      session_id: this.id,
      transcript_path: join(this.#world.home, '.claude', 'projects', '-repository', `${this.id}.jsonl`),
      cwd: checkout,
      ...fields,
    };
    const groups = settings.hooks?.[sent.hook_event_name] ?? [];
    const hooks = groups
      .filter(
        ({ matcher = '' }) =>
          ['', '*'].includes(matcher) ||
          new RegExp(`^(?:${matcher})$`).test(sent.tool_name ?? sent.source ?? ''),
      )
      .flatMap(({ hooks: all }) => all);
    const answer = {};
    for (const { command } of hooks) {
      const done = await this.shell(command, { program: 'sh', input: JSON.stringify(sent), cwd: checkout });
      Object.assign(answer, this.#read(done, sent.hook_event_name));
    }
    return answer;
  }

  /** Reads a hook's answer by the client's rules, and counts what the model reads. */
  #read({ status, stdout, stderr }, event) {
    if (status === 2) return this.#told({ denied: stderr });
    if (status !== 0 || stdout.trim() === '') return {};
    if (!stdout.startsWith('{')) return this.#told({ text: event === 'SessionStart' ? stdout : '' });
    const { decision, reason, hookSpecificOutput: specific = {} } = JSON.parse(stdout);
    const { permissionDecision, permissionDecisionReason, additionalContext = '', updatedInput } = specific;
    const isDenied = permissionDecision === 'deny' || decision === 'block';
    return this.#told({
      text: additionalContext,
      ...(isDenied ? { denied: permissionDecisionReason ?? reason ?? '' } : {}),
      ...(updatedInput === undefined ? {} : { input: updatedInput }),
    });
  }

  #told(answer) {
    this.#world.cost.bytes += Buffer.byteLength(answer.text ?? '') + Buffer.byteLength(answer.denied ?? '');
    return answer;
  }

  /**
   * Makes one tool call, between the client's two hooks.
   * @param {{ agent?: string, checkout: string }} worker who calls, and where
   * @param {(input: object) => object} perform does the real work, and returns the tool's response
   */
  async tool(tool, input, { agent, checkout }, perform) {
    // The command may have removed the folder.
    const place = () => ({ agent, checkout: existsSync(checkout) ? checkout : this.#world.primary });
    const call = { tool_use_id: `toolu_${String((this.#calls += 1)).padStart(24, '0')}` };
    const { denied, input: updated } = await this.fire(
      `PreToolUse-${tool}`,
      { ...call, tool_input: input },
      place(),
    );
    if (denied !== undefined) return { denied };
    const used = updated ?? input;
    const result = await perform(used);
    const { isError, ...response } = result;
    const after = isError
      ? ['PostToolUseFailure-Bash-exit3', { error: `Exit code ${response.status}\n${response.stderr}` }]
      : [`PostToolUse-${tool}`, { tool_response: response }];
    await this.fire(after[0], { ...call, tool_input: used, ...after[1] }, place());
    return result;
  }
}
