import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

/** What becomes of a note's carried work when the note is closed, purged or pruned. */

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld();
  world.commit('files', {
    'a.txt': 'one\n',
    'b.txt': 'one\n',
    'gone.txt': 'one\n',
    '.gitattributes': '*.crlf text\n',
  });
});
afterEach(() => world.remove());

const WORK = 'refs/handoffs-local/work';
const text = (name: string) => readFileSync(join(world.path, name), 'utf8');
const put = (name: string, content: string) => writeFileSync(join(world.path, name), content);

/** The rescues, except those made at the end of a turn. */
const discarded = () => world.json(['rescue']).items.filter(({ kind }) => kind !== 'stop');

/** Writes a note with all uncommitted work, and returns the work commit. */
function carry(session = A, topic = 'auth-refresh'): string {
  world.ok(['write', topic, '-m', 'half done', '--with-work', '--', '.'], { session });
  return world.refs(`${WORK}/main/${topic}`).at(-1)?.split('/').at(-1) ?? '';
}

/** Replaces a work commit by the same commit with an older time. */
function aged(oid: string, topic = 'auth-refresh'): string {
  const text = world.git(['cat-file', 'commit', oid]).replace(/> \d+ /g, '> 1760000000 ');
  const old = world.git(['hash-object', '-t', 'commit', '-w', '--stdin'], { input: `${text}\n` });
  world.git(['update-ref', '-d', `${WORK}/main/${topic}/${oid}`]);
  world.git(['update-ref', `${WORK}/main/${topic}/${old}`, old]);
  return old;
}

describe('the work of a closed note', () => {
  it('is removed when its author closes the note, and stays when the note is taken', () => {
    put('a.txt', 'two\n');
    carry();
    world.stop(A);
    world.ok(['take', 'auth-refresh'], { session: B });
    world.stop(B);
    world.ok(['take', 'auth-refresh'], { session: A });
    expect(world.refs(WORK)).toHaveLength(1);
    const { stderr } = world.handoff(['close', 'auth-refresh'], { session: A });
    expect(stderr).toBe('');
    expect(world.refs(WORK)).toEqual([]);
    expect(discarded()).toEqual([]);
  });

  it.each([A, B])('is not named when the note, closed by %s, is opened again', (closer) => {
    put('a.txt', 'two\n');
    carry();
    for (const session of [A, B]) world.stop(session);
    if (closer === B) world.ok(['take', 'auth-refresh'], { session: B });
    world.ok(['close', 'auth-refresh'], { session: closer });
    world.ok(['reopen', 'auth-refresh', '--take'], { session: A });
    expect(world.json(['show', 'auth-refresh'])).toMatchObject({ state: 'open', work: null });
    expect(world.ok(['list'])).not.toContain('with work');
    expect(world.handoff(['unpack', 'auth-refresh']).stderr).toContain('carries no work');
    world.ok(['write', 'auth-refresh', '-m', 'more'], { session: A });
    expect(world.handoff(['unpack', 'auth-refresh']).stderr).toContain('carries no work');
  });

  it('is named again if it was still here', () => {
    put('a.txt', 'two\n');
    const work = carry();
    world.ok(['close', 'auth-refresh'], { session: A });
    world.git(['update-ref', `${WORK}/main/auth-refresh/${work}`, work]);
    world.ok(['reopen', 'auth-refresh'], { session: A });
    expect(world.json(['show', 'auth-refresh'])).toMatchObject({ work: { oid: work } });
  });

  it('is removed when the session that continues its author’s conversation closes the note', () => {
    world.begin(A);
    world.write(A, 'a.txt', 'two\n');
    carry();
    world.end(A, world.path, 'clear');
    world.begin(B, world.path, 'clear');
    const { status, stderr } = world.handoff(['close', 'auth-refresh'], { session: B });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(world.refs(WORK)).toEqual([]);
  });

  it('moves to the rescues when somebody else closes the note, and comes back as it was', () => {
    put('a.txt', 'two\n');
    put('b.txt', 'staged\n');
    world.git(['add', 'b.txt']);
    put('b.txt', 'on the disk\n');
    put('new.sh', '#!/bin/sh\n');
    chmodSync(join(world.path, 'new.sh'), 0o755);
    put('mixed.crlf', 'one\r\ntwo\n');
    rmSync(join(world.path, 'gone.txt'));
    carry();
    world.git(['reset', '-q', '--hard']);
    world.git(['clean', '-qfd']);
    world.stop(A);
    world.ok(['take', 'auth-refresh'], { session: B });
    const { stderr } = world.handoff(['close', 'auth-refresh'], { session: B });
    expect(stderr).toContain(
      'auth-refresh carried uncommitted work of claude aaaaaaaa, which is kept: git handoff rescue show 1',
    );
    expect(world.refs(WORK)).toEqual([]);
    const [rescue] = discarded();
    expect(rescue).toMatchObject({
      number: 1,
      kind: 'seen',
      session: B,
      branch: 'main',
      reason: 'git handoff close main/auth-refresh',
      deleted: ['gone.txt'],
      staged: ['b.txt'],
    });
    expect(world.ok(['rescue', 'show', '1', '--', 'a.txt'])).toContain(
      '== a.txt (4 bytes, session aaaaaaaa)\ntwo',
    );
    const shown = world.ok(['rescue', 'show', '1', '--', 'b.txt']);
    const [, staged = ''] = /the staged text differs: git show (.*)/.exec(shown) ?? [];
    expect(world.git(['show', staged])).toBe('staged');
    world.ok(['rescue', 'restore', '1'], { session: B });
    expect(text('a.txt')).toBe('two\n');
    expect(text('b.txt')).toBe('on the disk\n');
    expect(text('mixed.crlf')).toBe('one\r\ntwo\n');
    expect(world.run('test', ['-x', 'new.sh']).status).toBe(0);
    expect(world.run('git', ['fsck', '--strict']).stdout).not.toMatch(/missing|broken|error/);
  });

  it('is kept as a separate rescue for each other author, but not for the one who closes the note', () => {
    put('a.txt', 'of A\n');
    carry();
    world.stop(A);
    world.ok(['take', 'auth-refresh'], { session: B });
    put('b.txt', 'of B\n');
    carry(B);
    expect(world.refs(WORK)).toHaveLength(2);
    world.ok(['close', 'auth-refresh'], { session: B });
    expect(world.refs(WORK)).toEqual([]);
    expect(discarded().map(({ files }) => files)).toEqual([
      [{ path: 'a.txt', mode: '100644', bytes: 5, owner: A }],
    ]);
  });

  it('continues under another topic after two machines wrote, and is removed with that', () => {
    put('a.txt', 'two\n');
    const work = carry();
    world.ok(['close', 'auth-refresh'], { session: A });
    world.git(['update-ref', `${WORK}/main/login-flow/${work}`, work]);
    world.ok(['reopen', 'auth-refresh'], { session: A });
    world.ok(['close', 'auth-refresh'], { session: A });
    expect(world.refs(WORK)).toEqual([]);
  });

  it('stays if an open note carries it', () => {
    put('a.txt', 'two\n');
    const work = carry();
    world.ok(['write', 'login-flow', '-m', 'other'], { session: A });
    world.git(['update-ref', `${WORK}/main/login-flow/${work}`, work]);
    world.ok(['close', 'login-flow'], { session: A });
    expect(world.refs(WORK)).toEqual([
      `${WORK}/main/auth-refresh/${work}`,
      `${WORK}/main/login-flow/${work}`,
    ]);
  });
});

