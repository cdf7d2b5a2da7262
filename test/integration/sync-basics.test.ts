import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clone, Clones, TRANSPORTS, refValues } from '../support/clones.ts';

const NOTE = '# Goal\n\nFinish the refresh.\n\n\ttabs and trailing blanks  \n';
const REF = 'refs/handoffs/main/auth-refresh';

let world: Clones;
let ada: Clone;
let bob: Clone;
const begin = async (transport: (typeof TRANSPORTS)[number] = 'path') => {
  world = await Clones.start(transport);
  ada = world.clone('Ada');
  bob = world.clone('Bob');
};
afterEach(() => world.remove());

/** Every ref, of every machine. */
const everything = () => [world.server, ada, bob].map((machine) => refValues(machine, 'refs'));

describe.each(TRANSPORTS)('over %s', (transport) => {
  beforeEach(() => begin(transport));

  it('a handoff reaches the other machine byte for byte, and is continued there', () => {
    const oid = ada.write('auth-refresh', NOTE);
    const said = ada.sync();
    expect(said).toContain('origin has no handoffs yet');
    expect(said).toContain(`to ${world.server.url}`);
    expect(said).toContain('0 fetched, 1 pushed');
    expect(bob.sync()).toMatch(/created +main\/auth-refresh/);
    expect(bob.note('auth-refresh')).toBe(NOTE);
    expect(bob.list()).toEqual([
      { branch: 'main', topic: 'auth-refresh', oid, owner: ada.session, state: 'open' },
    ]);
    const next = bob.write('auth-refresh', 'bob\n', ['--take']);
    expect(bob.sync()).not.toContain('has no handoffs yet');
    expect(ada.sync()).toMatch(/forwarded +main\/auth-refresh/);
    expect(ada.ref(REF)).toBe(next);
    expect(ada.list()).toEqual(bob.list());
    expect(ada.ok(['log', 'auth-refresh'])).toBe(bob.ok(['log', 'auth-refresh']));
  });

  it('a sync with nothing to do says so, and moves no ref anywhere', () => {
    ada.write('auth-refresh', NOTE);
    ada.sync();
    bob.sync();
    const before = everything();
    for (const clone of [ada, bob])
      expect(clone.as(['sync'])).toMatchObject({
        status: 0,
        stdout: `origin (${world.server.url}): 0 fetched, 0 pushed, 1 unchanged\n`,
        stderr: '',
      });
    expect(everything()).toEqual(before);
  });

  it('a dry run says what would be done, and does nothing', () => {
    ada.write('auth-refresh', NOTE);
    ada.sync();
    bob.write('cache-layout', NOTE);
    const before = everything();
    const objects = bob.git(['count-objects', '-v']);
    const answer = bob.syncJson('--dry-run');
    expect(answer['dryRun']).toBe(true);
    expect(bob.actions(answer).sort()).toEqual(['to-fetch auth-refresh', 'to-push cache-layout']);
    expect(everything()).toEqual(before);
    expect(bob.git(['count-objects', '-v'])).toBe(objects);
  });

  it('an unreachable server makes sync fail with the next command to type, and loses nothing', async () => {
    const oid = ada.write('auth-refresh', NOTE);
    ada.sync();
    if (transport === 'path') ada.git(['remote', 'set-url', 'origin', `${world.server.path}-gone`]);
    else await world.server.stop();
    const done = ada.as(['sync']);
    expect(done.status).toBe(5);
    expect(done.stderr).toMatch(/^error: origin could not be asked: /);
    expect(done.stderr).toContain('hint: git ls-remote origin');
    expect(ada.ref(REF)).toBe(oid);
    expect(ada.json(['sync']).error.code).toBe('remote');
  });
});

