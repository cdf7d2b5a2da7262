import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommitWorld, errorsOf, hintsOf } from '../support/commit-hooks-world.ts';
import { RESOLVE, SWEEP, operationsWorld, quiet, stopped } from '../support/operations-world.ts';
import { A, B } from '../support/sharing-world.ts';

let world: CommitWorld;
beforeEach(() => {
  world = operationsWorld();
});
afterEach(() => world.remove());

describe('git handoff commit finishes an operation that a refusal has stopped', () => {
  it.each<[what: string, begin: string, parents: number]>([
    ['a merge', 'git merge -q side', 2],
    ['a cherry-pick', 'git cherry-pick side', 1],
  ])('%s: without A’s files, which stay staged', (_, begin, parents) => {
    const { errors, hints } = stopped(world, `${begin}; ${RESOLVE}; ${SWEEP}`);
    expect(errors).toEqual([
      expect.stringMatching(/^own\.ts: claude aaaaaaaa/),
      expect.stringMatching(/^src\/a\.ts: claude aaaaaaaa/),
    ]);
    expect(hints).toEqual(['git handoff commit --no-edit']);
    const { run } = world.bash(B, hints[0] ?? '', quiet);
    expect({ status: run?.status, stderr: run?.stderr }).toMatchObject({ status: 0 });
    expect(world.git(['log', '-1', '--format=%p']).split(' ')).toHaveLength(parents);
    expect(world.git(['diff', '--name-only', 'HEAD~1', 'HEAD']).split('\n')).toEqual([
      'both.md',
      'new.md',
      'old.md',
      'src/b.ts',
    ]);
    expect(world.status()).toEqual(['A  own.ts', 'M  src/a.ts']);
    expect(world.as(B, ['rev-parse', '-q', '--verify', 'MERGE_HEAD']).status).toBe(1);
    expect(world.as(B, ['rev-parse', '-q', '--verify', 'CHERRY_PICK_HEAD']).status).toBe(1);
  });

  it('a revert keeps the message that was typed', () => {
    const { hints } = stopped(world, 'git revert -n HEAD; git add -A && git commit -qm "taken back"');
    expect(hints).toEqual(["git handoff commit -m 'taken back'"]);
    world.bash(B, hints[0] ?? '', quiet);
    expect(world.git(['log', '-1', '--format=%s'])).toBe('taken back');
    expect(world.changed()).toEqual(['shared.md']);
  });

  it('names what is still in conflict, and commits once that is resolved', () => {
    world.bash(B, 'git merge -q side');
    const run = world.handoff(['commit', '--no-edit'], { session: B });
    expect(run.status).not.toBe(0);
    expect(hintsOf(run.stderr)).toEqual(['git add -- src/b.ts']);
    world.bash(B, `${RESOLVE}; git add -- src/b.ts`);
    expect(world.handoff(['commit', '--no-edit'], { session: B })).toMatchObject({ status: 0 });
    expect(world.status()).toEqual([' M src/a.ts', '?? own.ts']);
  });
});

describe('a file that B’s merge left in conflict and as in HEAD', () => {
  beforeEach(() => {
    world.commit('changed', { 'old.md': 'changed\n' });
    world.bash(B, 'git merge -q side', quiet);
  });
  const REFUSED = {
    kind: 'deny',
    text: expect.stringMatching(
      /^claude bbbbbbbb began a merge here .* and still has to resolve old\.md\./,
    ) as string,
  };

  it('may not be changed by A: B’s commit would include the change', () => {
    expect(world.write(A, 'old.md', 'of A\n')).toMatchObject(REFUSED);
    expect(world.bash(A, "sed -i 's/changed/of A/' old.md").before).toMatchObject(REFUSED);
    expect(world.read('old.md')).toBe('changed\n');
  });

  it('may be changed by B, and by anybody once the merge is over', () => {
    expect(world.write(B, 'old.md', 'of B\n')).toMatchObject({ kind: 'silent' });
    expect(world.bash(B, `${RESOLVE}; git add -- old.md src/b.ts; git commit -q --no-edit`).run?.status).toBe(
      0,
    );
    expect(world.write(A, 'old.md', 'of A\n')).toMatchObject({ kind: 'silent' });
  });
});

describe('A’s uncommitted change of a file that B’s operation would delete: git stops and leaves the file', () => {
  it.each<[what: string, deleting: string, begin: string, commit: string]>([
    ['a merge', 'side', 'git merge -q side', 'git commit -qam merged'],
    ['a squash merge', 'side', 'git merge -q --squash side', 'git commit -qam squashed'],
    ['a cherry-pick', 'side', 'git cherry-pick side', 'git commit -qam picked'],
    ['a revert', 'HEAD~1', 'git revert -n HEAD~1', 'git commit -qam reverted'],
  ])('%s: stays, and is in no commit of B’s', (_, deleting, begin, commit) => {
    world.commit('added', { 'added.md': 'added\n' });
    world.commit('changed', { 'added.md': 'changed\n', 'old.md': 'changed\n' });
    const path = deleting === 'side' ? 'old.md' : 'added.md';
    world.wrote(A, path, 'of A\n');
    world.bash(B, begin, quiet);
    const { errors, hints } = stopped(world, `git add -A; ${commit}`);
    expect(errors).toContainEqual(expect.stringMatching(new RegExp(`^${path}: claude aaaaaaaa`)));
    for (const hint of hints)
      expect({ hint, ...world.bash(B, hint, quiet).run }).toMatchObject({ hint, status: 0 });
    expect(world.git(['show', `HEAD:${path}`])).toBe('changed');
    expect(world.read(path)).toBe('of A\n');
  });
});

describe('what the operation itself staged passes', () => {
  it('a merge with nothing of A’s: conflict, merged lines, new and deleted files', () => {
    const { run } = world.bash(
      B,
      `git merge -q side; ${RESOLVE}; git add src/b.ts && git commit -q --no-edit`,
    );
    expect(run).toMatchObject({ status: 0 });
    expect(world.ids()).toEqual([B]);
  });

  it.each(['both.md', 'new.md', 'src/b.ts'])('even if A changes %s on the disk meanwhile', (path) => {
    world.bash(B, `git merge -q side; ${RESOLVE}; git add src/b.ts`);
    writeFileSync(join(world.path, path), `${world.read(path)}A, later\n`);
    world.wrote(A, path, world.read(path));
    world.commits(B, ['--no-edit']);
    expect(world.git(['show', `HEAD:${path}`])).not.toContain('A, later');
  });

  it('without A’s change of a merged file, which is refused', () => {
    world.bash(B, `git merge -q side; ${RESOLVE}; git add src/b.ts`);
    world.wrote(A, 'both.md', 'A, later\n');
    world.git(['add', 'both.md']);
    expect(errorsOf(world.refused(B, ['commit', '--no-edit']))).toEqual([
      expect.stringMatching(/^both\.md: /),
    ]);
  });

  it('a cherry-pick of many commits, for none of which Node starts', () => {
    world.git(['switch', '-qc', 'many', 'main~2']);
    for (let n = 0; n < 3; n += 1) world.commit(`n${n}`, { [`n${n}.md`]: 'n\n' });
    world.git(['switch', '-q', 'main']);
    world.clearGuardLog();
    expect(world.bash(B, 'git cherry-pick many~3..many').run).toMatchObject({ status: 0 });
    expect(world.git(['log', '-1', '--format=%s'])).toBe('n2');
  });
});
