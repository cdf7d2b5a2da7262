import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startGroup } from '../support/faults/process-group.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

const reset = (session: string, cwd: string) => ({
  session_id: session,
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'git reset --hard' },
  cwd,
});

describe('when several processes make rescues', () => {
  it('at once, each is kept, under a number of its own', async () => {
    const world = new SharingWorld();
    const trees = [world.path, ...['one', 'two', 'three'].map((name) => world.worktree(name))];
    const sessions = trees.map((_, n) => `${n}`.repeat(8) + A.slice(8));
    for (const [n, tree] of trees.entries()) {
      world.begin(sessions[n] ?? A, tree);
      writeFileSync(join(tree, 'src/a.ts'), `WIP ${n}\n`);
    }
    const runs = await Promise.all(trees.map((tree, n) => world.startGuard(reset(sessions[n] ?? A, tree))));
    expect(runs.map(({ status, stdout }) => [status, stdout])).toEqual(trees.map(() => [0, '']));
    const { stdout } = world.handoff(['rescue', '--json']);
    const { items } = JSON.parse(stdout) as { items: { number: number; session: string }[] };
    expect(items.map(({ session }) => session).sort()).toEqual([...sessions].sort());
    for (const [n, tree] of trees.entries()) {
      const shown = world.handoff(['rescue', 'show', '--raw', sessions[n] ?? A], { cwd: tree });
      expect(shown.stdout).toBe(`WIP ${n}\n`);
    }
  });

  it('of a lone session, one after another, each is kept', async () => {
    const world = new SharingWorld();
    world.begin(A);
    for (const [n, text] of ['one\n', 'two\n', 'three\n'].entries()) {
      writeFileSync(join(world.path, 'src/a.ts'), text);
      expect(await world.startGuard(reset(A, world.path))).toMatchObject({ status: 0, stdout: '' });
      const shown = world.handoff(['rescue', 'show', '--raw', String(n + 1)]);
      expect(shown.stdout).toBe(text);
    }
  });

  it('after one was killed while it had the next number locked, the next is kept', () => {
    const world = new SharingWorld({ ready: [A, B] });
    writeFileSync(join(world.path, 'own.txt'), 'first\n');
    expect(world.may(A, 'git clean -fd')).toEqual({ kind: 'silent' });
    const [ref = ''] = world.refs('refs/handoffs-local/rescue');
    writeFileSync(join(world.path, '.git', `${ref.replace(/1$/, '2')}.lock`), '');
    writeFileSync(join(world.path, 'own.txt'), 'second\n');
    expect(world.may(A, 'git clean -fd')).toEqual({ kind: 'silent' });
    expect(world.handoff(['rescue', 'show', '--raw', '--', 'own.txt']).stdout).toBe('second\n');
  });

  it('and one is killed in the middle, it leaves no half rescue and no lock, and the next one is kept', async () => {
    const world = new SharingWorld({ ready: [A, B] });
    for (let delay = 40; delay <= 240; delay += 40) {
      writeFileSync(join(world.path, 'own.txt'), `${delay}\n`);
      const input = JSON.stringify(reset(A, world.path));
      const words = ['handoff', 'guard', '--client', 'claude'];
      const guard = startGroup(world, 'git', words, { session: A, input });
      await new Promise((resolve) => setTimeout(resolve, delay));
      await guard.kill();
    }
    expect(world.run('git', ['fsck', '--no-dangling', '--strict']).stderr).toBe('');
    expect(existsSync(join(world.path, '.git/packed-refs.lock'))).toBe(false);
    writeFileSync(join(world.path, 'own.txt'), 'last\n');
    expect(world.may(A, 'git clean -fd')).toEqual({ kind: 'silent' });
    expect(world.handoff(['rescue', 'show', '--raw', '--', 'own.txt']).stdout).toBe('last\n');
  });
});
