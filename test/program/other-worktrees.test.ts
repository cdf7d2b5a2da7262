import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { A, B, C, SED_IN_PLACE, SharingWorld, TEN, contextText } from '../support/sharing-world.ts';
import type { RepositoryOptions } from '../support/repository.ts';

let world: SharingWorld;
let other: string;

/** A works alone in the repository. B will work in another worktree, on a branch of its own. */
function twoTrees(options: RepositoryOptions = {}): void {
  world = new SharingWorld({ ...options, ready: [A] });
  onTestFinished(() => world.remove());
  other = world.worktree('feature/other');
}

const changed = (text: string, line: number, by: string) =>
  text.replace(`line ${line}\n`, `line ${line} by ${by}\n`);
/** What a session is told with the result of a file tool: A works in the repository, B in the other worktree. */
const byA = (path: string, content: string) => contextText(world.wrote(A, path, content));
const byB = (path: string, content: string) => contextText(world.wrote(B, path, content, other));

describe.each([
  ['as git makes them', {}],
  ['with SHA-256 names', { objectFormat: 'sha256' as const }],
])('two sessions that are alone in their worktrees, %s', (_, options) => {
  beforeEach(() => {
    twoTrees(options);
    world.begin(B, other);
  });

  it('are told at the first edit of a file that the other has changed, each once', () => {
    expect(byA('src/a.ts', changed(TEN, 1, 'A'))).toBe('');
    expect(byB('src/a.ts', changed(TEN, 9, 'B'))).toBe(
      `git-handoff: src/a.ts is also changed in ${world.path} (branch main), where claude aaaaaaaa works: not committed. ` +
        'So far it merges with yours. Nothing is refused; compare with: git handoff overlap',
    );
    expect(byB('src/a.ts', changed(TEN, 8, 'B'))).toBe('');
    expect(byA('src/a.ts', changed(TEN, 2, 'A'))).toContain(
      '(branch feature/other), where claude bbbbbbbb works',
    );
    expect(byA('src/a.ts', changed(TEN, 3, 'A'))).toBe('');
    expect(byA('src/b.ts', changed(TEN, 2, 'A'))).toBe('');
  });

  it('are told once more when merging becomes conflicting, and never again', () => {
    byA('src/a.ts', changed(TEN, 1, 'A'));
    expect(byB('src/a.ts', changed(TEN, 9, 'B'))).toContain('merges with yours');
    expect(byB('src/a.ts', changed(changed(TEN, 9, 'B'), 1, 'B'))).toContain('It conflicts with yours.');
    expect(byB('src/a.ts', changed(TEN, 9, 'B'))).toBe('');
    expect(byB('src/a.ts', changed(changed(TEN, 9, 'B'), 1, 'B'))).toBe('');
  });

  it('are told of work that is committed on the other’s branch only', () => {
    byA('src/a.ts', changed(TEN, 1, 'A'));
    world.bash(A, 'git commit -qam mine');
    expect(byB('src/a.ts', changed(TEN, 9, 'B'))).toContain(': committed. So far');
    byA('src/b.ts', changed(TEN, 1, 'A'));
    world.bash(A, 'git commit -qam more');
    byA('src/b.ts', changed(TEN, 2, 'A'));
    expect(byB('src/b.ts', changed(TEN, 9, 'B'))).toContain(': committed, and changed since. So far');
  });

  it('hear nothing about changes that both have, or that were merged', () => {
    byA('new.ts', 'same\n');
    expect(byB('new.ts', 'same\n')).toBe('');
    byA('src/a.ts', changed(TEN, 1, 'A'));
    world.git(['commit', '-qam', 'mine', '--no-verify']);
    world.git(['merge', '-q', 'main'], { cwd: other });
    expect(byB('src/a.ts', changed(changed(TEN, 1, 'A'), 9, 'B'))).toBe('');
  });

  it('hear nothing of a change that was undone', () => {
    byA('src/a.ts', changed(TEN, 1, 'A'));
    world.git(['checkout', '-q', 'src/a.ts']);
    expect(byB('src/a.ts', changed(TEN, 9, 'B'))).toBe('');
  });

  it('are told of what the other’s command, or somebody by hand, has changed there', () => {
    world.bash(A, `${SED_IN_PLACE} 1s/line/LINE/ src/a.ts`);
    writeFileSync(join(world.path, 'src', 'b.ts'), changed(TEN, 1, 'somebody'));
    expect(byB('src/a.ts', changed(TEN, 9, 'B'))).toContain('where claude aaaaaaaa works: not committed.');
    expect(byB('src/b.ts', changed(TEN, 9, 'B'))).toContain('where claude aaaaaaaa works: not committed.');
  });

  it('are told of a file that the other has deleted', () => {
    byA('src/a.ts', changed(TEN, 1, 'A'));
    world.git(['rm', '-qf', 'src/a.ts']);
    expect(byB('src/a.ts', changed(TEN, 9, 'B'))).toContain('It conflicts with yours.');
  });

  it.each([
    ['100%/of it.ts', "'100%/of it.ts'"],
    ['two\nlines.ts', "$'two"],
    ['%', '%'],
    [`${'deep/'.repeat(60)}long.ts`, 'deep/deep/'],
    ['ümläut und $(leer).ts', "'ümläut und $(leer).ts'"],
  ])('whatever the file is called: %j', (path, shown) => {
    expect(byA(path, 'A\n')).toBe('');
    expect(byB(path, 'B\n')).toContain(`git-handoff: ${shown}`);
    expect(byB(path, 'B again\n')).toBe('');
  });

  it('do not hear of a session that has ended', () => {
    byA('src/a.ts', changed(TEN, 1, 'A'));
    world.end(A);
    expect(byB('src/a.ts', changed(TEN, 1, 'B'))).toBe('');
    world.begin(A);
    expect(byB('src/a.ts', changed(TEN, 2, 'B'))).toContain('claude aaaaaaaa');
  });

  it('hear that the other is idle once its turn has ended, however long it has been silent', () => {
    const silent = () => {
      const seconds = Date.now() / 1000 - 7200;
      utimesSync(join(world.path, '.git', 'handoff', 'beat', A), seconds, seconds);
    };
    byA('src/a.ts', changed(TEN, 1, 'A'));
    silent();
    expect(byB('src/a.ts', changed(TEN, 9, 'B'))).not.toContain('idle');
    byA('src/b.ts', changed(TEN, 1, 'A'));
    world.guard({ session_id: A, hook_event_name: 'Stop' });
    silent();
    expect(byB('src/b.ts', changed(TEN, 9, 'B'))).toContain(
      'where claude aaaaaaaa works: not committed. claude aaaaaaaa went idle 2 hours ago. So far it merges',
    );
  });
});

