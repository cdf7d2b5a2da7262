import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CommitWorld } from '../support/commit-hooks-world.ts';
import { readAnswer } from '../support/hook-answer.ts';
import { A, B, TEN, contextText } from '../support/sharing-world.ts';

let world: CommitWorld;
afterEach(() => world.remove());

/** Two sessions with uncommitted work. */
function bothAtWork(): void {
  world = new CommitWorld({ ready: [A, B] });
  world.write(A, 'src/a.ts', `${TEN}of A\n`);
  world.write(B, 'src/b.ts', `${TEN}of B\n`);
}

/** A person commits, with or without our hooks. */
const WAYS: readonly (readonly [string, readonly string[]])[] = [
  ['through our hooks', []],
  ['past them', ['-c', 'core.hooksPath=/dev/null']],
];

function commitAll(way: readonly string[]): string {
  const run = world.run('git', [...way, 'commit', '-q', '-a', '-m', 'all of it']);
  expect({ status: run.status, stderr: run.stderr }).toMatchObject({ status: 0 });
  return world.git(['rev-parse', '--short=7', 'HEAD']);
}

/** All that a session is told before and after a command that changes nothing. */
function nextNews(session: string): string {
  const { before, after } = world.bash(session, 'true; echo >/dev/null');
  return contextText(before) + contextText(after);
}

const took = (oid: string, path: string) =>
  `Commit ${oid}, by the user or an unknown session, took your uncommitted changes in ${path}.`;

describe.each(WAYS)('a person’s commit -a that takes the work of live sessions, %s', (_, way) => {
  it('is reported to each session once, at its next shell command', () => {
    bothAtWork();
    const oid = commitAll(way);
    const [a, b] = [nextNews(A), nextNews(B)];
    expect(a).toContain(took(oid, 'src/a.ts'));
    expect(a).not.toContain('src/b.ts');
    expect(b).toContain(took(oid, 'src/b.ts'));
    for (const session of [A, B]) {
      expect(nextNews(session)).not.toContain('took your');
    }
  });

  it.each([
    ['a command that only reads', (session: string) => world.bash(session, 'git status').after],
    ['a file tool', (session: string) => world.wrote(session, 'src/new.ts', session)],
    [
      'a file tool on that file',
      (session: string) => world.wrote(session, `src/${session === A ? 'a' : 'b'}.ts`, session),
    ],
  ])('is told at %s, too', (_, call) => {
    bothAtWork();
    const oid = commitAll(way);
    expect(contextText(call(A))).toContain(took(oid, 'src/a.ts'));
    expect(contextText(call(B))).toContain(took(oid, 'src/b.ts'));
    expect(contextText(call(A))).not.toContain('took your');
  });

  it('can be undone by the reported command, after which everybody has their work again', () => {
    bothAtWork();
    commitAll(way);
    const undo = /git reset \S+~1/.exec(nextNews(A))?.[0] ?? 'no hint';
    expect(world.bash(A, undo).run).toMatchObject({ status: 0 });
    expect(world.status()).toEqual([' M src/a.ts', ' M src/b.ts']);
    expect(world.write(B, 'src/a.ts', 'x')).toMatchObject({ kind: 'deny' });
    expect(world.write(A, 'src/b.ts', 'x')).toMatchObject({ kind: 'deny' });
    const items = world.json(['status'], { session: B }).items;
    expect(new Map(items.map((item) => [item['path'], item['owner']]))).toEqual(
      new Map([
        ['src/a.ts', A],
        ['src/b.ts', B],
      ]),
    );
  });
});

it('a person’s commit while a session’s command runs is reported to the session, too', () => {
  bothAtWork();
  const call = {
    session_id: A,
    tool_name: 'Bash',
    tool_input: { command: 'make test' },
    tool_use_id: 'toolu_x',
  };
  const hook = (name: string) => readAnswer(world.guard({ ...call, hook_event_name: name }), name);
  hook('PreToolUse');
  world.git(['commit', '-q', '-m', 'by hand', 'src/a.ts']);
  expect(contextText(hook('PostToolUse'))).toContain('took your uncommitted changes in src/a.ts.');
});

it('another session’s commit without our hooks is reported with that session’s client', () => {
  bothAtWork();
  const message = `all of it\n\nClaude-Session-Id: ${B}`;
  world.git(['-c', 'core.hooksPath=/dev/null', 'commit', '-q', '-a', '-m', message]);
  expect(nextNews(A)).toContain(', by claude bbbbbbbb, took your uncommitted changes in src/a.ts.');
});

it('the report says how to undo a commit as long as no remote has it', () => {
  bothAtWork();
  const oid = commitAll([]);
  expect(nextNews(A)).toContain(`git reset ${world.git(['rev-parse', '--short=12', oid])}~1`);
  world.write(A, 'src/a.ts', 'of A again\n');
  commitAll([]);
  world.git(['update-ref', 'refs/remotes/origin/main', 'HEAD']);
  expect(nextNews(A)).toMatch(/took your uncommitted changes in src\/a\.ts\. See: git show/);
});

describe('no session hears that its work was taken', () => {
  it.each(['full', 'short', 'off'])('by their own commit, with handoff.trailer=%s', (trailer) => {
    bothAtWork();
    world.git(['config', 'handoff.trailer', trailer]);
    world.bash(A, 'git add src/a.ts && git commit -qm mine');
    world.commits(B, ['-m', 'mine', 'src/b.ts']);
    expect(nextNews(A) + nextNews(B)).not.toContain('took your');
  });

  it('by git handoff commit', () => {
    bothAtWork();
    world.ok(['commit', '-m', 'mine'], { session: A });
    expect(nextNews(A) + nextNews(B)).not.toContain('took your');
  });

  it('by its own git am, which runs none of our hooks', () => {
    world = new CommitWorld({ ready: [A, B] });
    const make = `git switch -q -c side; echo side > src/a.ts; git commit -q -a -m side
      git format-patch -q -1 --stdout > .git/p; git switch -q main; echo main > src/a.ts; git commit -q -a -m main`;
    expect(world.run('sh', ['-c', make]).status).toBe(0);
    expect(world.bash(A, 'git am -q -3 .git/p').run?.status).not.toBe(0);
    world.write(A, 'src/a.ts', 'both\n');
    const { run, after } = world.bash(A, 'git add src/a.ts && git am -q --continue');
    expect(run).toMatchObject({ status: 0 });
    expect(contextText(after) + nextNews(A)).not.toContain('took your');
  });

  it('by a person’s commit of other files, or by a change that its session took back itself', () => {
    bothAtWork();
    world.write(A, 'src/a.ts', TEN);
    writeFileSync(join(world.path, 'shared.md'), 'by hand');
    commitAll(['-c', 'core.hooksPath=/dev/null']);
    expect(world.changed()).toEqual(['shared.md', 'src/b.ts']);
    expect(nextNews(A)).not.toContain('took your');
  });
});
