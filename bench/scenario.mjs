// Temporary repositories for the rows, built with `git handoff init` and calls of the guard.
import { spawnSync } from 'node:child_process';
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
import { delimiter, dirname, join, resolve } from 'node:path';

/** The session of the measuring process. */
export const session = '00893aaf-19fa-41d2-8238-13269b9b3ca0';
const peer = '11111111-2222-4333-8444-555555555555';

/** A home with repositories in it. `remove` deletes everything, and ends the processes of peers. */
export class Scenario {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'git bench-')));
  env;
  launcher;
  #peers = [];

  /**
   * All programs get this process's Node, but not NODE_EXTRA_CA_CERTS, which makes every start of Node 20 three times as
   * long. (The launcher removes that variable, too.)
   *
   * @param {string} root the package's folder; default: ours
   */
  constructor(root = resolve(import.meta.dirname, '..')) {
    this.launcher = join(root, 'bin', 'git-handoff');
    const home = join(this.dir, 'home');
    mkdirSync(home);
    const { PATH, BASH_COMPAT } = process.env;
    this.env = {
      PATH: [dirname(process.execPath), PATH].join(delimiter),
      // macOS's way (mac-way.mjs)
      ...(BASH_COMPAT === undefined ? {} : { BASH_COMPAT }),
      HOME: home,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'A U Thor',
      GIT_AUTHOR_EMAIL: 'author@example.com',
      GIT_COMMITTER_NAME: 'A U Thor',
      GIT_COMMITTER_EMAIL: 'author@example.com',
    };
  }

  /** Runs a command that must succeed; returns its output. */
  run(command, args, options = {}) {
    const done = spawnSync(command, args, {
      env: this.env,
      encoding: 'utf8',
      maxBuffer: 64 << 20,
      ...options,
    });
    if (done.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${done.stderr}${done.stdout}`);
    return done.stdout;
  }

  /** A repository with one commit and `src/a.ts`. */
  repository(name) {
    const root = join(this.dir, name);
    mkdirSync(join(root, 'src'), { recursive: true });
    this.run('git', ['init', '-q', '-b', 'main', root]);
    writeFileSync(join(root, 'src', 'a.ts'), 'export const a = 1;\n');
    this.run('git', ['add', '.'], { cwd: root });
    this.run('git', ['commit', '-q', '-m', 'first'], { cwd: root });
    return root;
  }

  /** A repository where `init` ran, with no session, with 1 (of this process), or with 2 (also a peer's). */
  enabled(name, sessions, root = this.repository(name)) {
    this.run(this.launcher, ['init', '--yes'], { cwd: root });
    if (sessions > 1) this.startPeer(root);
    if (sessions > 0) this.guard(root, start(root, session));
    // Otherwise a guard that fails open would be measured as a fast one.
    if (existsSync(join(root, '.git', 'handoff-solo')) !== (sessions === 1)) {
      throw new Error(`${name}: the sessions are not registered as they should be`);
    }
    return root;
  }

  /** Calls the guard once; returns its output. */
  guard(root, payload) {
    return this.run(this.launcher, ['guard', '--client', 'claude'], { cwd: root, input: payload });
  }

  /** Starts a session whose process keeps running, and is neither a child nor an ancestor of this one. */
  startPeer(root) {
    const payload = join(this.dir, `${this.#peers.length}.json`);
    writeFileSync(payload, start(root, peer));
    const script = `( while [ ! -e "$2.pid" ]; do sleep 0.05; done
      "$1" guard --client claude <"$2" >/dev/null; : >"$2.done"; exec sleep 3600 ) >/dev/null 2>&1 &
      echo $!`;
    const pid = Number(this.run('sh', ['-c', script, 'sh', this.launcher, payload], { cwd: root }));
    this.#peers.push(pid);
    writeFileSync(`${payload}.pid`, '');
    for (let tries = 0; tries < 400 && !existsSync(`${payload}.done`); tries += 1)
      this.run('sleep', ['0.05']);
    if (!this.run('git', ['for-each-ref', 'refs/handoffs-local/live'], { cwd: root }).includes(peer)) {
      throw new Error(`${root}: the peer is not registered`);
    }
  }

  remove() {
    for (const pid of this.#peers) process.kill(pid);
    for (let tries = 1; ; tries += 1) {
      try {
        rmSync(this.dir, { recursive: true, force: true });
        return;
      } catch (error) {
        // git may still be packing objects in the background, which creates files during the removal.
        if (tries === 60) throw error;
        spawnSync('sleep', ['0.5']);
      }
    }
  }
}

const base = (root, id, event) => ({
  session_id: id,
  transcript_path: `/home/user/.claude/projects/-repo/${id}.jsonl`,
  cwd: root,
  hook_event_name: event,
});

export const start = (root, id) => JSON.stringify({ ...base(root, id, 'SessionStart'), source: 'startup' });

/** The payload at the end of a turn, from this process's session. */
export const stop = (root) => JSON.stringify(base(root, session, 'Stop'));

/** The payload of a tool call, from this process's session. */
export function toolCall(root, tool, input, more = {}) {
  const event = more.tool_response === undefined ? 'PreToolUse' : 'PostToolUse';
  return JSON.stringify({
    ...base(root, session, event),
    permission_mode: 'default',
    effort: { level: 'high' },
    tool_name: tool,
    tool_input: input,
    ...more,
    tool_use_id: 'toolu_01ABCDEFGHIJKLMNOPQRSTUV',
  });
}

/** The environment of commands that this process's session starts. */
export const inSession = ({ env }) => ({ ...env, CLAUDE_CODE_SESSION_ID: session });

/** Bare Node: the unit of most figures. @returns {import('./measure.mjs').Command} */
export const bareNode = ({ env }) => ({ command: process.execPath, args: ['-e', '0'], env });

/** The hook's command in a client's settings, as the client runs it. */
export const registered = (scenario, root, input) => ({
  command: 'sh',
  args: ['-c', `p='${scenario.launcher}'; [ -x "$p" ] || exit 0; exec "$p" guard --client claude`],
  input,
  cwd: root,
  env: inSession(scenario),
});

/** About this many bytes of source code. */
export function source(bytes) {
  const line = 'export const answer = compute("forty", [4, 2]); // the answer\n';
  return line.repeat(Math.floor(bytes / (line.length + 3)));
}
