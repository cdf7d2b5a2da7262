import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommitWorld } from '../support/commit-hooks-world.ts';
import { RESOLVE, SWEEP, operationsWorld, quiet, stopped } from '../support/operations-world.ts';
import { A, B } from '../support/sharing-world.ts';

let world: CommitWorld;
beforeEach(() => {
  world = operationsWorld();
});
afterEach(() => world.remove());

const OF_A = [
  expect.stringMatching(/^own\.ts: claude aaaaaaaa/) as string,
  expect.stringMatching(/^src\/a\.ts: claude aaaaaaaa/) as string,
];

describe('a commit that finishes B’s own operation holds nothing of A’s', () => {
  it.each<[what: string, commands: readonly string[]]>([
    ['merge', [`git merge -q side; ${RESOLVE}; ${SWEEP}`]],
    ['merge, in two calls', ['git merge -q side', `${RESOLVE}; ${SWEEP}`]],
    ['merge --continue', ['git merge -q side', `${RESOLVE}; git add -A && git merge --continue`]],
    ['merge with -n', ['git merge -q side', `${RESOLVE}; git add -A && git commit -qn --no-edit`]],
    ['merge --no-commit', [`git merge -q --no-ff --no-commit side -X ours; ${SWEEP}`]],
    ['cherry-pick', [`git cherry-pick side; ${RESOLVE}; git add -A; git cherry-pick --continue`]],
    ['cherry-pick and commit', ['git cherry-pick side', `${RESOLVE}; ${SWEEP}`]],
    ['cherry-pick with -n', ['git cherry-pick side', `${RESOLVE}; git add -A; git commit -qn --no-edit`]],
    ['revert -n', [`git revert -n HEAD; git add -A && git commit -qm reverted`]],
    ['revert -n in two calls', ['git revert -n HEAD', `git add -A && git commit -qm reverted`]],
    ['squash', [`git merge -q --squash side; ${RESOLVE}; git add -A && git commit -qm squashed`]],
    ['cherry-pick -n', [`git cherry-pick -n side; ${RESOLVE}; git add -A && git commit -qm picked`]],
  ])('%s', (_, commands) => {
    for (const command of commands.slice(0, -1)) world.bash(B, command, quiet);
    expect(stopped(world, commands.at(-1) ?? '').errors).toEqual(OF_A);
  });

  it('commit -a in a merge', () => {
    world.bash(B, `git merge -q side; ${RESOLVE}`);
    expect(stopped(world, 'git commit -qa --no-edit').errors).toEqual([OF_A[1]]);
  });

  it('commit -a in a merge: the hint includes what B has not staged', () => {
    world.bash(B, `git merge -q --no-commit side; ${RESOLVE}; git add src/b.ts`);
    world.wrote(B, 'shared.md', 'of B\n');
    const { hints } = stopped(world, 'git commit -qam merged');
    expect(hints).toEqual(['git handoff stage --mine -- shared.md', 'git handoff commit -m merged']);
    for (const hint of hints) expect(world.bash(B, hint).run).toMatchObject({ status: 0 });
    expect(world.git(['log', '-1', '--format=%p']).split(' ')).toHaveLength(2);
    expect(world.git(['show', 'HEAD:shared.md'])).toBe('of B');
    expect(world.status()).toEqual([' M src/a.ts', '?? own.ts']);
  });

  it('a merge of several branches', () => {
    world.git(['branch', 'one', 'main~2']);
    world.git(['branch', 'two', 'main~2']);
    for (const name of ['one', 'two']) {
      const tree = join(world.root, name);
      world.git(['worktree', 'add', '-q', tree, name]);
      world.commit(name, { [`${name}.md`]: `${name}\n` }, tree);
    }
    expect(stopped(world, `git merge -q --no-commit one two; ${SWEEP}`).errors).toEqual(OF_A);
    world.bash(B, 'git handoff commit --no-edit', quiet);
    expect(world.git(['log', '-1', '--format=%p']).split(' ')).toHaveLength(3);
    expect(world.git(['diff', '--name-only', 'HEAD^1', 'HEAD']).split('\n')).toEqual(['one.md', 'two.md']);
  });

  it('an empty cherry-pick: the hints take A’s files out and skip it', () => {
    world.git(['checkout', '-qB', 'there', 'side']);
    const pick = 'git cherry-pick side; git add -A && GIT_EDITOR=true git cherry-pick --continue';
    const { errors, hints } = stopped(world, pick);
    expect(errors).toEqual(OF_A);
    expect(hints).toEqual(['git reset -q -- own.ts src/a.ts', 'git cherry-pick --skip']);
    for (const hint of hints) expect(world.bash(B, hint).run).toMatchObject({ status: 0 });
    expect(world.status()).toEqual([' M src/a.ts', '?? own.ts']);
  });

  it('a rebase that has stopped for an edit: no hint throws away what B has not staged', () => {
    world.git(['checkout', '-q', '--', 'src/a.ts']);
    const sequence = `GIT_SEQUENCE_EDITOR="sed -i.bak -e 's/^pick/edit/'"`;
    world.bash(B, `${sequence} git rebase -i -q HEAD~1`, quiet);
    world.write(B, 'src/b.ts', 'of B\n');
    const { errors, hints } = stopped(world, 'git add own.ts; git commit -qm more');
    expect(errors).toEqual([OF_A[0]]);
    expect(hints).toEqual(['git reset -q -- own.ts', 'git -c core.editor=true rebase --continue']);
    for (const hint of hints) world.bash(B, hint);
    expect(world.read('src/b.ts')).toBe('of B\n');
    expect(world.read('own.ts')).toBe('of A\n');
  });

  it('a rebase that has stopped: the hints take A’s file out and continue, without an editor', () => {
    world.git(['checkout', '-q', '--', 'src/a.ts']);
    world.bash(B, 'git rebase -q side');
    const { errors, hints } = stopped(world, `${RESOLVE}; git add -A; git rebase --continue`);
    expect(errors).toEqual([OF_A[0]]);
    expect(hints).toEqual(['git reset -q -- own.ts', 'git -c core.editor=true rebase --continue']);
    for (const hint of hints) expect(world.bash(B, hint).run).toMatchObject({ status: 0 });
    expect(world.status()).toEqual(['?? own.ts']);
  });
});

