import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { A, B, SharingWorld, TEN, refusal } from '../support/sharing-world.ts';

let world: SharingWorld;
let second: string;

/** Makes two worktrees with a session each. First A, then B makes a stash entry. */
function twoEntries(): void {
  world = new SharingWorld();
  second = world.worktree('second');
  world.begin(A);
  world.begin(B, second);
  world.write(A, 'src/a.ts', "A's\n");
  expect(world.bash(A, 'git stash push -m a-entry').run?.status).toBe(0);
  world.write(B, 'src/b.ts', "B's\n", second);
  expect(world.bash(B, 'git stash push -m b-entry', { cwd: second }).run?.status).toBe(0);
}

const oid = (revision: string) => world.git(['rev-parse', revision]).trim();

describe('the stash that all worktrees share', () => {
  it.each(['pop', 'drop', 'apply', 'pop --index', 'clear'])(
    "refuses git stash %s, which would take another session's entry",
    (use) => {
      twoEntries();
      const text = refusal(world.bash(A, `git stash ${use}`).before);
      expect(text).toContain('bbbbbbbb');
      expect(text).toContain('b-entry');
      expect(oid('stash@{0}')).not.toBe('');
    },
  );

  it("names this session's own entry by its commit, which works when typed", () => {
    twoEntries();
    const own = oid('stash@{1}');
    const command = /git stash apply [0-9a-f]+/.exec(refusal(world.may(A, 'git stash pop')))?.[0];
    expect(command).toBe(`git stash apply ${own}`);
    expect(world.bash(A, command ?? '').run?.status).toBe(0);
    expect(world.read('src/a.ts')).toBe("A's\n");
    const drop = /git stash drop \S+/.exec(refusal(world.may(A, 'git stash drop')))?.[0];
    expect(world.bash(A, drop ?? '').run?.status).toBe(0);
    expect(world.git(['stash', 'list'])).toContain('b-entry');
    expect(world.git(['stash', 'list'])).not.toContain('a-entry');
  });

  it('lets each session have its own entry', () => {
    twoEntries();
    expect(world.bash(B, 'git stash pop', { cwd: second }).run?.status).toBe(0);
    expect(world.read('src/b.ts', second)).toBe("B's\n");
    expect(world.bash(A, 'git stash pop').run?.status).toBe(0);
    expect(world.read('src/a.ts')).toBe("A's\n");
  });

  it('lets a lone session stash and pop in one command, but not pop an entry that it did not make', () => {
    world = new SharingWorld({ ready: [A] });
    writeFileSync(join(world.path, 'src/a.ts'), 'WIP\n');
    expect(world.bash(A, 'git stash -u && git stash pop').run?.status).toBe(0);
    expect(world.read('src/a.ts')).toBe('WIP\n');
    world.git(['stash', 'push', '-q', '-m', 'months ago']);
    // `git stash` finds no changes to save, so the pop would apply the old entry.
    const text = refusal(world.bash(A, 'git stash; git stash pop').before);
    expect(text).toContain('months ago');
    const command = /git stash apply [0-9a-f]+/.exec(text)?.[0] ?? '';
    expect(world.bash(A, command).run?.status).toBe(0);
  });

  it('lets a session name an entry by its place, unless it would remove one that another session made', () => {
    twoEntries();
    expect(world.may(A, 'git stash apply stash@{1}').kind).toBe('silent');
    expect(world.may(A, 'git stash drop stash@{1}').kind).toBe('silent');
    expect(refusal(world.may(A, 'git stash drop stash@{0}'))).toContain('bbbbbbbb');
    expect(refusal(world.may(A, 'git stash pop 0'))).toContain('bbbbbbbb');
    expect(world.may(A, `git stash apply ${oid('stash@{0}')}`).kind).toBe('silent');
    expect(world.may(A, 'git stash list').kind).toBe('silent');
    expect(world.may(A, 'git stash show -p').kind).toBe('silent');
  });

  it('brings back an entry that a plain shell popped and dropped, even after garbage collection', () => {
    twoEntries();
    const entry = oid('stash@{0}');
    world.git(['stash', 'drop', '-q']);
    world.git(['reflog', 'expire', '--expire=now', '--all']);
    world.git(['gc', '-q', '--prune=now']);
    const { stdout } = world.handoff(['rescue', 'list', '--json']);
    const { items } = JSON.parse(stdout) as { items: Record<string, unknown>[] };
    const dropped = items.find(({ oid: name }) => name === entry);
    expect(dropped).toMatchObject({
      kind: 'stash',
      session: B,
      stashIndex: null,
      reason: 'On second: b-entry',
    });
    expect(world.read('src/b.ts', second)).toBe(TEN);
    const run = world.handoff(['rescue', 'restore', String(dropped?.['number'])], { cwd: second });
    expect(run.status, run.stderr).toBe(0);
    expect(world.read('src/b.ts', second)).toBe("B's\n");
    world.git(['checkout', '-q', '.'], { cwd: second });
    world.git(['stash', 'apply', '-q', entry], { cwd: second });
    expect(world.read('src/b.ts', second)).toBe("B's\n");
  });

  it('keeps untracked files of an entry, too', () => {
    world = new SharingWorld({ ready: [A] });
    writeFileSync(join(world.path, 'src/new.ts'), 'new\n');
    expect(world.bash(A, 'git stash -u').run?.status).toBe(0);
    world.git(['stash', 'drop', '-q']);
    expect(world.handoff(['rescue', 'restore', 'aaaaaaaa', '--', 'src/new.ts']).status).toBe(0);
    expect(world.read('src/new.ts')).toBe('new\n');
  });
});