describe('how a file would merge', () => {
  beforeEach(() => {
    twoTrees();
    world.begin(B, other);
  });
  const attributes = (text: string) => {
    writeFileSync(join(world.path, '.git', 'info', 'attributes'), text);
  };

  it('is not tried if a merge driver of the user handles it', () => {
    const ran = join(world.root, 'ran');
    attributes('*.ts merge=mine\n');
    world.git(['config', 'merge.mine.driver', `touch ${ran}`]);
    byA('src/a.ts', changed(TEN, 1, 'A'));
    expect(byB('src/a.ts', changed(TEN, 9, 'B'))).toContain('It is not known whether it merges with yours.');
    expect(existsSync(ran)).toBe(false);
  });

  it.each([
    ['*.ts binary\n', 9, 'conflicts'],
    ['*.ts -merge\n', 9, 'conflicts'],
    ['*.ts merge=union\n', 1, 'merges'],
    ['', 9, 'merges'],
    ['', 1, 'conflicts'],
  ])('is as the attributes say: %j', (text, line, outcome) => {
    attributes(text);
    byA('src/a.ts', changed(TEN, 1, 'A'));
    expect(byB('src/a.ts', changed(TEN, line, 'B'))).toContain(`${outcome} with yours`);
  });

  it('is a conflict if the file is not text', () => {
    byA('data', 'A\0');
    expect(byB('data', 'B\0')).toContain('It conflicts with yours.');
  });

  it('is not known without a common history', () => {
    world.git(['checkout', '-q', '--orphan', 'fresh'], { cwd: other });
    world.git(['commit', '-q', '--no-verify', '-m', 'own history'], { cwd: other });
    byA('src/a.ts', changed(TEN, 1, 'A'));
    expect(byB('src/a.ts', changed(TEN, 9, 'B'))).toContain('It is not known whether it merges with yours.');
  });
});

