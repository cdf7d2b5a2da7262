import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CALLER, GuardWorld, HANDOFF_REF, OWNER } from '../support/guard.ts';
import { readAnswer } from '../support/hook-answer.ts';
import { LAUNCHER, type RunOptions } from '../support/repository.ts';
import { containing } from '../support/matchers.ts';

/** Whatever is broken around it, the guard lets the call through: exit 0, nothing on stdout, a line in the log. */

let world: GuardWorld;
beforeEach(() => {
  world = new GuardWorld({ calls: 'process' });
});
afterEach(() => {
  world.remove();
});

/** A call that is refused when everything works. */
const foreignWrite = () => ({
  session_id: CALLER,
  cwd: world.path,
  hook_event_name: 'PreToolUse',
  tool_name: 'Write',
  tool_input: { file_path: world.file, content: 'x' },
});

function tryForeignWrite(options: RunOptions & { readonly launcher?: string } = {}) {
  const run = world.run(options.launcher ?? LAUNCHER, ['guard', '--client', 'claude'], {
    ...options,
    input: JSON.stringify(foreignWrite()),
  });
  return readAnswer(run, 'PreToolUse');
}

/** A PATH with nothing on it but these programs. */
function pathOf(...programs: string[]): string {
  const folder = join(world.root, 'programs');
  mkdirSync(folder, { recursive: true });
  for (const program of programs) {
    const found = world.run('sh', ['-c', `command -v ${program}`]).stdout.trim();
    symlinkSync(program === 'node' ? process.execPath : found, join(folder, program));
  }
  return folder;
}

/** An environment without node: neither on PATH nor where `init` found it. */
function withoutNode(): Record<string, string> {
  writeFileSync(join(world.home, '.local', 'state', 'git-handoff', 'node'), '/nonexistent/node\n');
  return { PATH: pathOf(...BASE) };
}

const BASE = ['sh', 'head', 'timeout', 'date', 'readlink', 'cat', 'grep'] as const;

describe('the guard', () => {
  it('denies this call when nothing is broken', () => {
    expect(tryForeignWrite()).toMatchObject({ kind: 'deny' });
  });

  it('protects the files without git, which that does not need', () => {
    const answer = tryForeignWrite({ env: { PATH: pathOf(...BASE, 'node') } });
    expect(answer).toMatchObject({ kind: 'deny' });
  });

  it('lets a start through without git, and says so in the log', () => {
    const start = { hook_event_name: 'SessionStart', session_id: CALLER, source: 'startup' };
    const answer = world.hook(start, { env: { PATH: pathOf(...BASE, 'node') } });
    expect(answer).toEqual({ kind: 'silent' });
    expect(world.log().map(({ kind }) => kind)).toContain('open');
  });

  it('does not wait for a FIFO in the place of a note', () => {
    const fifo = join(world.memory, 'handoff-main-some-topic.md');
    world.run('mkfifo', [fifo]);
    const call = { ...foreignWrite(), tool_input: { file_path: fifo, content: 'x' } };
    const words = ['10', LAUNCHER, 'guard', '--client', 'claude'];
    expect(world.run('timeout', words, { input: JSON.stringify(call) })).toMatchObject({ status: 0 });
  });

  it('lets a start through if git does not answer in time, and says so in the log', () => {
    const folder = join(world.root, 'slow');
    const path = world.env()['PATH'] ?? '';
    mkdirSync(folder);
    const script = `#!/bin/sh\ncase " $* " in *' unpack-objects '*) sleep 20 ;; esac\nPATH='${path}' exec git "$@"\n`;
    writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
    const began = performance.now();
    const start = { hook_event_name: 'SessionStart', session_id: 'sess-late', source: 'startup' };
    const run = world.guard(start, { env: { PATH: `${folder}:${path}` } });
    expect(readAnswer(run, 'SessionStart')).toEqual({ kind: 'silent' });
    expect(performance.now() - began).toBeLessThan(20_000);
    // There are two time limits; either may be reached first.
    const late = expect.stringMatching(/deadline|took too long and was stopped/) as string;
    expect(world.log()).toContainEqual(expect.objectContaining({ detail: late }));
  });

  it('lets a call through without node, and says so in the log', () => {
    expect(tryForeignWrite({ env: withoutNode() })).toEqual({ kind: 'silent' });
    expect(world.log()).toMatchObject([{ kind: 'failed-open', detail: containing('node') }]);
  });

  it('lets a call through when its package lacks the built files', () => {
    const folder = join(world.root, 'package', 'bin');
    mkdirSync(folder, { recursive: true });
    cpSync(LAUNCHER, join(folder, 'git-handoff'));
    expect(tryForeignWrite({ launcher: join(folder, 'git-handoff') })).toEqual({ kind: 'silent' });
    expect(world.log()).toMatchObject([{ kind: 'failed-open' }]);
  });

  it.each([
    ['throws', 'throw new Error("broken")'],
    ['cannot be parsed', 'this is no JavaScript'],
    ['fails', 'process.stdout.write("");process.exit(3)'],
  ])('lets a call through when what it starts %s', (_, code) => {
    const folder = join(world.root, 'package');
    mkdirSync(join(folder, 'bin'), { recursive: true });
    mkdirSync(join(folder, 'dist'));
    cpSync(LAUNCHER, join(folder, 'bin', 'git-handoff'));
    writeFileSync(join(folder, 'dist', 'hook.cjs'), code);
    expect(tryForeignWrite({ launcher: join(folder, 'bin', 'git-handoff') })).toEqual({ kind: 'silent' });
    expect(world.log()).toMatchObject([{ kind: 'failed-open' }]);
  });

  it('keeps protecting the files when the settings cannot be read', () => {
    writeFileSync(join(world.path, '.git', 'config'), '[core\nbroken');
    expect(tryForeignWrite()).toMatchObject({ kind: 'deny' });
  });

  it.each([
    ['a FIFO', (file: string) => world.run('mkfifo', [file])],
    ['a folder', (file: string) => mkdirSync(file)],
    ['a link to a folder', (file: string) => symlinkSync('/', file)],
    ['a link to nowhere', (file: string) => symlinkSync('/nonexistent/log', file)],
    ['a device', (file: string) => symlinkSync('/dev/full', file)],
  ])('decides as ever when its log is %s', (_, make) => {
    const file = join(world.path, '.git', 'handoff', 'guard.log');
    rmSync(file, { force: true });
    make(file);
    expect(tryForeignWrite()).toMatchObject({ kind: 'deny' });
    expect(tryForeignWrite({ env: withoutNode() })).toEqual({ kind: 'silent' });
  });

  it('does not write its log through a link to somebody else’s file', () => {
    const victim = join(world.root, 'victim');
    writeFileSync(victim, 'mine');
    const file = join(world.path, '.git', 'handoff', 'guard.log');
    rmSync(file, { force: true });
    symlinkSync(victim, file);
    tryForeignWrite();
    expect(readFileSync(victim, 'utf8')).toBe('mine');
  });

  it('decides as usual if it may not write in the repository', () => {
    rmSync(join(world.path, '.git', 'handoff'), { recursive: true });
    // A file in place of the folder: not even root can write there.
    writeFileSync(join(world.path, '.git', 'handoff'), '');
    chmodSync(join(world.path, '.git', 'handoff'), 0o444);
    expect(tryForeignWrite()).toMatchObject({ kind: 'deny' });
    const ls = { tool_name: 'Bash', tool_input: { command: 'ls refs/handoffs' } };
    expect(world.hook(ls)).toEqual({ kind: 'silent' });
  });
});

