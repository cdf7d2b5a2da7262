import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PredecessorWorld } from '../support/predecessors.ts';

const [LOGIN, RELEASE] = ['4f1c2a90-7b1d-4c55-9a31-0c2f5e8d1101', '9d20f7aa-1111-4c55-9a31-0c2f5e8d2202'];
const me = 'cccccccc-3333';
const marked = (owner: string, text = '# x\n') => `<!-- claude-session: ${owner} -->\n${text}`;
let world: PredecessorWorld;
beforeEach(() => {
  world = new PredecessorWorld();
  world.git(['branch', 'feature/login']);
});
afterEach(() => world.remove());

describe('the handoff files of claude-handoff-guard', () => {
  it('become handoffs of the sessions that their markers name, byte for byte', () => {
    world.has('guard');
    expect(world.imported([], me)).toEqual({
      'handoff-feature-login-token-refresh.md': `create feature/login/token-refresh ${LOGIN} open`,
      'handoff-main-release-notes.md': `create main/release-notes ${RELEASE} open`,
      'handoff-main-search-index.md': `create main/search-index ${RELEASE} closed`,
      'handoff-main-old-plan.md': `create main/old-plan ${me} closed`,
    });
    for (const [file, topic] of [
      ['handoff-feature-login-token-refresh.md', 'feature/login/token-refresh'],
      ['handoff-archive/handoff-main-search-index.md', 'main/search-index'],
      ['handoff-main-old-plan.md', 'main/old-plan'],
    ] as const) {
      const shown = world.handoff(['show', topic, '--raw']);
      expect(shown.bytes.equals(readFileSync(join(world.memory, file)))).toBe(true);
    }
    expect(world.trailers('main/release-notes')).toEqual({
      'Claude-Session-Id': RELEASE,
      'Handoff-State': 'open',
      'Handoff-Imported-From': expect.stringMatching(
        /^guard:[0-9a-f]{8}\/handoff-main-release-notes\.md$/,
      ) as string,
    });
    expect(world.json(['list']).items.find(({ topic }) => topic === 'release-notes')).toMatchObject({
      summary: 'Session Handoff - 2026-05-06 - main - release-notes',
    });
    expect(world.ok(['log', 'feature/login/token-refresh'])).toContain('create');
    expect(world.handoff(['doctor']).stdout).toContain('4 handoffs, none moved by hand');
  });

  it('are shown as a plan first; --dry-run changes nothing', () => {
    world.has('guard');
    const { status, stdout } = world.handoff(['import', '--dry-run'], { session: me });
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^create {2}main\/release-notes +open +9d20f7aa +\S+handoff-main-release-notes\.md$/m,
    );
    expect(stdout).toMatch(
      /^create {2}main\/old-plan +closed +cccccccc +\S+ {2}\(closed, because no session owns it\)$/m,
    );
    expect(stdout).toMatch(/\n4 to import\n$/);
    expect(world.values()).toBe('');
    const done = world.handoff(['import'], { session: me });
    expect(done.stdout.split('\n').slice(0, 4)).toEqual(stdout.split('\n').slice(0, 4));
    expect(done.stdout).toMatch(/\n4 imported; the files stay where they are\n$/);
  });

  it('are not imported twice, even under another name when the branch is gone', () => {
    world.has('guard');
    world.imported([], me);
    const before = world.values();
    world.git(['branch', '-D', 'feature/login']);
    const again = world.handoff(['import'], { session: me });
    expect(again.status).toBe(0);
    expect(again.stdout).toMatch(/\n0 imported, 4 there already\n$/);
    expect(world.values()).toBe(before);
    const file = join(world.memory, 'handoff-feature-login-token-refresh.md');
    world.put(file, marked(LOGIN, 'changed\n'));
    expect(world.imported([], me)['handoff-feature-login-token-refresh.md']).toBe(
      `update feature/login/token-refresh ${LOGIN} open`,
    );
  });

  it('that changed become the next version, but only of the same owner', () => {
    const file = world.put(join(world.memory, 'handoff-main-auth-refresh.md'), marked('sess-one', 'v1\n'));
    world.imported([], me);
    world.put(file, marked('sess-one', 'v2\n'));
    expect(world.imported([], me)).toEqual({
      'handoff-main-auth-refresh.md': 'update main/auth-refresh sess-one open',
    });
    world.put(file, marked('sess-two', 'v3\n'));
    world.put(join(world.memory, 'handoff-main-other-thing.md'), marked('sess-two'));
    const refused = world.handoff(['import'], { session: me });
    expect(refused.status).toBe(3);
    expect(refused.stderr).toBe(
      'error: not everything was imported: main/auth-refresh belongs to session sess-one\nhint: git handoff take main/auth-refresh\n',
    );
    expect(world.ref('refs/handoffs/main/other-thing')).toBeDefined();
    world.ok(['take', 'main/auth-refresh'], { session: me });
    expect(world.imported([], me)['handoff-main-auth-refresh.md']).toBe(
      `update main/auth-refresh ${me} open`,
    );
    expect(world.ok(['show', 'auth-refresh', '--raw'])).toBe(marked('sess-two', 'v3'));
    expect(world.json(['log', 'auth-refresh']).items.map(({ step }) => step)).toEqual([
      'write',
      'take',
      'write',
      'create',
    ]);
  });

  it('never replace a note that somebody wrote here', () => {
    world.ok(['write', 'auth-refresh', '-m', 'written'], { session: 'sess-one' });
    const file = world.put(join(world.memory, 'handoff-main-auth-refresh.md'), marked('sess-one', 'v1\n'));
    expect(world.imported([], me)).toEqual({
      'handoff-main-auth-refresh.md': 'create main/auth-refresh-2 sess-one open',
    });
    world.put(file, marked('sess-one', 'v2\n'));
    expect(world.imported([], me)).toEqual({
      'handoff-main-auth-refresh.md': 'update main/auth-refresh-2 sess-one open',
    });
    world.ok(['write', 'auth-refresh-2', '-m', 'goes on'], { session: 'sess-one' });
    expect(world.imported([], me)).toEqual({
      'handoff-main-auth-refresh.md': 'unchanged main/auth-refresh-2 sess-one open',
    });
    expect(world.ok(['show', 'auth-refresh', '--raw'])).toBe('written');
  });

  it('that were archived since close their notes', () => {
    const name = 'handoff-main-auth-refresh.md';
    const file = world.put(join(world.memory, name), marked('sess-one'));
    world.imported([], me);
    mkdirSync(join(world.memory, 'handoff-archive'));
    renameSync(file, join(world.memory, 'handoff-archive', name));
    expect(world.imported([], me)).toEqual({ [name]: 'close main/auth-refresh sess-one closed' });
    expect(world.imported([], me)).toEqual({ [name]: 'unchanged main/auth-refresh sess-one closed' });
    expect(world.json(['log', 'auth-refresh']).items.map(({ step }) => step)).toEqual(['close', 'create']);
  });

  it('with the same name in the folder and in the archive become two topics', () => {
    const name = 'handoff-main-auth-refresh.md';
    world.put(join(world.memory, 'handoff-archive', name), marked('sess-one', 'old\n'), 60);
    world.put(join(world.memory, name), marked('sess-two', 'new\n'));
    const { items } = world.json(['import'], { session: me });
    expect(items.map(({ topic, owner, state }) => [topic, owner, state])).toEqual([
      ['auth-refresh', 'sess-two', 'open'],
      ['auth-refresh-2', 'sess-one', 'closed'],
    ]);
    const before = world.values();
    world.json(['import'], { session: me });
    expect(world.values()).toBe(before);
  });

  it('of a session at work are left to it', () => {
    world.ok(['init', '--yes']);
    for (const session_id of [me, 'sess-live'])
      world.guard({ session_id, hook_event_name: 'SessionStart', source: 'startup' });
    world.put(join(world.memory, 'handoff-main-auth-refresh.md'), marked('sess-live'));
    world.put(join(world.memory, 'handoff-main-other-thing.md'), marked('sess-over'));
    const refused = world.handoff(['import'], { session: me });
    expect(refused.stderr).toMatch(/session sess-liv is at work/);
    expect(refused.status).toBe(3);
    expect(world.refs('refs/handoffs/')).toEqual(['refs/handoffs/main/other-thing']);
    world.guard({ session_id: 'sess-live', hook_event_name: 'SessionEnd', reason: 'other' });
    expect(world.handoff(['import'], { session: me }).status).toBe(0);
    expect(world.trailers('main/auth-refresh')['Claude-Session-Id']).toBe('sess-live');
  });

  it('are found for every working tree of the repository', () => {
    const tree = world.worktree('feature/x');
    const memory = join(world.home, '.claude', 'projects', tree.replace(/[/\\.]/g, '-'), 'memory');
    world.put(join(memory, 'handoff-feature-x-auth-refresh.md'), marked('sess-one'));
    expect(world.imported([], me)).toEqual({
      'handoff-feature-x-auth-refresh.md': 'create feature/x/auth-refresh sess-one open',
    });
  });

  it('are imported to --branch and --topic instead of the place in their name', () => {
    const file = world.put(join(world.root, 'handoff-main-auth-refresh.md'), marked('sess-one'));
    expect(world.imported(['--branch', 'feature/login', '--topic', 'my-own', file], me)).toEqual({
      'handoff-main-auth-refresh.md': 'create feature/login/my-own sess-one open',
    });
    // Without options, the note is found by the file name in its commit; with `--branch`, another note is meant.
    expect(world.imported([file], me)).toEqual({
      'handoff-main-auth-refresh.md': 'unchanged feature/login/my-own sess-one open',
    });
    expect(world.imported(['--branch', 'main', file], me)).toEqual({
      'handoff-main-auth-refresh.md': 'create main/auth-refresh sess-one open',
    });
    expect(world.handoff(['import', file, '--branch', 'nope']).stderr).toBe(
      'error: there is no branch nope\nhint: git branch nope\n',
    );
    expect(world.handoff(['import', file, '--topic', 'Nope']).status).toBe(2);
    expect(world.handoff(['import', file, '--from', 'nope']).status).toBe(2);
    world.has('guard');
    expect(world.handoff(['import', '--topic', 'my-own']).stderr).toMatch(
      /--topic is for one file, and 4 were found/,
    );
  });
});

