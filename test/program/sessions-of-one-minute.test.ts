import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommitWorld, errorsOf } from '../support/commit-hooks-world.ts';

/** Codex names its sessions by the time: these two began in the same minute. */
const X = '01a20256-e09f-7542-a66b-d84706f9779c';
const Y = '01a20256-e1aa-7001-9c00-000011112222';

let world: CommitWorld;
beforeEach(() => {
  world = new CommitWorld();
  world.begin(X);
  world.begin(Y);
});
afterEach(() => world.remove());

/** X commits src/a.ts, then Y src/b.ts. */
function bothCommit(): void {
  for (const [session, path] of [
    [X, 'src/a.ts'],
    [Y, 'src/b.ts'],
  ] as const) {
    world.wrote(session, path, '1\n');
    world.commits(session, ['-m', path, '--', path]);
  }
}

describe('two sessions whose ids begin with the same minute', () => {
  it('look different in every list', () => {
    const { stdout } = world.handoff(['sessions']);
    expect(stdout).toContain('06f9779c');
    expect(stdout).toContain('11112222');
    expect(stdout).not.toContain('01a20256');
    world.wrote(X, 'src/a.ts', '1\n');
    expect(world.try(Y, 'src/a.ts', '2\n')).toMatchObject({ kind: 'deny', text: /claude 06f9779c/ });
  });

  it('with handoff.trailer = short: each may amend its own commit, but not the other’s', () => {
    world.git(['config', 'handoff.trailer', 'short']);
    bothCommit();
    expect([world.ids('HEAD~'), world.ids()]).toEqual([['06f9779c'], ['11112222']]);
    expect(errorsOf(world.refused(X, ['commit', '--amend', '-m', 'x']))[0]).toMatch(
      /^commit \w+ at HEAD was made by claude 11112222, which is at work/,
    );
    expect(world.handoff(['commit', '--amend', '-m', 'x'], { session: X }).status).toBe(3);
    world.commits(Y, ['--amend', '-m', 'own']);
    expect(world.handoff(['commit', '--amend', '-m', 'own again'], { session: Y }).status).toBe(0);
    expect(world.ids()).toEqual(['11112222']);
  });

  it('with handoff.trailer = short: after a session resets its own commit, the changes are its own again', () => {
    world.git(['config', 'handoff.trailer', 'short']);
    bothCommit();
    world.bash(Y, 'node --version');
    world.bash(Y, 'git reset -q --soft HEAD~1');
    expect(world.try(X, 'src/b.ts', '2\n')).toMatchObject({ kind: 'deny', text: /claude 11112222/ });
  });

  it('short trailers of 0.1.0 that fit both prove neither: the ledger decides', () => {
    world.git(['config', 'handoff.trailer', 'off']);
    bothCommit();
    const old = ['--amend', '-q', '-m', 'b', '-m', 'Claude-Session-Id: 01a20256'];
    world.git(['commit', ...old], { env: { GIT_HANDOFF: 'off' } });
    expect(world.ids()).toEqual(['01a20256']);
    expect(errorsOf(world.refused(X, ['commit', '--amend', '-m', 'x']))[0]).toContain('claude 11112222');
    expect(world.handoff(['commit', '--amend', '-m', 'x'], { session: X }).status).toBe(3);
  });

  it('--session takes a short form that fits one, and refuses one that fits both', () => {
    const write = (session: string, topic: string) =>
      world.handoff(['write', topic, '-m', 'text', '--session', session]);
    expect(write('06f9779c', 'note-one')).toMatchObject({ status: 0 });
    const owner = JSON.parse(world.handoff(['show', 'note-one', '--json']).stdout) as { owner: string };
    expect(owner.owner).toBe(X);
    const refused = write('01a20256', 'note-two');
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('matches several sessions');
  });
});
