import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClientProcess } from '../support/client-process.ts';
import { HeldStart, STEPS, worksApart } from '../support/held-start.ts';
import { A, B, SED_IN_PLACE, SharingWorld, refusal, contextText } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld();
});
afterEach(() => world.remove());

/** A day's work of a lone session: each line is a call of its shell tool. */
const DAY = [
  `${SED_IN_PLACE} "s/line 1/LINE 1/" src/a.ts`,
  "node -e \"require('fs').writeFileSync('gen.ts', '1')\"",
  'git add -A && git commit -m "first"',
  'echo more >> src/b.ts && git commit -am "second"',
  'git commit --amend -m "second, reworded"',
  'git commit --amend --no-edit --allow-empty',
  'git switch -c feature && echo f > f.txt && git add f.txt && git commit -m "feature"',
  'echo dirty >> src/a.ts && git stash && git stash pop',
  'git stash push -u -m wip && git switch main && git stash pop',
  'git commit -am "on main"',
  'git switch feature && git rebase main',
  'git switch main && git merge --no-ff --no-edit feature',
  'git revert --no-edit HEAD~1',
  'git mv gen.ts made.ts && git commit -m "renamed"',
  'git rm -q made.ts && git commit -m "gone"',
  'git cherry-pick --no-commit HEAD~2 && git reset -q --hard',
  'git checkout -- . && git clean -fdq',
  'git reset --soft HEAD~1 && git commit -m "again"',
  'git worktree add -q ../second -b second && git worktree remove ../second',
];

describe('a session that works alone', () => {
  it('is never refused anything for a whole day, and nothing is recorded about its changes', () => {
    world.begin(A);
    world.write(A, 'src/b.ts', 'edited\n');
    for (const command of DAY) {
      const { before, run } = world.bash(A, command);
      expect({ command, before }).toEqual({ command, before: { kind: 'silent' } });
      expect({ command, ...run, bytes: undefined }).toMatchObject({ command, status: 0 });
    }
    expect(world.claimed(A)).toEqual([]);
    expect(world.guardLog()).toBe('');
    expect(world.status()).toEqual([]);
  });

  it('claims nothing by a tool that the launcher does not know, either', () => {
    world.begin(A);
    const tool_input = { path: join(world.path, 'src/a.ts'), content: 'one\n' };
    const call = { session_id: A, tool_name: 'mcp__files__write_file', tool_input };
    world.guard({ ...call, hook_event_name: 'PreToolUse' });
    writeFileSync(tool_input.path, tool_input.content);
    world.guard({ ...call, hook_event_name: 'PostToolUse' });
    expect(world.claimed(A)).toEqual([]);
  });

  it('has one trailer in every commit that it made itself', () => {
    world.begin(A);
    for (const command of DAY.slice(0, 6)) world.bash(A, command);
    const trailers = world.git([
      'log',
      '-2',
      '--format=%(trailers:key=Claude-Session-Id,valueonly,separator=%x2C)',
    ]);
    expect(trailers.split('\n')).toEqual([A, A]);
  });
});

describe('two sessions that start at once', () => {
  it('never both count as alone', async () => {
    for (let round = 0; round < 8; round++) {
      const both = [A, B].map((id) => id.replace(/....$/, `000${round}`));
      const start = { hook_event_name: 'SessionStart', source: 'startup' };
      await Promise.all(both.map((id) => world.startGuard({ ...start, session_id: id })));
      const known = world
        .refs('refs/handoffs-local/live')
        .filter((ref) => both.some((id) => ref.endsWith(id)));
      expect(known).toHaveLength(2);
      expect(existsSync(join(world.path, '.git', 'handoff-solo'))).toBe(false);
      for (const id of both) world.end(id);
    }
  });

  it.each(Object.entries(STEPS))(
    'both keep a ledger, even if the second came just before the first had recorded %s',
    async (_, step) => {
      const held = new HeldStart(world, A, step);
      await held.reached();
      // B is not told of changes by an unknown maker: nobody has changed anything.
      expect(contextText(world.begin(B))).not.toContain('is not known');
      // The second session may work before the first one continues.
      world.write(B, 'src/early.ts', 'of B\n');
      await held.goOn();
      worksApart(world);
      expect(refusal(world.try(A, 'src/early.ts', 'of A\n'))).toContain('claude bbbbbbbb');
    },
  );

  it('both keep a ledger, even if the first call of the second is a tool call', async () => {
    const held = new HeldStart(world, A, STEPS['that it is alone']);
    await held.reached();
    world.write(B, 'src/early.ts', 'of B\n');
    await held.goOn();
    worksApart(world);
    expect(world.claimed(A)).toEqual(['src/a.ts']);
  });
});

describe('a person', () => {
  it('is never blocked, whatever the sessions have claimed', () => {
    world.begin(A);
    world.begin(B);
    world.write(A, 'src/a.ts', 'one\n');
    world.write(B, 'src/b.ts', 'two\n');
    for (const args of [
      ['add', '-A'],
      ['commit', '-m', 'everything'],
      ['commit', '--amend', '-m', 'everything, reworded'],
      ['switch', '-c', 'mine'],
      ['reset', '--soft', 'HEAD~1'],
      ['commit', '-m', 'again'],
    ])
      expect({ args, ...world.run('git', args) }).toMatchObject({ args, status: 0 });
    expect(world.git(['log', '-1', '--format=%(trailers)'])).toBe('');
  });
});

describe('an agent that another one started', () => {
  it('is not foreign to its parent: it edits and commits the parent’s files', async () => {
    const outer = new ClientProcess(world);
    try {
      await outer.start(A);
      const file = `${world.path}/src/a.ts`;
      const edit = (session: string, event: string) =>
        JSON.stringify({
          session_id: session,
          hook_event_name: event,
          tool_name: 'Write',
          tool_input: { file_path: file, content: 'x\n' },
          cwd: world.path,
        });
      await outer.shell(`printf 'outer\\n' > src/a.ts`);
      // The inner client is this shell: it starts, edits what its parent has changed, and commits.
      const hook = (payload: string) =>
        `printf '%s' '${payload}' | CODEX_THREAD_ID= "$LAUNCHER" guard --client claude`;
      const start = JSON.stringify({
        session_id: B,
        hook_event_name: 'SessionStart',
        source: 'startup',
        cwd: world.path,
      });
      const inner = [
        `${hook(start)} >/dev/null`,
        hook(edit(B, 'PreToolUse')),
        `printf 'inner\\n' > src/a.ts`,
        hook(edit(B, 'PostToolUse')),
        'git add -A && git commit -qm inner',
      ].join('\n');
      const run = await outer.shell(`sh -c '${inner.replaceAll("'", "'\\''")}'`);
      expect(run).toMatchObject({ status: 0, stdout: '' });
      expect(world.git(['log', '-1', '--format=%s'])).toBe('inner');
      expect(world.status()).toEqual([]);
    } finally {
      await outer.kill();
    }
  });
});
