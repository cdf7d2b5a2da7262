import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, refusal, contextText } from '../support/sharing-world.ts';

/** All commands share one world, because refused commands change nothing, and allowed commands are not run. */
let world: SharingWorld;

beforeAll(() => {
  world = new SharingWorld({ ready: [A, B] });
  world.write(A, 'src/a.ts', "A's\n");
  world.write(A, 'src/new.ts', "A's, new\n");
  world.write(B, 'src/b.ts', "B's\n");
  world.write(B, 'own.ts', "B's\n");
  writeFileSync(join(world.path, '.git/list'), 'src/a.ts\n');
  writeFileSync(join(world.path, '.git/own-list'), 'src/b.ts\n');
  world.run('sh', ['-c', 'git diff src/a.ts > .git/a.patch; git diff src/b.ts > .git/b.patch']);
});

describe("commands over another live session's uncommitted work", () => {
  it.each([
    ['git reset --hard'],
    ['git checkout -f main'],
    ['git checkout .'],
    ['git checkout HEAD -- src'],
    ['git checkout --ours src/a.ts'],
    ['git checkout --pathspec-from-file=.git/list'],
    ['git restore src/a.ts'],
    ["git restore ':(top)src'"],
    ["git restore 'src/*.ts'"],
    ['git restore --pathspec-from-file .git/list'],
    ['git switch --discard-changes main'],
    ['git switch -c other'],
    ['git stash'],
    ['git stash push -- src'],
    ['git stash -u -- src/new.ts'],
    ['git stash save -u wip'],
    ['git clean -fd'],
    ['git clean -f src'],
    ['git rm -rf src'],
    ['git rm -f --pathspec-from-file=.git/list'],
    ['git rebase --autostash main'],
    ['git pull --rebase --autostash'],
    ['git merge --autostash main'],
    ['git -c rebase.autoStash=true rebase --autostash main'],
    ['git rebase --abort'],
    ['git apply -R .git/a.patch'],
    ['git apply --reverse .git/a.patch'],
    ['git bisect start HEAD HEAD'],
    ['git bisect reset'],
    ['git read-tree -u --reset HEAD'],
    ['git read-tree -m -u HEAD'],
    ['git checkout-index -f -a'],
    ['git checkout-index -f src/a.ts'],
    ['rm -rf src'],
    ['rm src/a.ts'],
    ['find src -name "*.ts" -delete'],
    ['find . -name "a.ts" -exec rm {} +'],
    ['find src -type f | xargs rm -f'],
    ['echo src/a.ts | xargs git checkout --'],
    ['git ls-files -m | xargs git restore; git restore src/a.ts'],
    ['mv src away'],
    ['cp src/b.ts src/a.ts'],
    ['for f in src/a.ts; do git checkout -- "$f"; done'],
    ['bash -c "cd src && git restore a.ts"'],
    ['(cd src; git checkout -- ../src/a.ts)'],
    ['true && { git reset -q --hard; }'],
    ['git worktree list; git reset --hard'],
  ])('%s is refused', (command) => {
    const text = refusal(world.may(B, command));
    expect(text).toContain('aaaaaaaa');
    expect(text).toMatch(/src\/(?:a|new)\.ts/);
  });

  it.each([
    ['git checkout -- src/b.ts'],
    ['git restore src/b.ts'],
    ['git restore --staged .'],
    ['git checkout --pathspec-from-file=.git/own-list'],
    ['git stash push -- src/b.ts'],
    ['git stash push -u -- own.ts'],
    ['git clean -nd'],
    ['git clean -f own.ts'],
    ['git rm -f src/b.ts'],
    ['git apply -R .git/b.patch'],
    ['git apply -R < .git/b.patch'],
    ['git rebase main'],
    ['git merge main'],
    ['git bisect log'],
    ['git read-tree --empty --index-output=.git/x'],
    ['git checkout-index -a --prefix=/tmp/x/'],
    ['rm -f own.ts'],
    ['find . -name "own*" -delete'],
    ['git commit -m "git reset --hard" -- src/b.ts'],
    ['echo "git reset --hard"'],
    ["cat <<'E'\ngit reset --hard\nE"],
    ['git log --grep="git clean -fd"'],
  ])('%s goes on', (command) => {
    expect(world.may(B, command).kind).not.toBe('deny');
  });
});

describe('git clean -x beside a peer', () => {
  it('is refused with the ignored files that it would remove, listing folders once', () => {
    const shared = new SharingWorld({ files: { '.gitignore': 'build/\n*.log\n' } });
    mkdirSync(join(shared.path, 'build/deep'), { recursive: true });
    writeFileSync(join(shared.path, 'build/deep/x'), '');
    writeFileSync(join(shared.path, 'src/debug.log'), '');
    shared.begin(A);
    shared.begin(B);
    for (const command of ['git clean -fdx', 'git clean -fdX', 'git clean -xdf .']) {
      const text = refusal(shared.may(B, command));
      expect(text).toContain('build/');
      expect(text).toContain('src/debug.log');
      expect(text).not.toContain('deep');
    }
    expect(refusal(shared.may(B, 'git clean -fx'))).not.toContain('build/');
    expect(refusal(shared.may(B, 'git clean -fdx src'))).not.toContain('build/');
    expect(shared.may(B, 'git clean -fd').kind).toBe('silent');
    expect(shared.may(B, 'git clean -ndx').kind).toBe('silent');
    rmSync(join(shared.path, 'build'), { recursive: true });
    rmSync(join(shared.path, 'src/debug.log'));
    expect(shared.may(B, 'git clean -fdx').kind).toBe('silent');
  });

  it('is allowed to a lone session', () => {
    const alone = new SharingWorld({ files: { '.gitignore': '*.log\n' } });
    writeFileSync(join(alone.path, 'debug.log'), '');
    alone.begin(A);
    expect(contextText(alone.may(A, 'git clean -fdx'))).toBe('');
    expect(alone.may(A, 'git clean -fdx').kind).toBe('silent');
  });
});