describe('a sync', () => {
  beforeEach(() => begin());

  it('reports in JSON what it did', () => {
    const oid = ada.write('auth-refresh', NOTE);
    expect(ada.syncJson()).toMatchObject({
      schema: 1,
      ok: true,
      dryRun: false,
      remotes: [{ remote: 'origin', url: world.server.url, same: 0 }],
      items: [{ action: 'pushed', remote: 'origin', branch: 'main', topic: 'auth-refresh', ref: REF, oid }],
    });
  });

  it('has two halves, --fetch and --push', () => {
    const oid = ada.write('auth-refresh', NOTE);
    ada.ok(['sync', '--fetch']);
    expect(world.server.handoffs().size).toBe(0);
    ada.ok(['sync', '--push']);
    bob.ok(['sync', '--push']);
    expect(bob.handoffs().size).toBe(0);
    bob.ok(['sync', '--fetch']);
    expect(bob.ref(REF)).toBe(oid);
    bob.write('auth-refresh', 'bob\n', ['--take']);
    bob.ok(['sync', '--push']);
    ada.write('auth-refresh', 'ada\n');
    const behind = ada.as(['sync', '--push']);
    expect(behind.status).toBe(4);
    expect(behind.stdout).toMatch(
      /behind +main\/auth-refresh +the remote has moved on: git handoff sync origin/,
    );
    expect(ada.note('auth-refresh')).toBe('ada\n');
  });

  it('handles several remotes, even if one cannot be reached', () => {
    const second = world.clone('Carol', { words: ['--bare'], folder: 'second.git' });
    ada.git(['remote', 'add', 'second', second.path]);
    ada.git(['remote', 'add', 'gone', `${second.path}-gone`]);
    const oid = ada.write('auth-refresh', NOTE);
    const done = ada.as(['sync', 'gone', 'second', 'origin']);
    expect(done.status).toBe(5);
    expect(done.stderr).toContain('gone could not be asked');
    expect(world.server.ref(REF)).toBe(oid);
    expect(second.ref(REF)).toBe(oid);
    expect(ada.ref('refs/handoffs-remote/second/main/auth-refresh')).toBe(oid);
    expect(ada.as(['sync', 'second', 'origin', 'second'])).toMatchObject({ status: 0 });
  });

  it('brings what one remote has to the other', () => {
    const second = world.clone('Carol', { words: ['--bare'], folder: 'second.git' });
    const oid = ada.write('auth-refresh', NOTE);
    ada.sync();
    bob.git(['remote', 'add', 'second', second.path]);
    bob.sync('origin', 'second');
    expect(second.ref(REF)).toBe(oid);
  });

  it('chooses one remote by default: the upstream, else origin, else the only one', () => {
    ada.write('auth-refresh', NOTE);
    const second = world.clone('Carol', { words: ['--bare'], folder: 'second.git' });
    ada.git(['remote', 'add', 'second', second.path]);
    ada.git(['config', 'branch.main.remote', 'second']);
    expect(ada.sync()).toContain('second (');
    ada.git(['config', '--unset', 'branch.main.remote']);
    expect(ada.sync()).toContain('origin (');
    ada.git(['remote', 'remove', 'origin']);
    expect(ada.sync()).toContain('second (');
    ada.git(['remote', 'add', 'third', second.path]);
    const which = ada.as(['sync']);
    expect(which).toMatchObject({ status: 2 });
    expect(which.stderr).toContain('which remote? There are second, third');
    for (const name of ['second', 'third']) ada.git(['remote', 'remove', name]);
    const none = ada.as(['sync']);
    expect(none).toMatchObject({ status: 2 });
    expect(none.stderr).toContain('hint: git remote add origin <url>');
  });

  it.each([['/tmp/some/where'], ['git@example.org:a/b'], ['https://example.org/x'], ['nobody'], ['']])(
    'refuses %j, which is no configured remote',
    (name) => {
      const done = ada.as(['sync', '--', name]);
      expect(done).toMatchObject({ status: 2, stdout: '' });
      expect(done.stderr).toMatch(/^error: .*\nhint: git remote /);
    },
  );

  it('keeps the remotes a and a/b apart', () => {
    const second = world.clone('Carol', { words: ['--bare'], folder: 'second.git' });
    ada.git(['config', 'remote.team.url', world.server.path]);
    ada.git(['config', 'remote.team/b.url', second.path]);
    const oid = ada.write('auth-refresh', NOTE);
    ada.sync('team', 'team/b');
    expect(ada.ref('refs/handoffs-remote/team/main/auth-refresh')).toBe(oid);
    expect(ada.ref('refs/handoffs-remote/team%2Fb/main/auth-refresh')).toBe(oid);
    expect(ada.sync('team/b')).toContain('1 unchanged');
  });

  it('does not show a password', () => {
    ada.write('auth-refresh', NOTE);
    ada.git(['config', 'remote.secret.url', 'http://ada:hunter2@127.0.0.1:9/x.git']);
    const done = ada.as(['sync', 'secret', 'origin']);
    expect(done.stdout + done.stderr).not.toContain('hunter2');
  });
});
