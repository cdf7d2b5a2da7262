import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isYash } from '../support/shells.ts';
import { LauncherWorld, toolCall } from './launcher-world.ts';

let world: LauncherWorld;
beforeEach(() => {
  world = new LauncherWorld();
});
afterEach(() => world.remove());

const stop = JSON.stringify({ session_id: 's', cwd: '/', hook_event_name: 'Stop' });
const entry = (file: string): string => `${world.package}/bin/../dist/${file}`;
/** A PATH with what the launcher needs, and without any node. */
function pathWithoutNode(): string {
  const tools = join(world.dir, 'tools');
  mkdirSync(tools, { recursive: true });
  for (const tool of [
    'sh',
    '[',
    'echo',
    'printf',
    'head',
    'timeout',
    'cat',
    'date',
    'readlink',
    'grep',
    'git',
  ]) {
    const found = (process.env['PATH'] ?? '').split(':').find((folder) => existsSync(join(folder, tool)));
    if (found !== undefined) rmSync(join(tools, tool), { force: true });
    if (found !== undefined) symlinkSync(join(found, tool), join(tools, tool));
  }
  return tools;
}

describe('how Node is started', () => {
  it('hands the guard its arguments, the pid of the client, the settings and the payload', () => {
    const run = world.run(['guard', '--client', 'claude'], stop, { env: { FAKE_STDOUT: '{"a":1}' } });
    expect(run).toMatchObject({ status: 0, stdout: '{"a":1}', stderr: '' });
    expect(run.node?.stdin).toBe(stop);
    const pid = String(process.pid);
    const launcher = expect.stringMatching(/^\d+$/) as string;
    const told = ['--client-pid', pid, '--begun', launcher, '--fed', '--kind', 'other'];
    expect(run.node?.argv).toEqual([entry('hook.cjs'), 'guard', '--client', 'claude', ...told]);
  });

  it.skipIf(isYash()).each([
    ['PreToolUse', 'Bash', 'before-shell'],
    ['BeforeTool', 'run_shell_command', 'before-shell'],
    ['PreToolUse', 'run_shell_command', 'before-shell'],
    ['PostToolUse', 'Bash', 'after-shell'],
    ['PreToolUse', 'Edit', 'before-file'],
    ['AfterTool', 'replace', 'after-file'],
    ['SessionStart', '', 'start'],
    ['Stop', '', 'other'],
    ['$(id)', '--kind', 'other'],
  ])('says what %s %s is about, for its compiled code: %s', (event, tool, kind) => {
    const root = world.repository('enabled', true);
    const call = toolCall(root, tool, { file_path: 'handoff' }, { hook_event_name: event });
    const { argv = [], words = [] } = world.run(['guard'], JSON.stringify(call)).node ?? {};
    expect(argv[argv.indexOf('--kind') + 1]).toBe(kind);
    expect(words[0]).toBe(kind);
  });

  it.skipIf(isYash())('hands the start of a session the handoffs and the branches, too', () => {
    const root = world.repository('shared', false);
    mkdirSync(join(root, '.git', 'handoff'), { recursive: true });
    const event = { ...toolCall(root, 'Bash', {}), hook_event_name: 'SessionStart' };
    const { node } = world.run(['guard'], JSON.stringify(event));
    expect(node?.words).toEqual(['start', 'more']);
    expect(node?.settings).toBe('.\n');
    expect(node?.more).toBe('.\n.\n.\n.\n');
  });

  it.skipIf(isYash())('asks git nothing where it hung twice running, until that time is over', () => {
    const root = world.repository('hung', true);
    const call = JSON.stringify(toolCall(root, 'Bash', { command: 'git push' }));
    const file = join(world.home, '.local', 'state', 'git-handoff', 'hung', root.replaceAll('/', '%'));
    mkdirSync(join(file, '..'), { recursive: true });
    world.script(join(world.binaries, 'git'), [`touch '${world.dir}/asked'`]);
    const started = (until: number) => {
      rmSync(join(world.dir, 'asked'), { force: true });
      writeFileSync(file, 'hung\n');
      utimesSync(file, until, until);
      const words = world.run(['guard'], call).node?.words ?? [];
      return { short: words.includes('hung'), asked: existsSync(join(world.dir, 'asked')) };
    };
    expect(started(Date.now() / 1000 + 300)).toEqual({ short: true, asked: false });
    expect(started(Date.now() / 1000 - 5)).toEqual({ short: false, asked: true });
    expect(started(1)).toEqual({ short: false, asked: true });
  });

  it('hands a verb on with its exit status, and standard input', () => {
    const run = world.run(['list', '--json', 'a b', ''], 'note', { env: { FAKE_STATUS: '4' } });
    expect(run.status).toBe(4);
    expect(run.node?.stdin).toBe('note');
    const pid = String(process.pid);
    const begun = ['--begun', expect.stringMatching(/^\d+$/) as string, 'list', '--json', 'a b', ''];
    expect(run.node?.argv).toEqual([entry('cli.cjs'), '--client-pid', pid, ...begun]);
    expect(world.run([]).node?.argv).toEqual([entry('cli.cjs'), '--client-pid', pid]);
  });

  const questions = String.raw`info refs/handoffs-local/kept/main/auth-refresh\n[^]+\nflush\n\n[^]+ missing\n\.\n$`;
  it.each([
    [['list'], String.raw`^\.\n\.\n\.\n\.\n$`],
    [['show', 'auth-refresh'], String.raw`^\.\n${questions}`],
    [['write', 'auth-refresh'], String.raw`^A <\S+> .*\n# branch\.oid \(initial\)@[^]+@@0\n\.\n${questions}`],
  ])('asks git for a verb meanwhile: %s', (words, begun) => {
    const cwd = world.repository('asked', false);
    const env = { GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.com' };
    const { node } = world.run(words, '', { cwd, env });
    expect(node?.begun.replaceAll('\0', '@')).toMatch(new RegExp(begun));
  });

  it('stores a pack and moves refs for a write, where the shell makes a pipe of a here-document', () => {
    const cwd = world.repository('stored', false);
    const input = 'a file\n';
    const other = world.repository('other', false);
    const git = (args: readonly string[], more = {}) => execFileSync('git', args, { cwd: other, ...more });
    const oid = git(['hash-object', '-w', '--stdin'], { input }).toString().trim();
    writeFileSync(join(world.dir, 'pack'), git(['pack-objects', '--stdout', '-q'], { input: `${oid}\n` }));
    world.script(join(world.binaries, 'node'), [
      'case $4 in --begun-store) ;; *) exit ;; esac',
      'cat <&3 >/dev/null',
      `cat '${world.dir}/pack' >&5`,
      `printf 'start\\ncreate refs/stored ${oid}\\nprepare\\ncommit\\n' >&6`,
      'cat <&7',
    ]);
    const env = { GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.com' };
    const { stdout } = world.run(['write', 'auth-refresh'], '', { cwd, env });
    world.script(join(world.dir, 'probe'), [
      '[ -z "$YASH_VERSION" ] && [ -p /proc/self/fd/3 ] 3<<end',
      '',
      'end',
    ]);
    if (world.run([], '', { command: [join(world.dir, 'probe')] }).status !== 0) {
      expect(stdout).toBe('');
      return;
    }
    expect(stdout).toBe('start: ok\nprepare: ok\ncommit: ok\n');
    expect(execFileSync('git', ['cat-file', '-p', 'refs/stored'], { cwd }).toString()).toBe(input);
  });

  it('hands a git hook on, with its exit status unless Node is too old for our file', () => {
    const run = world.run(['hook', 'identity', 'x'], '');
    expect(run.node?.argv).toEqual([
      entry('hook.cjs'),
      'hook',
      'identity',
      '--client-pid',
      String(process.pid),
      '--begun',
      expect.stringMatching(/^\d+$/),
      'x',
    ]);
    const lines = [`case $1 in -e) exit "$TOO_OLD" ;; esac`, 'exit 1'];
    world.script(join(world.binaries, 'node'), lines);
    expect(world.run(['hook', 'pre-push'], '', { env: { TOO_OLD: '0' } }).status).toBe(1);
    expect(world.run(['hook', 'pre-push'], '', { env: { TOO_OLD: '1' } }).status).toBe(0);
  });

  it('prefers the node that was stored, as long as it is there', () => {
    const stored = join(world.dir, 'an older node');
    world.script(stored, ['echo stored']);
    for (const state of [join(world.home, '.local', 'state'), join(world.dir, 'state')]) {
      mkdirSync(join(state, 'git-handoff'), { recursive: true });
      writeFileSync(join(state, 'git-handoff', 'node'), `${stored}\n`);
    }
    expect(world.run(['list']).stdout).toBe('stored\n');
    const env = { XDG_STATE_HOME: join(world.dir, 'state'), HOME: '/nonexistent' };
    expect(world.run(['list'], '', { env }).stdout).toBe('stored\n');
    rmSync(stored);
    expect(world.run(['list']).node).toBeDefined();
    mkdirSync(stored);
    expect(world.run(['list']).node).toBeDefined();
  });

  it('takes the slow certificate file away, and options for Node from the guard', () => {
    world.script(join(world.binaries, 'node'), [
      'echo "${NODE_EXTRA_CA_CERTS-unset} ${NODE_OPTIONS-unset} $LC_ALL"',
    ]);
    const env = { NODE_EXTRA_CA_CERTS: '/x', NODE_OPTIONS: '--inspect-brk', LC_ALL: 'C.UTF-8' };
    expect(world.run(['guard'], stop, { env }).stdout).toBe('unset unset C.UTF-8\n');
    expect(world.run(['list'], '', { env }).stdout).toBe('unset --inspect-brk C.UTF-8\n');
  });

  it('finds the package through links', () => {
    const link = join(world.dir, 'a link');
    mkdirSync(link);
    symlinkSync(join('..', 'the package', 'bin', 'git-handoff'), join(link, 'git-handoff'));
    symlinkSync(join(link, 'git-handoff'), join(world.dir, '-git-handoff'));
    expect(world.run(['list'], '', { command: [join(world.dir, '-git-handoff')] }).node).toBeDefined();
    expect(world.run(['list'], '', { command: ['sh', './-git-handoff'] }).node).toBeDefined();
    const env = { PATH: `${link}:${world.environment()['PATH'] ?? ''}` };
    expect(world.run(['handoff', 'list'], '', { env, command: ['git'] }).node?.argv.at(-1)).toBe('list');
  });

  it('takes no program from a relative entry of PATH', () => {
    for (const tool of ['node', 'head', 'sleep', 'cat']) world.script(join(world.dir, tool), ['touch pwned']);
    const absolute = world.environment()['PATH'] ?? '';
    for (const path of ['.:@', ':@', 'bin/..:@', '@:', '.:@:']) {
      const env = { PATH: path.replace('@', absolute) };
      expect(world.run(['guard'], stop, { env }).node).toBeDefined();
      expect(world.run(['list'], '', { env }).node).toBeDefined();
    }
    expect(existsSync(join(world.dir, 'pwned'))).toBe(false);
  });
});

describe('when something is missing', () => {
  it('stays silent in a hook without Node, and says so in a verb', () => {
    const env = { PATH: pathWithoutNode() };
    expect(world.run(['guard'], stop, { env })).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(world.run(['hook', 'identity'], '', { env })).toMatchObject({ status: 0, stdout: '', stderr: '' });
    const verb = world.run(['list'], '', { env });
    expect(verb).toMatchObject({ status: 7, stdout: '' });
    expect(verb.stderr).toMatch(/^error: node not found\nhint: .+\n$/);
  });

  it('stays silent in a hook without the built files', () => {
    rmSync(join(world.package, 'dist'), { recursive: true });
    expect(world.run(['guard'], stop)).toMatchObject({ status: 0, stdout: '', stderr: '', node: undefined });
    expect(world.run(['hook', 'x'])).toMatchObject({ status: 0, stdout: '', stderr: '', node: undefined });
    expect(world.run(['list'])).toMatchObject({ status: 7, stdout: '', node: undefined });
  });

  // Yash does not look where the call comes from.
  it.skipIf(isYash())('logs one line where there is a log, and lets nothing of the failure out', () => {
    const root = world.repository('solo', true);
    const env = { FAKE_STATUS: '1' };
    const call = JSON.stringify(toolCall(root, 'Bash', { command: 'git push' }));
    expect(world.run(['guard'], call, { env })).toMatchObject({ status: 0, stderr: '' });
    const lines = readFileSync(join(root, '.git', 'handoff', 'guard.log'), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ kind: 'failed-open', detail: 'node failed' });
    expect(world.run(['guard'], stop, { env })).toMatchObject({ status: 0, stderr: '' });
  });

  it('works from a package whose folder has an odd name', () => {
    const odd = join(world.dir, '-it\'s\n a "folder" $(id)');
    cpSync(world.package, odd, { recursive: true });
    const run = world.run(['guard'], stop, { command: [join(odd, 'bin', 'git-handoff')] });
    expect(run.node?.stdin).toBe(stop);
  });
});

describe('the payload', () => {
  it('is not read when the guard is switched off', () => {
    const env = { GIT_HANDOFF: 'off' };
    expect(world.run(['guard'], stop, { env })).toMatchObject({ status: 0, stdout: '', node: undefined });
    expect(world.run(['hook', 'identity'], '', { env })).toMatchObject({ status: 0, node: undefined });
    expect(world.run(['list'], '', { env }).node).toBeDefined();
  });

  it.each([200_000, 262_000, 262_080, 262_143, 262_144, 262_145, 1_000_000])(
    'arrives whole: %i bytes',
    (size) => {
      const payload = stop + ' '.repeat(size - stop.length - 2) + '\n}';
      // A newline at the end of the first piece may go: a blank to JSON.
      const stdin = world.run(['guard'], payload).node?.stdin;
      expect(stdin?.replace('\n', '')).toBe(payload.replace('\n', ''));
      const blank = `${stop}${'\n'.repeat(50)}`.padStart(size);
      expect(world.run(['guard'], blank).node?.stdin.trim()).toBe(stop);
    },
  );

  it('may never come: the guard ends by itself', async () => {
    const child = spawn(world.launcher, ['guard'], {
      env: world.environment(),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const status = await new Promise((resolve) => child.on('exit', resolve));
    child.stdin.destroy();
    expect(status).toBe(0);
  });
});