describe('a refused commit of a squash merge: the hint makes it, without A’s files', () => {
  const WHOLE = ['both.md', 'new.md', 'old.md', 'src/b.ts'];

  it.each([
    ['staged', [`git merge -q --squash side; ${RESOLVE}; git add -A && git commit -qm squashed`], WHOLE],
    ['with -a, while it is in conflict', ['git merge -q --squash side; git commit -qam squashed'], WHOLE],
    ['in two calls', ['git merge -q --squash side', `${RESOLVE}; git commit -qam squashed`], WHOLE],
    [
      'into its own last commit',
      [
        'git commit -q --allow-empty -m own',
        'git merge -q --squash side',
        'git commit -qa --amend -m squashed',
      ],
      WHOLE,
    ],
    [
      'of a file that was there, into its own last commit',
      [
        'git commit -q --allow-empty -m own',
        'git merge -q --squash side; git reset -q -- new.md old.md both.md; rm new.md; git restore both.md old.md',
        'git commit -qa --amend -m squashed',
      ],
      ['src/b.ts'],
    ],
  ])('%s', (_, commands, paths) => {
    for (const command of commands.slice(0, -1)) world.bash(B, command, quiet);
    const { hints } = stopped(world, commands.at(-1) ?? '');
    for (const hint of hints) expect({ hint, ...world.bash(B, hint).run }).toMatchObject({ hint, status: 0 });
    expect(world.changed()).toEqual(paths);
    expect(world.git(['ls-tree', '-r', '--name-only', 'HEAD']).split('\n')).toContain('src/b.ts');
    world.git(['reset', '-q']);
    expect(world.status()).toEqual([' M src/a.ts', '?? own.ts']);
  });

  it('git handoff commit takes a named path in conflict as it is on the disk', () => {
    world.bash(B, `git merge -q --squash side; ${RESOLVE}`);
    expect(world.bash(B, 'git handoff commit -m squashed').run).toMatchObject({ status: 0 });
    expect(world.git(['show', 'HEAD:src/b.ts'])).toBe('resolved');
    expect(world.status()).toEqual([' M src/a.ts', '?? own.ts']);
  });
});

