import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SED_IN_PLACE, SharingWorld, TEN, refusal } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B], files: { '.gitignore': 'dist/\n*.log\n' } });
});
afterEach(() => world.remove());

/** The command at the end of a refusal. */
const commandOf = (text: string) => /: ((?:git|rm|xargs) .*)$/s.exec(text)?.[1] ?? '';

/** Runs a session's shell command: the guard must allow it, and it must succeed. */
function types(session: string, command: string, cwd = world.path): void {
  const { before, run } = world.bash(session, command, { cwd });
  expect({ command, before, status: run?.status, err: run?.stderr }).toMatchObject({
    before: { kind: expect.not.stringMatching('deny') as string },
    status: 0,
  });
}

/** Changes five paths more than a hint lists. */
function many(session: string, folder: string): string[] {
  const paths = Array.from({ length: 6 }, (_, n) => `${folder}/${n} ${n}.ts`);
  for (const path of paths) world.write(session, path, `${session}\n`);
  return paths;
}

describe('the command that a refusal names', () => {
  it('undoes only what the refused one would have reached and what nobody else has changed', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.write(A, 'shared.md', TEN.replace('line 1\n', 'A\n'));
    world.bash(B, `${SED_IN_PLACE} "s/line 9/B/" shared.md`);
    world.wrote(B, 'shared.md', world.read('shared.md').replace('line 9', 'B'));
    world.write(B, 'src/b.ts', 'B\n');
    const hint = commandOf(refusal(world.may(B, 'git reset --hard')));
    expect(hint).toBe('git restore --source=HEAD --staged --worktree -- src/b.ts');
    expect(refusal(world.may(B, 'git restore src/a.ts'))).toMatch(
      /No narrower form of the command is open to this session; see: git handoff status$/,
    );
    types(B, hint);
    expect([world.read('src/a.ts'), world.read('src/b.ts')]).toEqual(['A\n', TEN]);
    expect(world.read('shared.md')).toContain('A\n');
  });

  it.each([
    ['git reset --hard', 'git add many && git reset --hard', /^git restore .*--pathspec-from-file=\S+/],
    ['git stash -u', 'git stash -u', /^git stash push .*--pathspec-from-file=\S+/],
    ['git clean', 'git clean -fd', /^xargs -0 rm -- <\S+$/],
  ])('%s: names a list of more than five paths', (_, typed, shape) => {
    world.write(A, 'a new.ts', 'A\n');
    world.write(A, 'src/a.ts', 'A\n');
    const paths = many(B, 'many');
    if (typed.startsWith('git add')) world.bash(B, 'git add many');
    const hint = commandOf(refusal(world.may(B, typed.replace(/^.*&& /, ''))));
    expect(hint).toMatch(shape);
    types(B, hint);
    expect(world.status().filter((line) => paths.some((path) => line.endsWith(path)))).toEqual([]);
    expect([world.read('a new.ts'), world.read('src/a.ts')]).toEqual(['A\n', 'A\n']);
  });

  it('is no take where the refused one would destroy work; the refusal counts all paths', () => {
    many(A, 'lib');
    world.write(A, 'src/a.ts', 'A\n');
    const text = refusal(world.may(B, 'rm -rf lib src'));
    expect(text).toMatch(/^lib\/0 0\.ts, .*, lib\/4 4\.ts and 2 more: claude aaaaaaaa changed them just now/);
    expect(text).not.toContain('take');
    types(B, commandOf(text));
    const one = refusal(world.may(B, 'find . -name a.ts -delete'));
    expect(one).toMatch(
      /Leave it alone until it is committed. To see who made each change: git handoff status$/,
    );
  });

  it('takes all paths of a command that would change them, once their session waits for its user', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.write(A, 'shared.md', 'A\n');
    world.stop(A);
    const text = refusal(world.may(B, 'sed -i s/A/B/ src/a.ts src/b.ts shared.md'));
    expect(text).toContain(
      'src/a.ts, shared.md: claude aaaaaaaa changed them just now and has not committed them.',
    );
    types(B, commandOf(text));
    expect(world.may(B, 'sed -i s/A/B/ src/a.ts src/b.ts shared.md').kind).not.toBe('deny');
  });

  it('leaves others’ ignored files, and the session’s own untracked ones', () => {
    for (const file of ['dist/out.js', 'build.log']) {
      mkdirSync(join(world.path, 'dist'), { recursive: true });
      writeFileSync(join(world.path, file), 'x\n');
    }
    world.write(B, 'src/mine.ts', 'B\n');
    const all = refusal(world.may(B, 'git clean -fdX'));
    expect(all).toMatch(/Remove only your own files, by name, for example: rm -r -- dist$/);
    const named = commandOf(refusal(world.may(B, 'git clean -fX build.log', join(world.path))));
    expect(named).toBe('rm -r -- build.log');
    types(B, named);
    types(B, commandOf(all));
    expect(world.status()).toEqual(['?? src/mine.ts']);
  });

  it.each([
    ['git -C repo stash', (top: string) => `git -C ${top} stash`],
    ['cd repo && git stash', (top: string) => `cd ${top} && git stash`],
  ])('%s: says in which working tree', (_, typed) => {
    const side = world.worktree('side');
    world.begin(A, side);
    world.write(A, 'src/a.ts', 'A\n', side);
    world.write(B, 'src/b.ts', 'B\n', side);
    world.write(B, 'src/b.ts', 'here\n');
    const hint = commandOf(refusal(world.may(B, typed(side))));
    expect(hint).toBe(`git -C ${side} stash push --include-untracked -- src/b.ts`);
    types(B, hint);
    expect([world.read('src/b.ts'), world.read('src/b.ts', side)]).toEqual(['here\n', TEN]);
  });

  it.each([
    ['goes past the hooks', 'git -c core.hooksPath=/dev/null commit -am x'],
    ['switches the hooks off', 'git config core.hooksPath /dev/null'],
    [
      'makes a commit without them',
      'git update-ref HEAD "$(git commit-tree -p HEAD -m x "$(git write-tree)")"',
    ],
  ])('a command that %s from another folder: the commit instead is made in that repository', (_, typed) => {
    world.write(A, 'src/a.ts', 'A\n');
    world.write(B, 'src/b.ts', 'B\n');
    const said = refusal(world.may(B, `cd ${world.path} && ${typed}`, world.root));
    const hint = /git -C \S+ handoff commit -m \S+(?<!\.)/.exec(said)?.[0] ?? said;
    types(B, hint.replace("'<message>'", 'x'), world.root);
    expect(world.status()).toEqual([' M src/a.ts']);
  });

  it('works as printed in a subfolder', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.write(B, 'src/b.ts', 'B\n');
    const cwd = join(world.path, 'src');
    const hint = commandOf(refusal(world.may(B, 'git reset --hard', cwd)));
    expect(hint).toBe('git restore --source=HEAD --staged --worktree -- b.ts');
    types(B, hint, cwd);
  });

  it('makes a worktree in a folder that does not exist yet', () => {
    world.write(A, 'src/a.ts', 'A\n');
    mkdirSync(join(world.root, 'feat-x'));
    const hint = commandOf(refusal(world.may(B, 'git switch -c feat/x')));
    expect(hint).toBe('git worktree add -b feat/x ../feat-x-2');
    types(B, hint);
  });
});