describe('hostile files', () => {
  it('are left out with a reason, and the rest is imported', () => {
    const at = (name: string) => join(world.memory, name);
    world.put(at('handoff-main-good-one.md'), marked('sess-one'));
    world.put(at('handoff-main-huge-one.md'), Buffer.alloc(1024 * 1024 + 1, 'x'));
    world.put(at('handoff-main-empty-one.md'), ' \n');
    symlinkSync('/etc/passwd', at('handoff-main-linked-one.md'));
    symlinkSync(at('handoff-main-good-one.md'), at('handoff-main-linked-two.md'));
    world.run('mkfifo', [at('handoff-main-pipe-one.md')]);
    mkdirSync(at('handoff-main-folder-one.md'));
    symlinkSync('/etc', at('handoff-archive'));
    const { status, stdout } = world.handoff(['import'], { session: me });
    expect(status).toBe(0);
    const reasons = stdout
      .split('\n')
      .flatMap((line) => /^skip.*\/(handoff-\S+) {2}\((.*)\)$/.exec(line)?.slice(1).join(': ') ?? []);
    expect(reasons).toEqual([
      'handoff-main-folder-one.md: it is a folder',
      'handoff-main-huge-one.md: it has 1048577 bytes, at most 1048576 are imported',
      'handoff-main-linked-one.md: it is a symbolic link',
      'handoff-main-linked-two.md: it is a symbolic link',
      'handoff-main-pipe-one.md: it is not a regular file',
      'handoff-main-empty-one.md: it is empty',
    ]);
    expect(world.refs('refs/handoffs/')).toEqual(['refs/handoffs/main/good-one']);
  });

  it.each<[string, Uint8Array]>([
    ['NUL and no text', Buffer.from([0x23, 0x20, 0x00, 0xff, 0xfe, 0x80])],
    ['CRLF without an end', Buffer.from('# a\r\nb')],
    ['a byte order mark', Buffer.from(`\uFEFF${marked('sess-one')}`)],
    ['a lone CR', Buffer.from('# a\rb\r')],
    ['1 MiB', Buffer.alloc(1024 * 1024, 'x\n')],
    ['trailers', Buffer.from('x\n\nClaude-Session-Id: evil\nHandoff-State: closed\n')],
  ])('keep their bytes: %s', (_, bytes) => {
    const file = world.put(join(world.memory, 'handoff-main-auth-refresh.md'), bytes);
    expect(world.handoff(['import', file], { session: me }).status).toBe(0);
    expect(world.handoff(['show', 'auth-refresh', '--raw']).bytes.equals(bytes)).toBe(true);
    expect(world.handoff(['import', file], { session: me }).stdout).toContain('1 there already');
  });

  it('with names that could steer a terminal are shown escaped, and get a topic', () => {
    const name = 'handoff-Main_\u001b[2J\nHandoff-State: closed.md';
    world.put(join(world.memory, name), marked('sess-one'));
    const { stdout, status } = world.handoff(['import'], { session: me });
    expect(status).toBe(0);
    expect(stdout).toContain('handoff-Main_\\u{1b}[2J\\nHandoff-State: closed.md');
    expect(stdout).not.toContain('\u001b');
    expect(world.trailers('main/2j-handoff-state-closed')['Handoff-State']).toBe('open');
  });

  it.each([
    ['a link', (path: string) => symlinkSync('/etc/passwd', path), /is a symbolic link/],
    ['a FIFO', (path: string) => void world.run('mkfifo', [path]), /not a regular file/],
    ['nothing', () => undefined, /there is no/],
    ['too much', (path: string) => writeFileSync(path, Buffer.alloc(2 ** 20 + 1)), /bytes/],
    ['a folder of anything', (path: string) => mkdirSync(path), /not a folder in a known format/],
  ])('that were named are an error: %s', (_, make, why) => {
    const path = join(world.root, 'given');
    make(path);
    const { status, stderr } = world.handoff(['import', path], { session: me });
    expect(status).toBe(2);
    expect(stderr).toMatch(why);
    expect(world.refs('refs/handoffs/')).toEqual([]);
  });

  it('if there are none, the message names the places where import looked', () => {
    const { status, stderr } = world.handoff(['import']);
    expect(status).toBe(1);
    expect(stderr).toContain(world.memory);
  });
});