describe('the work of an older version', () => {
  it('stays as long as the note is open, whatever doctor finds', () => {
    put('a.txt', 'two\n');
    aged(carry());
    put('a.txt', 'three\n');
    carry();
    expect(world.refs(WORK)).toHaveLength(2);
    world.ok(['doctor', '--fix']);
    expect(world.refs(WORK)).toHaveLength(2);
  });
});

describe('work whose note is gone or closed unseen', () => {
  it('is named by doctor and moved to the rescues by --fix, unless a write of its note may be in progress', () => {
    put('a.txt', 'two\n');
    const work = carry();
    for (const ref of ['refs/handoffs/main/auth-refresh', 'refs/handoffs-local/kept/main/auth-refresh'])
      world.git(['update-ref', '-d', ref]);
    const checks = (...more: string[]) =>
      world.json(['doctor', ...more]).items.filter(({ check }) => check === 'work');
    expect(checks()).toEqual([]);
    aged(work);
    expect(checks()).toEqual([
      {
        check: 'work',
        status: 'warning',
        detail: 'uncommitted work of 1 closed or missing note: auth-refresh',
        hint: 'git handoff doctor --fix',
      },
    ]);
    expect(checks('--fix')).toMatchObject([
      { status: 'fixed', detail: expect.stringContaining('is kept: git handoff rescue show 1') as unknown },
    ]);
    expect(world.refs(WORK)).toEqual([]);
    expect(discarded()).toHaveLength(1);
    expect(checks()).toEqual([]);
  });
});

describe('delete and delete --closed', () => {
  it('remove the work, too, here and with the printed command on the remote', () => {
    const bare = join(world.root, 'team.git');
    world.git(['init', '-q', '--bare', bare]);
    world.git(['remote', 'add', 'origin', bare]);
    put('a.txt', 'zebra-4711\n');
    const work = carry();
    const there = `refs/handoffs-work/main/auth-refresh/${work}`;
    world.ok(['sync', '--push', 'origin', '--with-work', 'auth-refresh'], { session: A });
    const { items, remotes } = world.json(['delete', 'auth-refresh', '--yes'], { session: A });
    expect(items.map(({ kind }) => kind)).toContain('work');
    const [{ command }] = remotes as [{ command: string }];
    expect(command).toContain(there);
    expect(world.run('sh', ['-c', command])).toMatchObject({ status: 0 });
    expect(world.refs().filter((name) => name.includes('auth-refresh'))).toEqual([
      'refs/handoffs-local/pruned/main/auth-refresh',
    ]);
    expect(world.git(['for-each-ref'], { cwd: bare })).toBe('');
  });

  it('prune removes what is left of a topic', () => {
    put('a.txt', 'two\n');
    const work = carry();
    world.ok(['close', 'auth-refresh'], { session: A });
    world.git(['update-ref', `${WORK}/main/auth-refresh/${work}`, work]);
    world.ok(['delete', '--closed', '--older-than', '0m', '--yes']);
    expect(world.refs(WORK)).toEqual([]);
  });
});