describe('what was changed before the second session began', () => {
  beforeEach(() => {
    twoTrees();
  });

  it('is known, uncommitted or committed', () => {
    writeFileSync(join(world.path, 'src', 'a.ts'), changed(TEN, 1, 'A'));
    world.commit('theirs', { 'src/b.ts': changed(TEN, 1, 'B') }, other);
    world.begin(B, other);
    expect(byB('src/a.ts', changed(TEN, 9, 'B'))).toContain('claude aaaaaaaa works: not committed.');
    expect(byA('src/b.ts', changed(TEN, 9, 'A'))).toContain('claude bbbbbbbb works: committed.');
  });

  it('is known in a third worktree, too', () => {
    world.begin(B, other);
    const third = world.worktree('third');
    writeFileSync(join(third, 'src', 'a.ts'), changed(TEN, 1, 'C'));
    byB('src/b.ts', changed(TEN, 1, 'B'));
    world.begin(C, third);
    expect(byA('src/a.ts', changed(TEN, 9, 'A'))).toContain('claude cccccccc works: not committed.');
    expect(contextText(world.wrote(C, 'src/b.ts', changed(TEN, 9, 'C'), third))).toContain(
      'claude bbbbbbbb works',
    );
    const text = byB('src/a.ts', changed(TEN, 5, 'B'));
    expect(text).toContain('claude aaaaaaaa works');
    expect(text).toContain('claude cccccccc works');
  });
});

describe('sessions that share a working tree', () => {
  beforeEach(() => {
    twoTrees();
    world.begin(C);
    world.begin(B, other);
  });

  it('are told apart by their claims', () => {
    contextText(world.write(C, 'src/a.ts', changed(TEN, 1, 'C')));
    world.wrote(C, 'src/a.ts', changed(TEN, 1, 'C'));
    const text = byB('src/a.ts', changed(TEN, 9, 'B'));
    expect(text).toContain('where claude cccccccc works: not committed.');
    expect(contextText(world.wrote(C, 'src/a.ts', changed(TEN, 2, 'C')))).toContain(
      'where claude bbbbbbbb works',
    );
  });

  it('are reported when a shell command changed the file', () => {
    world.bash(C, `${SED_IN_PLACE} 1s/line/LINE/ src/b.ts`);
    expect(byB('src/b.ts', changed(TEN, 9, 'B'))).toContain('where claude cccccccc works: not committed.');
  });

  it('hear nothing about their own changes in another worktree', () => {
    world.end(B, other);
    world.write(C, 'src/a.ts', changed(TEN, 1, 'C'));
    const path = '../worktree-feature-other/src/a.ts';
    world.try(C, path, 'x');
    expect(contextText(world.wrote(C, path, changed(TEN, 9, 'C')))).toBe('');
    expect(world.status(other)).toEqual([' M src/a.ts']);
    expect(byA('src/a.ts', changed(TEN, 2, 'A'))).toContain('where claude cccccccc works');
  });
});

describe('a session that edits from outside of the repository', () => {
  it('gets a command that works where it is', () => {
    twoTrees();
    world.begin(B, world.root);
    byA('src/a.ts', changed(TEN, 1, 'A'));
    const path = 'worktree-feature-other/src/a.ts';
    world.try(B, path, 'x', world.root);
    const text = contextText(world.wrote(B, path, changed(TEN, 9, 'B'), world.root));
    expect(text).toContain(`compare with: git -C ${other} handoff overlap`);
  });
});