describe('a command that aborts B’s own operation is refused if it would discard A’s work', () => {
  it.each([
    ['git merge -q side', 'git merge --abort'],
    ['git cherry-pick side', 'git cherry-pick --abort'],
    ['git cherry-pick side', 'git cherry-pick --skip'],
  ])('%s: %s keeps what A has not staged, and is refused where it would delete', (begin, end) => {
    world.bash(B, begin);
    world.git(['add', 'own.ts']);
    const refused = world.may(B, end);
    expect(refused).toMatchObject({ kind: 'deny' });
    const hint = 'git reset -q -- own.ts';
    expect('text' in refused ? refused.text : '').toContain(hint);
    expect(world.bash(B, hint).run).toMatchObject({ status: 0 });
    expect(world.bash(B, end).run).toMatchObject({ status: 0 });
    expect(world.status()).toEqual([' M src/a.ts', '?? own.ts']);
  });

  it('in a rebase, even for what A has not staged', () => {
    world.git(['checkout', '-q', '--', 'src/a.ts']);
    world.bash(B, 'git rebase -q side');
    world.wrote(A, 'src/a.ts', 'of A\n');
    // The hint is not a command that undoes B's own work: that would not end the rebase.
    const text = expect.stringMatching(
      / git resets the whole worktree for that: [^:]*: git handoff status$/,
    ) as string;
    expect(world.may(B, 'git rebase --abort')).toMatchObject({ kind: 'deny', text });
    expect(world.may(B, 'git rebase --skip')).toMatchObject({ kind: 'deny', text });
  });
});

it('git rebase --autostash onto an unrelated history: no hint offers a merge, which git would refuse', () => {
  world.git(['branch', 'apart', world.git(['commit-tree', '-m', 'apart', 'HEAD^{tree}'])]);
  const text = expect.stringMatching(
    / there is no common ancestor: wait [^:]*: git handoff status$/,
  ) as string;
  expect(world.may(B, 'git rebase --autostash apart')).toMatchObject({ kind: 'deny', text });
  const merge = expect.stringMatching(/: git merge --no-autostash --no-edit side$/) as string;
  expect(world.may(B, 'git rebase --autostash side')).toMatchObject({ kind: 'deny', text: merge });
});

it('git pull --rebase --autostash: the hint pulls beside A’s files', () => {
  const upstream = join(world.root, 'upstream.git');
  world.git(['clone', '-q', '--bare', world.path, upstream], { cwd: world.root });
  world.git(['remote', 'add', 'origin', upstream]);
  const clone = join(world.root, 'clone');
  world.git(['clone', '-q', upstream, clone], { cwd: world.root });
  world.commit('far away', { 'far.md': 'far\n' }, clone);
  world.git(['push', '-q'], { cwd: clone });
  const refused = world.may(B, 'git pull -q --rebase --autostash origin main');
  expect(refused).toMatchObject({ kind: 'deny' });
  const hint = 'git pull --no-rebase --no-autostash --no-edit origin main';
  expect('text' in refused ? refused.text : '').toContain(hint);
  expect(world.bash(B, hint).run).toMatchObject({ status: 0 });
  expect(world.read('far.md')).toBe('far\n');
  expect(world.status()).toEqual([' M src/a.ts', '?? own.ts']);
});
