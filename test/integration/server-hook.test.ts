import { chmodSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { LAUNCHER, finished } from '../support/repository.ts';
import type { Forgery } from '../support/forger.ts';
import { A, B, ServerWorld, remoteLines } from '../support/server-world.ts';

const REF = 'refs/handoffs/main/auth-refresh';
const STATE = '{"version": 1, "branch": "main", "topic": "auth-refresh"}';
const BOTH = `Claude-Session-Id: ${A}\nClaude-Session-Id: ${B}`;

let world: ServerWorld;
afterEach(() => world.remove());

const write = (text: string, session = A, ...more: string[]) =>
  world.noted(['write', 'auth-refresh', '-m', text, ...more], { session });

function commitOf(message: string): string {
  world.git(['commit', '-q', '--allow-empty', '-F', '-'], { input: message });
  return world.git(['rev-parse', 'HEAD']);
}

/** Pushes, which must be refused; returns what the server said. */
function refused(refspecs: readonly string[], ref = REF): string[] {
  const before = world.there(ref);
  const run = world.push(refspecs, { flags: ['--force'] });
  expect(run.status, run.stderr).toBe(1);
  expect(world.there(ref)).toBe(before);
  return remoteLines(run);
}

describe('the gate refuses', () => {
  it.each<[string, Forgery, string]>([
    ['a foreign owner', { owner: B }, 'foreign owner without a take'],
    [
      'a take from another',
      { owner: B, trailers: ['Handoff-Taken-From: cccccccc-3'] },
      'taken from somebody',
    ],
    ['another branch', { branch: 'other' }, 'names another branch or topic'],
    ['another topic', { topic: 'login-flow' }, 'names another branch or topic'],
    ['no note', { note: null }, 'no handoff.md'],
    ['a state that is no JSON', { state: '{' }, 'unreadable state.json'],
    ['a state of 5 MB', { state: `${STATE}${' '.repeat(5e6)}` }, 'unreadable state.json'],
    ['a later format', { version: 2 }, 'written by a later git-handoff than this server has'],
    ['no trailers', { message: 'by hand\n' }, 'unreadable trailers'],
    ['trailers above the last paragraph', { message: `x\n\n${BOTH}\n\nbody\n` }, 'unreadable trailers'],
    [
      'a message of 17 KB',
      { message: `${'x'.repeat(17e3)}\n\nClaude-Session-Id: ${A}\nHandoff-State: open\n` },
      'a commit object of more than 16 KiB',
    ],
    ['a note over 1 MiB', { note: 'x'.repeat(1024 * 1024 + 1) }, 'a note of more than 1 MiB'],
  ])('%s', (_, made, reason) => {
    world = new ServerWorld('server-pre-receive');
    const first = world.handmade();
    expect(world.push([`${first}:${REF}`])).toMatchObject({ status: 0, stderr: '' });
    const next = world.handmade({ parents: [first], ...made });
    const [error, hint] = refused([`${next}:${REF}`]);
    expect(error).toContain(`error: ${REF}: ${reason}`);
    expect(hint).toMatch(/^hint: git handoff /);
  });

  it('deletions, rewinds, what is not built on the tip, and what is no commit', () => {
    world = new ServerWorld('server-pre-receive');
    write('one');
    write('two');
    world.push([REF]);
    expect(refused([`:${REF}`])).toEqual([
      `error: ${REF}: deleted`,
      'hint: git handoff close main/auth-refresh',
    ]);
    expect(refused([`${REF}~:${REF}`])).toEqual([
      `error: ${REF}: rewound or replaced`,
      'hint: git handoff sync',
    ]);
    expect(refused([`${world.handmade()}:${REF}`])[0]).toContain('rewound or replaced');
    world.git(['tag', '-a', '-m', 'x', 'v1', REF]);
    expect(refused([`v1:${REF}`])[0]).toBe(`error: ${REF}: points at something that is not a commit`);
    for (const what of ['^{tree}', ':handoff.md']) {
      expect(refused([`${REF}${what}:${REF}`])[0]).toContain('points at something that is not a commit');
    }
    expect(refused([`main:${REF}`])[0]).toContain('unreadable state.json');
  });

  it('a bad step under a good one, and a merge of what is no handoff', () => {
    world = new ServerWorld('server-pre-receive');
    const first = world.handmade();
    const foreign = world.handmade({ parents: [first], owner: B });
    const tip = world.handmade({ parents: [foreign], owner: B });
    expect(refused([`${tip}:${REF}`])[0]).toBe(`error: ${REF}: foreign owner without a take`);
    const merge = world.handmade({ parents: [first, 'HEAD'] });
    expect(refused([`${merge}:${REF}`])[0]).toContain('unreadable state.json');
    const octopus = world.handmade({ parents: [first, foreign, tip] });
    expect(refused([`${octopus}:${REF}`])[0]).toContain('too many parents');
  });

  it.each([
    'refs/handoffs/HEAD',
    'refs/handoffs/main/fix',
    'refs/handoffs/main/Auth-Refresh',
    'refs/handoffs/main/auth-refresh/more-words',
    'refs/handoffs/main/a\u202eb-c',
  ])('the name %j, which may be cleared away', (ref) => {
    world = new ServerWorld('server-pre-receive');
    const [error] = refused([`${world.handmade()}:${ref}`], ref);
    expect(error).toMatch(/^error: refs\/handoffs\S*: not the name of a handoff/);
    expect(error).not.toContain('\u202e');
    world.git(
      [
        'update-ref',
        ref,
        world.git(['commit-tree', '-m', 'x', world.git(['mktree'], { cwd: world.server, input: '' })], {
          cwd: world.server,
        }),
      ],
      { cwd: world.server },
    );
    expect(world.push([`:${ref}`]).status).toBe(0);
  });

  it('a symbolic ref, and a machine’s bookkeeping refs, except to delete them', () => {
    world = new ServerWorld('server-pre-receive');
    write('one');
    world.push([REF]);
    world.git(['symbolic-ref', 'refs/handoffs/main/other-name', REF], { cwd: world.server });
    const next = world.handmade({ parents: [REF], topic: 'other-name' });
    expect(refused([`${next}:refs/handoffs/main/other-name`])[0]).toContain(
      'a symbolic ref is not a handoff',
    );
    const leak = 'refs/handoffs-local/kept/main/auth-refresh';
    for (const ref of [leak, 'refs/handoffs-remote/origin/main/auth-refresh']) {
      expect(refused([`${REF}:${ref}`], ref)[0]).toBe(
        `error: ${ref}: the bookkeeping of one machine is never pushed`,
      );
    }
    world.git(['update-ref', leak, REF], { cwd: world.server });
    expect(world.push([`:${leak}`]).status).toBe(0);
  });

  it('a commit with 100,000 parents, unread, in a second', () => {
    world = new ServerWorld('server-pre-receive');
    const first = world.handmade();
    const body = world
      .git(['cat-file', 'commit', first])
      .replace(/(?<=^tree .*\n)/, `parent ${first}\n`.repeat(1e5));
    const wide = world.git(['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], { input: body });
    const line = `${'0'.repeat(40)} ${wide} ${REF}\n`;
    const begin = performance.now();
    const run = world.handoff(['check', '--stdin'], { input: line });
    expect(run).toMatchObject({ status: 1 });
    expect(run.stdout).toContain('a commit object of more than 16 KiB');
    // A generous multiple of the usual 0.1 s: the machine may be busy.
    expect(performance.now() - begin).toBeLessThan(5000);
  });

  it('commits of two sessions anywhere on a branch or a tag, and says what helps', () => {
    world = new ServerWorld('server-pre-receive');
    world.push(['main']);
    const both = commitOf(`both\u001b[31m\n\n${BOTH}\n`);
    const lines = refused(['main'], 'refs/heads/main');
    expect(lines[0]).toBe(
      `error: ${both.slice(0, 7)} "both\\u{1b}[31m" mixes the work of sessions aaaaaaaa, bbbbbbbb`,
    );
    expect(refused(['main:new'], 'refs/heads/new')[0]).toContain('mixes the work of sessions');
    world.git(['tag', '-a', '-m', 'x', 'v1']);
    expect(refused(['v1'], 'refs/tags/v1')[0]).toContain('mixes the work of sessions');
    const hint = lines.find((line) => line.startsWith('hint: git commit --amend')) ?? '';
    const amended = world.run('sh', [
      '-c',
      hint.slice('hint: '.length).replace('--amend', '--amend --allow-empty'),
    ]);
    expect(amended.status, amended.stderr).toBe(0);
    expect(world.push(['main'])).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    ['a NUL before the trailers', (text: string) => Buffer.from(text.replace('\n\n', '\n\n\0'))],
    [
      'a NUL at the end of a line before them',
      (text: string) => Buffer.from(text.replace('\n\n', '\n\nx\0')),
    ],
    ['another encoding', (text: string) => Buffer.from(text, 'utf16le')],
  ])('of two sessions that %s hides from git itself', (_, encode) => {
    world = new ServerWorld('server-pre-receive');
    world.push(['main']);
    const [headers = ''] = world.git(['cat-file', 'commit', 'main']).split('\n\n');
    const parent = world.git(['rev-parse', 'main']);
    const own = headers.replace(/^(tree .*)(?:\nparent .*)*/, `$1\nparent ${parent}`);
    const input = Buffer.concat([Buffer.from(`${own}\n\n`), encode(`both\n\n${BOTH}\n`)]);
    const both = world.git(['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], { input });
    world.git(['update-ref', 'refs/heads/main', both]);
    expect(world.git(['log', '-1', '--format=%B'])).not.toContain('bbbbbbbb');
    commitOf('fine');
    expect(refused(['main'], 'refs/heads/main')[0]).toMatch(
      /mixes the work of sessions (?:aaaaaaaa, bbbbbbbb|bbbbbbbb, aaaaaaaa)$/,
    );
  });

  it('a commit below the tip that names thousands of sessions', () => {
    world = new ServerWorld('server-pre-receive');
    const ids = Array.from(
      { length: 20_000 },
      (_, n) => `Claude-Session-Id: ${String(n).padStart(8, '0')}-x`,
    );
    commitOf(`many\n\n${ids.join('\n')}\n`);
    commitOf('fine');
    const [error, hint] = refused(['main'], 'refs/heads/main');
    expect(error).toMatch(/mixes the work of sessions 00000000, .* and 251 more$/);
    expect(hint).toContain('git rebase -i');
  });
});

describe('the gate accepts', () => {
  it('a state file with unknown content, of a size that it reads', () => {
    world = new ServerWorld('server-pre-receive');
    const odd = world.handmade({ state: `${STATE}${' '.repeat(5e4)}` });
    expect(world.push([`${odd}:${REF}`])).toMatchObject({ status: 0, stderr: '' });
  });

  it('every legal step, one by one and all at once', () => {
    world = new ServerWorld('server-pre-receive');
    const steps: [string, () => unknown][] = [
      ['create', () => write('one')],
      ['write', () => write('two')],
      ['take', () => world.ok(['take', 'auth-refresh'], { session: B })],
      ['close', () => world.ok(['close', 'auth-refresh'], { session: B })],
      ['reopen with a take', () => world.ok(['reopen', 'auth-refresh', '--take'], { session: A })],
    ];
    for (const [name, step] of steps) {
      step();
      expect(world.push([REF]), name).toMatchObject({ status: 0, stderr: '' });
      expect(world.there(REF)).toBe(world.ref(REF));
    }
    const other = 'refs/handoffs/main/login-flow';
    world.git([
      'update-ref',
      'refs/handoffs/feature%2Fx/login-flow',
      world.handmade({ branch: 'feature/x', topic: 'login-flow' }),
    ]);
    const left = world.handmade({ topic: 'login-flow' });
    const right = world.handmade({
      topic: 'login-flow',
      parents: [left],
      owner: B,
      trailers: [`Handoff-Taken-From: ${A}`],
    });
    const ours = world.handmade({ topic: 'login-flow', parents: [left], note: 'ours\n' });
    world.git(['update-ref', other, world.handmade({ topic: 'login-flow', parents: [ours, right] })]);
    const succeeds = world.handmade({
      topic: 'third-thing',
      owner: B,
      parents: [world.handmade({ topic: 'third-thing' })],
      trailers: [`Handoff-Succeeds: ${A}`],
    });
    world.git(['update-ref', 'refs/handoffs/main/third-thing', succeeds]);
    expect(world.push(['refs/handoffs/*:refs/handoffs/*', 'main'], { flags: ['--atomic'] })).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(world.there(other)).toBe(world.ref(other));
  });

  it('branches, tags and notes, forced, renamed and deleted', () => {
    world = new ServerWorld('server-pre-receive');
    world.git(['tag', 'of-a-blob', world.git(['hash-object', '-w', '--stdin'], { input: 'x' })]);
    world.git(['tag', '-a', '-m', 'x', 'of-a-tree', 'HEAD^{tree}']);
    world.git(['notes', 'add', '-m', 'x']);
    expect(world.push(['main', 'main:new', '--tags', 'refs/notes/*:refs/notes/*'])).toMatchObject({
      status: 0,
      stderr: '',
    });
    commitOf(`one\n\nClaude-Session-Id: ${A}\n`);
    commitOf(`two\n\n${BOTH}\nHandoff-Accepted-From: ${B}\n`);
    world.git(['switch', '-qc', 'side', 'HEAD~']);
    commitOf(`side\n\nClaude-Session-Id: ${B}\n`);
    world.git(['switch', '-q', 'main']);
    world.git(['merge', '-q', '--no-ff', '-m', `merge\n\n${BOTH}`, 'side']);
    expect(world.push(['main', ':new', ':of-a-blob'])).toMatchObject({ status: 0, stderr: '' });
    world.git(['reset', '-q', '--hard', 'HEAD~2']);
    expect(world.push(['main'], { flags: ['--force'] })).toMatchObject({ status: 0, stderr: '' });
  });

  it('a commit of two ids of one conversation, if a handoff in the push or on the server says so', () => {
    world = new ServerWorld('server-pre-receive');
    commitOf(`both\n\n${BOTH}\n`);
    expect(world.push(['main']).status).toBe(1);
    const first = world.handmade();
    const next = world.handmade({ parents: [first], owner: B, trailers: [`Handoff-Succeeds: ${A}`] });
    const last = world.handmade({ parents: [next], owner: B });
    world.git(['update-ref', REF, last]);
    expect(world.push(['main', REF])).toMatchObject({ status: 0, stderr: '' });
    commitOf(`again\n\n${BOTH}\n`);
    expect(world.push(['main'])).toMatchObject({ status: 0, stderr: '' });
  });

  it('what was pushed before the gate was installed, and checks nothing twice', () => {
    world = new ServerWorld(undefined);
    commitOf(`both\n\n${BOTH}\n`);
    world.push(['main']);
    world.install('server-pre-receive');
    commitOf('fine');
    expect(world.push(['main', 'main:other'])).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('the gate, wherever it runs', () => {
  it('is the same in a sha256 repository', () => {
    world = new ServerWorld('server-pre-receive', { objectFormat: 'sha256' });
    write('one');
    expect(world.push([REF, 'main'])).toMatchObject({ status: 0, stderr: '' });
    expect(refused([`:${REF}`])[0]).toBe(`error: ${REF}: deleted`);
  });

  it('answers over git daemon, without a home, an identity or init', async () => {
    world = new ServerWorld('server-pre-receive');
    const { url, stop } = await world.serve('daemon');
    try {
      write('one');
      expect(world.push([REF, 'main'], { to: url })).toMatchObject({ status: 0, stderr: '' });
      const run = world.push([`:${REF}`], { to: url });
      expect(run.status).toBe(1);
      expect(remoteLines(run)).toEqual([
        `error: ${REF}: deleted`,
        'hint: git handoff close main/auth-refresh',
      ]);
      const forged = world.handmade({ parents: [REF], owner: B });
      expect(world.push([`${forged}:${REF}`], { to: url }).status).toBe(1);
      expect(world.there(REF)).toBe(world.ref(REF));
    } finally {
      await stop();
    }
  });

  it('answers over http', async () => {
    world = new ServerWorld('server-pre-receive');
    const { url, stop } = await world.serve('http');
    const push = (refspec: string) =>
      finished(world.start('git', ['push', '-q', '--no-verify', '--force', url, refspec]));
    try {
      write('one');
      expect(await push(REF)).toMatchObject({ status: 0, stderr: '' });
      const run = await push(`:${REF}`);
      expect(remoteLines(run)).toEqual([
        `error: ${REF}: deleted`,
        'hint: git handoff close main/auth-refresh',
      ]);
      expect(run.status).toBe(1);
      expect(world.there(REF)).toBe(world.ref(REF));
    } finally {
      await stop();
    }
  });

  it('answers over file:// and ssh, even with push options and the pusher’s variables', () => {
    world = new ServerWorld('server-pre-receive');
    world.git(['config', 'receive.advertisePushOptions', 'true'], { cwd: world.server });
    const ssh = join(world.root, 'ssh');
    // The last argument is the command for the other machine.
    writeFileSync(ssh, '#!/bin/sh\nfor last; do :; done\nexec env -i PATH="$PATH" sh -c "$last"\n');
    chmodSync(ssh, 0o755);
    const env = { GIT_SSH: ssh, GIT_HANDOFF: 'off', NODE_OPTIONS: '--bad-option' };
    for (const to of [`file://${world.server}`, `ssh://127.0.0.1${world.server}`]) {
      // There must be something to push: with push options and nothing to push, git may die from a SIGPIPE.
      write(to);
      const flags = ['--push-option=handoff=off', '--force'];
      expect(world.push([REF], { to, env, flags })).toMatchObject({ status: 0, stderr: '' });
      const run = world.push([`:${REF}`], { to, env, flags });
      expect(remoteLines(run)[0]).toBe(`error: ${REF}: deleted`);
    }
  });

  it.each(['server-pre-receive', 'server-update'] as const)(
    '%s is not judged by programs of the pusher',
    (hook) => {
      world = new ServerWorld(hook);
      write('one');
      world.push([REF]);
      const binaries = join(world.root, 'bin');
      const state = join(world.root, 'state', 'git-handoff');
      for (const folder of [binaries, state]) mkdirSync(folder, { recursive: true });
      // A PATH that leads to the pusher's own git-handoff.
      const answers = { node: 'exit 0', 'git-handoff': 'exit 0', readlink: `printf %s ${binaries}/hook` };
      for (const [name, answer] of Object.entries(answers)) {
        writeFileSync(join(binaries, name), `#!/bin/sh\n${answer}\n`, { mode: 0o755 });
      }
      writeFileSync(join(state, 'node'), `${join(binaries, 'node')}\n`);
      const env = {
        PATH: `${binaries}:${world.env()['PATH'] ?? ''}`,
        XDG_STATE_HOME: dirname(state),
      };
      const run = world.push([`:${REF}`], { env, flags: ['--no-verify'] });
      expect(remoteLines(run)[0]).toBe(`error: ${REF}: deleted`);
      expect(world.there(REF)).toBeDefined();
    },
  );

  it.each(['server-pre-receive', 'server-update'] as const)(
    '%s runs the git that called it, since the system’s git might not read the repository',
    (hook) => {
      world = new ServerWorld(hook);
      write('one');
      const own = world.git(['--exec-path']);
      const core = join(world.root, 'git-core');
      mkdirSync(core);
      for (const name of readdirSync(own).filter((each) => each !== 'git')) {
        symlinkSync(join(own, name), join(core, name));
      }
      const asked = join(world.root, 'asked');
      const script = `#!/bin/sh\nprintf '%s\\n' "$*" >>'${asked}'\nexec '${own}/git' "$@"\n`;
      writeFileSync(join(core, 'git'), script, { mode: 0o755 });
      expect(world.push([REF], { env: { GIT_EXEC_PATH: core } })).toMatchObject({ status: 0, stderr: '' });
      expect(readFileSync(asked, 'utf8')).toMatch(/cat-file/);
    },
  );

  it.each([
    'refs/Handoffs/main/x-y',
    'refs/handoff\u{17f}/main/x-y',
    'refs/HANDOFFS-local/live/x',
    'refs/hand\u{200d}offs/x',
  ])('refuses %s, which some file systems take for ours', (ref) => {
    world = new ServerWorld('server-pre-receive');
    expect(refused([`HEAD:${ref}`], ref)[0]).toContain(
      'some servers treat that name as one of refs/handoffs*',
    );
    expect(world.push(['HEAD:refs/heads/Handoffs']).status).toBe(0);
  });

  it('judges each ref alone as an update hook, and accepts the others', () => {
    world = new ServerWorld('server-update');
    write('one');
    world.push([REF]);
    const run = world.push([`:${REF}`, 'main']);
    expect(run.status).toBe(1);
    expect(remoteLines(run).filter((line) => !line.includes('hook declined'))).toEqual([
      `error: ${REF}: deleted`,
      'hint: git handoff close main/auth-refresh',
    ]);
    expect(world.there('refs/heads/main')).toBe(world.ref('HEAD'));
    expect(world.push([`:${REF}`, 'main:new'], { flags: ['--atomic'] }).status).toBe(1);
    expect(world.there('refs/heads/new')).toBeUndefined();
  });

  it('works as a copy if git-handoff is on PATH, and refuses if it is not, or fails', () => {
    world = new ServerWorld('server-pre-receive');
    world.install('server-pre-receive', 'copy');
    write('one');
    const bare = join(world.root, 'bin');
    mkdirSync(bare);
    const node = world.env()['PATH']?.split(':')[1] ?? '';
    const ours = dirname(LAUNCHER);
    const path = (world.env()['PATH'] ?? '').split(':').filter((folder) => folder !== ours);
    const run = world.push([REF], { env: { PATH: path.join(':') } });
    expect(run.status).toBe(1);
    expect(remoteLines(run)).toEqual([
      'error: this server checks pushes with git-handoff, which is not installed on it: nothing was accepted',
      expect.stringMatching(/^hint: on the server, in a clone of git-handoff: .*; or remove /),
    ]);
    expect(node).not.toBe('');
    symlinkSync(LAUNCHER, join(bare, 'git-handoff'));
    expect(world.push([REF], { env: { PATH: [bare, ...path].join(':') } })).toMatchObject({
      status: 0,
      stderr: '',
    });
    world.install('server-pre-receive');
    world.git(['config', '--add', 'core.bare', 'perhaps'], { cwd: world.server });
    expect(world.push(['main']).status).not.toBe(0);
  });

  it('refuses if another hook has consumed its standard input', () => {
    world = new ServerWorld(undefined);
    const run = world.handoff(['check', '--stdin'], { cwd: world.server, input: '' });
    expect(run).toMatchObject({ status: 2, stdout: '' });
    expect(run.stderr).toMatch(/^error: expected lines .*, got nothing\nhint: git help githooks\n$/);
  });

  it('judges the fallback under refs/heads, too, if the server is set up so', () => {
    world = new ServerWorld('server-pre-receive');
    write('one');
    const fallback = 'refs/heads/handoffs/main/auth-refresh';
    expect(world.push([`${REF}:${fallback}`, `HEAD:refs/heads/handoffs/x`]).status).toBe(0);
    world.push([':refs/heads/handoffs/x']);
    world.git(['config', 'handoff.remotePrefix', 'refs/heads/handoffs/'], { cwd: world.server });
    expect(refused([`:${fallback}`], fallback)).toEqual([
      `error: ${fallback}: deleted`,
      'hint: git handoff close main/auth-refresh',
    ]);
    for (const ref of ['refs/heads/handoffs/x', 'refs/heads/handoffs']) {
      expect(refused([`HEAD:${ref}`], ref)[0]).toContain('not the name of a handoff');
    }
    write('two');
    expect(world.push([`${REF}:${fallback}`, REF])).toMatchObject({ status: 0, stderr: '' });
  });

  it('answers programs', () => {
    world = new ServerWorld(undefined);
    const zero = '0'.repeat(40);
    const input = `${zero} ${world.ref('HEAD')} refs/handoffs/main/x\n${zero} ${zero} ${REF}\n`;
    expect(world.json(['check', '--stdin'], { input })).toMatchObject({
      ok: true,
      handoffs: 2,
      items: [{ kind: 'illegal', ref: 'refs/handoffs/main/x', branch: null, topic: null }],
    });
    for (const words of [['--update'], ['--stdin', 'x'], ['--stdin', '--update'], ['a', 'b']]) {
      expect(world.handoff(['check', ...words]).status).toBe(2);
    }
  });
});
