// Throw-away repositories for the rows, built by the program itself: `git handoff init`, guard payloads.
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
import { join, resolve } from 'node:path';

/** The session of the process that measures. */
export const session = '00893aaf-19fa-41d2-8238-13269b9b3ca0';
const peer = '11111111-2222-4333-8444-555555555555';

/** A home with repositories in it. `remove` ends the processes that were started and deletes everything. */
export class Scenario {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'git bench-')));
  env;
  /** The folder of the package that is measured. */
  package;
  launcher;
  #peers = [];

  /** @param {string} root of the package; ours without one */
  constructor(root = resolve(import.meta.dirname, '..')) {
    this.package = root;
    this.launcher = join(root, 'bin', 'git-handoff');
    const home = join(this.dir, 'home');
    mkdirSync(home);
    this.env = {
      PATH: process.env.PATH,
      HOME: home,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'A U Thor',
      GIT_AUTHOR_EMAIL: 'author@example.com',
      GIT_COMMITTER_NAME: 'A U Thor',
      GIT_COMMITTER_EMAIL: 'author@example.com',
    };
  }

  /** Runs a command that has to succeed; its output. */
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

  /**
   * Commits everything. What is as new as git's index, in whole seconds, is read again at every look: here it is read once, in
   * a later second.
   */
  commitAll(root) {
    this.run('git', ['add', '.'], { cwd: root });
    this.run('git', ['commit', '-q', '-m', 'many'], { cwd: root });
    this.run('sleep', ['1']);
    this.run('git', ['status', '--short'], { cwd: root });
  }

  /** A repository with `init`; `sessions`: 0 none, 1 that of this process alone, 2 another one beside it. */
  enabled(name, sessions) {
    const root = this.repository(name);
    return this.#enable(root, name, sessions);
  }

  /** Switches a repository on, with so many sessions in it. */
  share(root, sessions = 2) {
    return this.#enable(root, root, sessions);
  }

  /** The same with this process's session, and another one in another worktree. */
  withWorktree(name) {
    const root = this.enabled(name, 1);
    const other = `${root} beside`;
    this.run('git', ['worktree', 'add', '-q', '-b', 'other', other], { cwd: root });
    this.startPeer(other);
    if (!existsSync(join(root, '.git', 'handoff', 'touched'))) {
      throw new Error(`${name}: it is not kept what is changed where`);
    }
    return root;
  }

  #enable(root, name, sessions) {
    this.run(this.launcher, ['init', '--yes'], { cwd: root });
    if (sessions > 1) this.startPeer(root);
    if (sessions > 0) this.guard(root, start(root, session));
    // A guard that fails open would be measured as a fast one.
    if (existsSync(join(root, '.git', 'handoff-solo')) !== (sessions === 1)) {
      throw new Error(`${name}: the sessions are not registered as they should be`);
    }
    return root;
  }

  /** One call of the guard; its output. */
  guard(root, payload) {
    return this.run(this.launcher, ['guard', '--client', 'claude'], { cwd: root, input: payload });
  }

  /** A session whose process lives on, and is neither a child nor an ancestor of this one. */
  startPeer(root, id = peer) {
    const payload = join(this.dir, `${this.#peers.length}.json`);
    writeFileSync(payload, start(root, id));
    const ready = `${payload}.pid`;
    const script = `( while [ ! -e "$3" ]; do sleep 0.05; done
      "$1" guard --client claude <"$2" >/dev/null; exec sleep 3600 ) >/dev/null 2>&1 &
      echo $!`;
    const pid = Number(this.run('sh', ['-c', script, 'sh', this.launcher, payload, ready], { cwd: root }));
    this.#peers.push(pid);
    writeFileSync(ready, '');
    for (let tries = 0; tries < 100; tries += 1) {
      if (this.run('git', ['for-each-ref', 'refs/handoffs-local/live'], { cwd: root }).includes(id)) break;
      this.run('sleep', ['0.05']);
    }
    // It must be the sleep by now: the guard has ended.
    while (!readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('sleep')) this.run('sleep', ['0.05']);
  }

  remove() {
    for (const pid of this.#peers) process.kill(pid);
    for (let tries = 1; ; tries += 1) {
      try {
        rmSync(this.dir, { recursive: true, force: true });
        return;
      } catch (error) {
        // git tidies up 10,000 loose objects in the background, and makes files while others are removed.
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

/** The payload of a tool call of this process's session. */
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

/** The command that a client's settings hold, as the client runs it. */
export const registered = (scenario, root, input) => ({
  command: 'sh',
  args: ['-c', `p='${scenario.launcher}'; [ -x "$p" ] || exit 0; exec "$p" guard --client claude`],
  input,
  cwd: root,
  env: { ...scenario.env, CLAUDE_CODE_SESSION_ID: session },
});

/** About so many bytes of source code. */
export function source(bytes) {
  const line = 'export const answer = compute("forty", [4, 2]); // the answer\n';
  return line.repeat(Math.floor(bytes / (line.length + 3)));
}
