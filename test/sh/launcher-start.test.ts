import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isYash, shells } from '../support/shells.ts';
import { LauncherWorld, toolCall } from './launcher-world.ts';

let world: LauncherWorld;

const stop = JSON.stringify({ session_id: 's', cwd: '/', hook_event_name: 'Stop' });
/** What Node is started with: our file, and the pid of the launcher's parent. */
const started = () => [`${world.package}/bin/../dist/start.cjs`, String(process.pid)];
/** A PATH with what the launcher needs, and without any node. */
function pathWithoutNode(): string {
  const tools = join(world.dir, 'tools');
  mkdirSync(tools, { recursive: true });
  for (const tool of ['sh', '[', 'echo', 'printf', 'cat', 'date', 'readlink', 'grep', 'git']) {
    const found = (process.env['PATH'] ?? '').split(':').find((folder) => existsSync(join(folder, tool)));
    if (found !== undefined) rmSync(join(tools, tool), { force: true });
    if (found !== undefined) symlinkSync(join(found, tool), join(tools, tool));
  }
  return tools;
}

describe.each(shells)('how Node is started, under $name', (shell) => {
  beforeEach(() => {
    world = new LauncherWorld(shell);
  });
  afterEach(() => world.remove());

  it('passes the guard its arguments, the pid of the client and the payload', () => {
    const run = world.run(['guard', '--client', 'claude'], stop, { env: { FAKE_STDOUT: '{"a":1}' } });
    expect(run).toMatchObject({ status: 0, stdout: '{"a":1}', stderr: '' });
    expect(run.node?.stdin).toBe(stop);
    expect(run.node?.argv).toEqual([...started(), 'guard', '--client', 'claude']);
    expect(world.run(['guard', 'a b', '', '--client-pid', '7'], stop).node?.argv).toEqual([
      ...started(),
      'guard',
      'a b',
      '',
      '--client-pid',
      '7',
    ]);
  });

  it('passes on a verb’s words, exit status and standard input', () => {
    const run = world.run(['list', '--json', 'a b', ''], 'note', { env: { FAKE_STATUS: '4' } });
    expect(run.status).toBe(4);
    expect(run.node?.stdin).toBe('note');
    expect(run.node?.argv).toEqual([...started(), 'list', '--json', 'a b', '']);
    expect(world.run([]).node?.argv).toEqual(started());
  });

  it('passes on a git hook’s words, exit status and standard input', () => {
    const run = world.run(['hook', 'pre-push', 'x', ''], 'refs', { env: { FAKE_STATUS: '1' } });
    expect(run.status).toBe(1);
    expect(run.node?.stdin).toBe('refs');
    expect(run.node?.argv).toEqual([...started(), 'hook', 'pre-push', 'x', '']);
  });

  it('keeps a caller’s file descriptor open for a verb', () => {
    world.script(join(world.binaries, 'node'), ['cat <&5']);
    const command = ['/bin/sh', '-c', 'exec 5<"$1"; "$2" write --file /dev/fd/5', 'sh'];
    writeFileSync(join(world.dir, 'note'), 'a note');
    expect(world.run([join(world.dir, 'note'), world.launcher], '', { command }).stdout).toBe('a note');
  });

  it('prefers the stored node as long as it exists', () => {
    const stored = join(world.dir, 'an older node');
    world.script(stored, ['echo stored']);
    for (const state of [join(world.home, '.local', 'state'), join(world.dir, 'state')]) {
      mkdirSync(join(state, 'git-handoff'), { recursive: true });
      writeFileSync(join(state, 'git-handoff', 'node'), `${stored}\n`);
    }
    expect(world.run(['list']).stdout).toBe('stored\n');
    const env = { XDG_STATE_HOME: join(world.dir, 'state'), HOME: '/nonexistent' };
    expect(world.run(['list'], '', { env }).stdout).toBe('stored\n');
    // XDG says to ignore a relative path, which could lead into the repository.
    const relative = { XDG_STATE_HOME: 'state', HOME: '/nonexistent' };
    expect(world.run(['list'], '', { env: relative }).stdout).toBe('');
    rmSync(stored);
    expect(world.run(['list']).node).toBeDefined();
    mkdirSync(stored);
    expect(world.run(['list']).node).toBeDefined();
  });

  it('removes the slow certificate file setting, and for the guard also options for Node', () => {
    world.script(join(world.binaries, 'node'), [
      'echo "${NODE_EXTRA_CA_CERTS-unset} ${NODE_OPTIONS-unset} $LC_ALL"',
    ]);
    const env = { NODE_EXTRA_CA_CERTS: '/x', NODE_OPTIONS: '--inspect-brk', LC_ALL: 'C.UTF-8' };
    expect(world.run(['guard'], stop, { env }).stdout).toBe('unset unset C.UTF-8\n');
    expect(world.run(['hook', 'x'], '', { env }).stdout).toBe('unset unset C.UTF-8\n');
    expect(world.run(['list'], '', { env }).stdout).toBe('unset --inspect-brk C.UTF-8\n');
    const root = world.repository('beside', false);
    mkdirSync(join(root, '.git', 'handoff'));
    expect(world.run(['guard'], stop, { env, cwd: root }).stdout).toBe('unset unset C.UTF-8\n');
    world.script(join(world.binaries, 'node'), ['echo "${LC_ALL-none}"']);
    expect(world.run(['guard'], stop, { env: { LC_ALL: 'C' } }).stdout).toBe('C\n');
    const { stdout } = world.run(['-c', 'unset LC_ALL; exec "$0" guard', world.launcher], stop, {
      command: ['/bin/sh'],
    });
    expect(stdout).toBe('none\n');
  });

  it('finds the package through links', () => {
    const link = join(world.dir, 'a link');
    mkdirSync(link);
    symlinkSync(join('..', 'the package', 'bin', 'git-handoff'), join(link, 'git-handoff'));
    symlinkSync(join(link, 'git-handoff'), join(world.dir, '-git-handoff'));
    expect(world.run(['list'], '', { command: [join(world.dir, '-git-handoff')] }).node).toBeDefined();
    expect(world.run(['list'], '', { command: ['sh', './-git-handoff'] }).node).toBeDefined();
    symlinkSync(join('a link', 'git-handoff'), join(world.dir, 'git-handoff'));
    expect(world.run(['list'], '', { command: ['sh', 'git-handoff'] }).node).toBeDefined();
    expect(world.run(['list'], '', { command: ['sh', 'a link/git-handoff'] }).node).toBeDefined();
    expect(
      world.run(['list'], '', { command: ['sh', 'git-handoff'], cwd: join(world.package, 'bin') }).node,
    ).toBeDefined();
    const env = { PATH: `${link}:${world.environment()['PATH'] ?? ''}` };
    expect(world.run(['handoff', 'list'], '', { env, command: ['git'] }).node?.argv.at(-1)).toBe('list');
  });

  it('uses no program from a relative entry of PATH', () => {
    for (const tool of ['node', 'head', 'sleep', 'cat']) world.script(join(world.dir, tool), ['touch pwned']);
    const absolute = world.environment()['PATH'] ?? '';
    for (const path of ['.:@', ':@', 'bin/..:@', '@:', '.:@:']) {
      const env = { PATH: path.replace('@', absolute) };
      expect(world.run(['guard'], stop, { env }).node).toBeDefined();
      expect(world.run(['list'], '', { env }).node).toBeDefined();
    }
    for (const PATH of ['', '.', ':', 'bin:.']) {
      const words = [world.launcher, 'guard'];
      world.run(words, stop, { env: { PATH }, command: ['/bin/sh'] });
      world.run([world.launcher, 'list'], '', { env: { PATH }, command: ['/bin/sh'] });
    }
    expect(existsSync(join(world.dir, 'pwned'))).toBe(false);
  });
});