/** Every path in the git directory, with data that shows whether it changed. */
function gitDirectory({ path }: GuardWorld): string[] {
  const top = join(path, '.git');
  return readdirSync(top, { recursive: true, encoding: 'utf8' })
    .map((name) => [name, lstatSync(join(top, name))] as const)
    .map(([name, { mode, size, mtimeMs }]) => `${name} ${mode} ${size} ${mtimeMs}`)
    .sort();
}

describe('the kill switch', () => {
  it('of the environment lets everything through, and leaves no trace', () => {
    const before = gitDirectory(world);
    // The payload comes from a file, because the launcher does not read it, and a pipe would break.
    const payload = join(world.root, 'payload');
    for (const event of ['PreToolUse', 'SessionStart', 'Stop', 'SessionEnd']) {
      writeFileSync(payload, JSON.stringify({ ...foreignWrite(), hook_event_name: event }));
      const run = world.run('sh', ['-c', '"$0" guard --client claude <"$1"', LAUNCHER, payload], {
        env: { GIT_HANDOFF: 'off' },
      });
      expect(readAnswer(run, event)).toEqual({ kind: 'silent' });
    }
    expect(gitDirectory(world)).toEqual(before);
  });

  it.each(['repository', 'global'])('of the %s settings does so, too', (scope) => {
    if (scope === 'global') world.git(['config', '--unset-all', 'handoff.enabled']);
    world.git(['config', scope === 'global' ? '--global' : '--local', 'handoff.enabled', 'false']);
    expect(tryForeignWrite()).toEqual({ kind: 'silent' });
    expect(world.before('Bash', { command: `git update-ref -d ${HANDOFF_REF}` })).toEqual({ kind: 'silent' });
    expect(world.sessionStart(OWNER)).toEqual({ kind: 'silent' });
    expect(world.refs('refs/handoffs-local/live')).toEqual([]);
  });
});

describe('a repository without init', () => {
  it('keeps no trace of a session, whatever it does', () => {
    const plain = new GuardWorld({ calls: 'process', initialised: false });
    try {
      const before = gitDirectory(plain);
      plain.sessionStart(CALLER);
      plain.before('Bash', { command: `echo x > ${plain.file}` });
      plain.before('Bash', { command: `git update-ref -d ${HANDOFF_REF}` });
      plain.before('Write', { file_path: plain.file, content: 'x' });
      plain.after('Bash', { command: `cat ${plain.file} # handoff-main-auth-refresh.md` });
      plain.hook({ hook_event_name: 'SubagentStart', agent_id: 'agent1' });
      plain.hook({ hook_event_name: 'Stop' });
      plain.hook({ hook_event_name: 'SessionEnd', reason: 'other' });
      expect(gitDirectory(plain)).toEqual(before);
      expect(plain.refs('refs/handoffs-local/live')).toEqual([]);
      expect(existsSync(join(plain.path, '.git', 'handoff'))).toBe(false);
    } finally {
      plain.remove();
    }
  });
});