describe.each(shells)('when something is missing, under $name', (shell) => {
  beforeEach(() => {
    world = new LauncherWorld(shell);
  });
  afterEach(() => world.remove());

  it('is silent in a hook without Node, and reports it in a verb', () => {
    const env = { PATH: pathWithoutNode() };
    expect(world.run(['guard'], stop, { env })).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(world.run(['hook', 'identity'], '', { env })).toMatchObject({ status: 7, stdout: '', stderr: '' });
    const verb = world.run(['list'], '', { env });
    expect(verb).toMatchObject({ status: 7, stdout: '' });
    expect(verb.stderr).toMatch(/^error: node not found\nhint: .+\n$/);
  });

  it('is silent in a hook without the built files', () => {
    rmSync(join(world.package, 'dist'), { recursive: true });
    expect(world.run(['guard'], stop)).toMatchObject({ status: 0, stdout: '', stderr: '', node: undefined });
    expect(world.run(['hook', 'x'])).toMatchObject({ status: 7, stdout: '', stderr: '', node: undefined });
    const verb = world.run(['list']);
    expect(verb).toMatchObject({ status: 7, stdout: '', node: undefined });
    expect(verb.stderr).toBe(
      'error: the package is incomplete: dist/start.cjs is missing\nhint: in a clone of git-handoff: npm ci && npm run build && npm i -g --install-links .\n',
    );
  });

  const logged = (folder: string) =>
    readFileSync(join(folder, 'guard.log'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);

  // Under yash, the launcher does not check where the call comes from.
  it.skipIf(isYash(shell))('logs one line if there is a log, and shows nothing of the failure', () => {
    const root = world.repository('solo', true);
    const state = join(world.home, '.local', 'state', 'git-handoff');
    mkdirSync(state, { recursive: true });
    const call = JSON.stringify(toolCall(root, 'Bash', { command: 'git push' }));
    world.script(join(world.binaries, 'node'), ['echo no >&2', 'exit 1']);
    expect(world.run(['guard'], call)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(logged(join(root, '.git', 'handoff'))).toMatchObject([
      { kind: 'failed-open', detail: 'node failed' },
    ]);
    world.script(join(world.binaries, 'node'), ['kill -9 $$']);
    expect(world.run(['guard'], call)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(logged(join(root, '.git', 'handoff'))).toHaveLength(2);
    expect(existsSync(join(state, 'guard.log'))).toBe(false);
    expect(world.run(['guard'], stop)).toMatchObject({ status: 0, stderr: '' });
    expect(logged(state)).toMatchObject([{ kind: 'failed-open', detail: 'node failed' }]);
    rmSync(join(world.package, 'dist'), { recursive: true });
    expect(world.run(['guard'], stop)).toMatchObject({ status: 0, stderr: '' });
    expect(logged(state)).toMatchObject([{}, { detail: 'node or the package is missing' }]);
    expect(world.run(['guard'], call, { cwd: root })).toMatchObject({ status: 0, stderr: '' });
    expect(logged(join(root, '.git', 'handoff'))).toHaveLength(3);
    // The launcher writes only to a regular file, and creates no folder for a log.
    rmSync(state, { recursive: true });
    expect(world.run(['guard'], stop)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(existsSync(state)).toBe(false);
    mkdirSync(join(state, 'guard.log'), { recursive: true });
    expect(world.run(['guard'], stop)).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });

  it('works from a package whose folder has an odd name', () => {
    const odd = join(world.dir, '-it\'s\n a "folder" $(id)');
    cpSync(world.package, odd, { recursive: true });
    const run = world.run(['guard'], stop, { command: [join(odd, 'bin', 'git-handoff')] });
    expect(run.node?.stdin).toBe(stop);
  });
});

describe.each(shells)('the payload, under $name', (shell) => {
  beforeEach(() => {
    world = new LauncherWorld(shell);
  });
  afterEach(() => world.remove());

  it('is not read when the guard is switched off', () => {
    const env = { GIT_HANDOFF: 'off' };
    expect(world.run(['guard'], stop, { env })).toMatchObject({ status: 0, stdout: '', node: undefined });
    expect(world.run(['hook', 'identity'], '', { env })).toMatchObject({ status: 0, node: undefined });
    expect(world.run(['list'], '', { env }).node).toBeDefined();
  });

  it.each([200_000, 262_000, 262_080, 262_143, 262_144, 262_145, 1_000_000])(
    'arrives complete: %i bytes',
    (size) => {
      const payload = stop + ' '.repeat(size - stop.length - 2) + '\n}';
      expect(world.run(['guard'], payload).node?.stdin).toBe(payload);
      const blank = `${stop}${'\n'.repeat(50)}`.padStart(size);
      expect(world.run(['guard'], blank).node?.stdin.trim()).toBe(stop);
    },
  );
});
