import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processTable } from '../../src/host/processes.ts';
import { type Schema, violations } from '../support/json-schema.ts';
import { finished, type Json, LAUNCHER } from '../support/repository.ts';
import { typedHints } from '../support/commit-hooks-world.ts';
import { A, B, C, SharingWorld, TEN } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

/** Paths that a commit changes, with the kind of change. */
const changes = (commit = 'HEAD', cwd = world.path) =>
  world
    .git(['show', '--format=', '--name-status', '--no-renames', '-z', commit], { cwd })
    .split('\0')
    .filter(Boolean)
    .flatMap((word, n, all) => (n % 2 === 0 ? [`${word} ${all[n + 1]}`] : []))
    .sort();

const trailer = () => world.git(['log', '-1', '--format=%(trailers:key=Claude-Session-Id,valueonly)']).trim();
const index = () => world.git(['ls-files', '--stage']);
const head = () => world.git(['rev-parse', 'HEAD']);

/** A hook of the repository's own, before ours. */
function hook(name: string, body: string): void {
  const file = join(world.path, '.git', 'hooks', name);
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  world.ok(['init', '--yes']);
}

describe('what is committed', () => {
  it('is this session’s own: everything else stays, including the index', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.write(A, 'new-a.txt', 'A\n');
    world.git(['add', 'src/a.ts']);
    world.write(B, 'src/b.ts', 'B\n');
    writeFileSync(join(world.path, 'persons.txt'), 'mine\n');
    const answer = world.json(['commit', '-m', 'b'], { session: B });
    expect(answer).toMatchObject({ ok: true, commit: head(), paths: ['src/b.ts'] });
    expect(answer['left']).toEqual([
      { path: 'src/a.ts', owner: A },
      { path: 'new-a.txt', owner: A },
      { path: 'persons.txt', owner: null },
    ]);
    expect(changes()).toEqual(['M src/b.ts']);
    expect(trailer()).toBe(B);
    expect(world.status()).toEqual(['M  src/a.ts', '?? new-a.txt', '?? persons.txt']);
    expect(world.ok(['commit', '-m', 'a'], { session: A })).toBe(
      `committed ${head().slice(0, 7)}:\n  new-a.txt\n  src/a.ts`,
    );
    expect(world.status()).toEqual(['?? persons.txt']);
  });

  it('holds new, removed, renamed files, modes, links, and names that steer', () => {
    const names = ['new\nline.txt', 'it\'s "quoted".txt', '-rf', '*.ts', ':(top)x', ' blank ', 'ünï.txt'];
    for (const name of names) world.write(B, name, `${name}\n`);
    world.write(A, 'src/c.ts', 'A\n');
    world.bash(B, 'rm src/b.ts && mv shared.md moved.md && ln -s moved.md link');
    world.bash(B, 'printf "#!/bin/sh\\n" > run.sh && chmod +x run.sh');
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(changes()).toEqual(
      [...names, 'link', 'moved.md', 'run.sh']
        .map((name) => `A ${name}`)
        .concat('D shared.md', 'D src/b.ts')
        .sort(),
    );
    expect(world.git(['ls-tree', 'HEAD', 'run.sh', 'link'])).toMatch(/^120000.*link\n100755.*run\.sh$/);
    expect(world.status()).toEqual(['?? src/c.ts']);
  });

  it('holds a change that kept the size, made in the second in which the index was written', () => {
    world.git(['config', 'core.trustCTime', 'false']);
    const second = Math.floor(Date.now() / 1000) - 60;
    const file = join(world.path, 'src', 'a.ts');
    const isOfThatSecond = (path: string) => utimesSync(path, second, second);
    isOfThatSecond(file);
    world.git(['update-index', '--refresh']);
    isOfThatSecond(join(world.path, '.git', 'index'));
    world.write(B, 'src/a.ts', TEN.replace('line 5', 'five 5'));
    isOfThatSecond(file);
    expect(world.ok(['diff'], { session: B })).toContain('five 5');
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(world.git(['show', 'HEAD:src/a.ts'])).toContain('five 5');
  });

  it('holds a changed mode', () => {
    world.bash(B, 'chmod +x src/b.ts');
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(world.git(['ls-tree', 'HEAD', 'src/b.ts'])).toMatch(/^100755/);
    expect(world.status()).toEqual([]);
  });

  it('holds what the same shell command changed just before', () => {
    world.write(A, 'src/a.ts', 'A\n');
    const { run } = world.bash(B, `echo B > src/b.ts && echo new > n.txt && ${LAUNCHER} commit -m b`);
    expect(run).toMatchObject({ status: 0 });
    expect(changes()).toEqual(['A n.txt', 'M src/b.ts']);
    expect(world.status()).toEqual([' M src/a.ts']);
  });

  it('a file that became a folder, in which another session has a file', () => {
    world.commit('plain', { thing: 'x\n' });
    world.bash(B, 'rm thing && mkdir thing && echo b > thing/b.txt');
    world.write(A, 'thing/a.txt', 'A\n');
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(changes()).toEqual(['A thing/b.txt', 'D thing']);
    expect(world.status()).toEqual(['?? thing/a.txt']);
  });

  it('a folder that became a file', () => {
    world.write(A, 'shared.md', 'A\n');
    world.bash(B, 'rm -r src && echo b > src');
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(changes()).toEqual(['A src', 'D src/a.ts', 'D src/b.ts']);
    expect(world.status()).toEqual([' M shared.md']);
  });

  it('a file taken out of the index, kept on the disk, and not ignored', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.bash(B, 'git rm -q --cached src/b.ts');
    expect(world.json(['commit', '-m', 'b'], { session: B })['paths']).toEqual(['src/b.ts']);
    expect(changes()).toEqual(['D src/b.ts']);
    expect(world.status()).toEqual([' M src/a.ts', '?? src/b.ts']);
  });

  it('a file taken out of the index, kept on the disk, and ignored', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.bash(B, 'git rm -q --cached src/b.ts && echo src/b.ts >> .gitignore');
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(changes()).toEqual(['A .gitignore', 'D src/b.ts']);
    expect(existsSync(join(world.path, 'src/b.ts'))).toBe(true);
    expect(world.status()).toEqual([' M src/a.ts']);
  });

  it('nothing: exit status 1, and the index is as it was', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.git(['add', 'src/a.ts']);
    const before = index();
    const run = world.handoff(['commit', '-m', 'b'], { session: B });
    expect(run).toMatchObject({ status: 1, stdout: '' });
    expect(run.stderr).toContain(`hint: git -C ${world.path} handoff status`);
    expect(index()).toBe(before);
    const empty = world.json(['commit', '--allow-empty', '-m', 'empty'], { session: B });
    expect(empty).toMatchObject({ commit: head(), paths: [] });
    expect(index()).toBe(before);
  });

  it('in a linked worktree, from a folder below', () => {
    const linked = world.worktree('side');
    world.begin(A, linked);
    world.begin(B, linked);
    world.write(A, 'src/a.ts', 'A\n', linked);
    world.write(B, 'src/b.ts', 'B\n', linked);
    world.write(B, 'src/new.ts', 'B\n', linked);
    world.ok(['commit', '-m', 'b', '--', 'new.ts'], { session: B, cwd: join(linked, 'src') });
    expect(changes('HEAD', linked)).toEqual(['A src/new.ts']);
    world.ok(['commit', '-m', 'b'], { session: B, cwd: join(linked, 'src') });
    expect(changes('HEAD', linked)).toEqual(['M src/b.ts']);
    expect(world.status(linked)).toEqual([' M src/a.ts']);
  });

  it('as the first commit of all', () => {
    const other = new SharingWorld();
    try {
      other.git(['checkout', '-q', '--orphan', 'fresh']);
      other.git(['rm', '-rfq', '.']);
      other.begin(A);
      other.begin(B);
      other.write(A, 'a.txt', 'A\n');
      other.write(B, 'b.txt', 'B\n');
      expect(other.json(['commit', '-m', 'b'], { session: B })['paths']).toEqual(['b.txt']);
      expect(other.git(['log', '--format=%s'])).toBe('b');
      expect(other.status()).toEqual(['?? a.txt']);
    } finally {
      other.remove();
    }
  });
});

it('answers as the schema says', () => {
  const file = new URL('../../schema/output.schema.json', import.meta.url);
  const schema = JSON.parse(readFileSync(file, 'utf8')) as Schema;
  world.write(A, 'src/a.ts', 'A\n');
  world.write(B, 'src/b.ts', 'B\n');
  for (const words of [
    ['stage', '--mine'],
    ['commit', '-m', 'b'],
  ]) {
    const value = world.json(words, { session: B });
    expect(violations(schema, value, words[0])).toEqual([]);
    expect(violations(schema, value)).toEqual([]);
  }
});

describe('a session that is alone', () => {
  it('commits what changed since it began, and not what was dirty before', () => {
    const lone = new SharingWorld();
    try {
      writeFileSync(join(lone.path, 'src/a.ts'), 'by hand\n');
      writeFileSync(join(lone.path, 'todo.txt'), 'by hand\n');
      lone.begin(A);
      lone.write(A, 'src/b.ts', 'A\n');
      lone.write(A, 'new.ts', 'A\n');
      expect(lone.json(['commit', '-m', 'a'], { session: A })['paths']).toEqual(['new.ts', 'src/b.ts']);
      expect(lone.status()).toEqual([' M src/a.ts', '?? todo.txt']);
      lone.ok(['commit', '-m', 'todo', '--', 'todo.txt'], { session: A });
      expect(lone.status()).toEqual([' M src/a.ts']);
      lone.write(A, 'new.ts', 'A again\n');
      lone.ok(['commit', '--amend', '--no-edit'], { session: A });
      expect(lone.git(['log', '-1', '--format=%s', '--name-only'])).toBe('todo\n\nnew.ts\ntodo.txt');
    } finally {
      lone.remove();
    }
  });
});

describe('pathspecs', () => {
  it('limit the commit to the session’s paths that they match', () => {
    world.write(B, 'src/b.ts', 'B\n');
    world.write(B, 'docs/b.md', 'B\n');
    world.ok(['commit', '-m', 'docs', '--', 'docs'], { session: B });
    expect(changes()).toEqual(['A docs/b.md']);
    world.ok(['commit', '-m', 'src', 'src/*.ts'], { session: B });
    expect(changes()).toEqual(['M src/b.ts']);
  });

  it('may be named like an option', () => {
    world.write(B, '-x', 'B\n');
    world.ok(['commit', '-m', 'n', '--', '-x'], { session: B });
    expect(changes()).toEqual(['A -x']);
  });

  it('claim what is nobody’s', () => {
    writeFileSync(join(world.path, 'nobody.txt'), 'x\n');
    world.ok(['commit', '-m', 'n', '--', 'nobody.txt'], { session: B });
    expect(changes()).toEqual(['A nobody.txt']);
    expect(world.claimed(B)).toEqual(['nobody.txt']);
  });

  it('refuse another live session’s path: with its name, and a command that works once it waits for its user', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.stop(A);
    const run = world.handoff(['commit', '-m', 'x', '--', 'a.ts'], {
      session: B,
      cwd: join(world.path, 'src'),
    });
    expect(run.status).toBe(3);
    expect(run.stderr).toContain('error: src/a.ts holds uncommitted changes of claude aaaaaaaa');
    const hint = /^hint: (.*)$/m.exec(run.stderr)?.[1] ?? '';
    expect(hint).toBe(`git -C ${join(world.path, 'src')} handoff take -- a.ts`);
    expect(world.run('sh', ['-c', hint], { session: B, cwd: world.home })).toMatchObject({
      status: 0,
    });
    world.ok(['commit', '-m', 'x'], { session: B });
    expect(changes()).toEqual(['M src/a.ts']);
  });

  it('refuse all paths of another session at once: with the command for the rest, then one take for all', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.write(A, 'a [1].ts', 'A\n');
    world.edit(A, 'shared.md', 'line 5', 'A five');
    world.wrote(B, 'shared.md', world.read('shared.md').replace('line 6', 'B six'));
    world.write(B, 'b [1].ts', 'B\n');
    world.write(B, 'src/b.ts', 'B\n');
    world.stop(A);
    const words = ['-m', "it's\n\nso", '--author=A U Thor <a@u>', '--signoff'];
    const type = (args: string[]) => {
      const run = world.handoff(['commit', ...words, ...args], { session: B });
      expect(run.status).toBe(3);
      return { error: run.stderr.split('\n')[0], hints: typedHints(run.stderr) };
    };
    const follow = (hint = 'false') => world.run('sh', ['-c', hint], { session: B, cwd: world.home });
    const again = `git -C ${world.path} handoff commit -m 'it'\\''s\n\nso' --signoff --author='A U Thor <a@u>' --`;

    const named = type(['--', 'src', 'a [[]1].ts']);
    expect(named.error).toBe(
      'error: src/a.ts, a [1].ts hold uncommitted changes of claude aaaaaaaa; nothing was committed',
    );
    expect(named.hints).toEqual([
      `${again} src/b.ts`,
      `git -C ${world.path} handoff take -- src/a.ts 'a [1].ts'`,
    ]);
    const asked = ['-m', "it's\n\nso", '--signoff', '--author=A U Thor <a@u>', '--', 'src', 'a [[]1].ts'];
    for (const verb of ['commit', 'stage']) {
      const words = verb === 'commit' ? asked : ['--mine', ...asked.slice(-3)];
      const answer = world.handoff([verb, '--json', ...words], { session: B }).stdout;
      const { hint, otherHint } = (JSON.parse(answer) as Json).error;
      expect({ verb, hint, otherHint }).toEqual({
        verb,
        hint: expect.stringContaining(`handoff ${verb} `) as string,
        otherHint: named.hints[1],
      });
    }
    expect(follow(named.hints[0])).toMatchObject({ status: 0 });
    expect(changes()).toEqual(['M src/b.ts']);

    const all = type([]);
    expect(all.error).toContain(
      'shared.md: the changes of this session (claude bbbbbbbb) and of claude aaaaaaaa overlap',
    );
    expect(all.error).toContain('nothing was committed');
    expect(all.hints).toEqual([
      `${again} ':(literal)b [1].ts'`,
      `git -C ${world.path} handoff take -- shared.md`,
    ]);
    expect(follow(all.hints[0])).toMatchObject({ status: 0 });
    expect(changes()).toEqual(['A b [1].ts']);
    expect(world.git(['log', '-1', '--format=%an %B'])).toMatch(/^A U Thor it's\n\nso\n\nSigned-off-by: /);
    expect(follow(all.hints[1])).toMatchObject({ status: 0 });
    expect(follow(named.hints[1])).toMatchObject({ status: 0 });
    world.ok(['commit', '-m', 'rest'], { session: B });
    expect(world.status()).toEqual([]);
  });

  it('that match nothing dirty, or lie outside', () => {
    expect(world.handoff(['commit', '-m', 'x', '--', 'src'], { session: B }).status).toBe(1);
    expect(world.handoff(['commit', '-m', 'x', '--', '../other'], { session: B }).status).toBe(2);
  });
});

describe('who may', () => {
  it('a person is sent to git', () => {
    const run = world.handoff(['commit', '-m', 'x']);
    expect(run.status).toBe(2);
    expect(run.stderr).toContain(`hint: git -C ${world.path} commit`);
  });

  it('amends its own commit, and adds to it', () => {
    world.write(B, 'src/b.ts', 'B\n');
    world.ok(['commit', '-m', 'b'], { session: B });
    world.write(B, 'more.ts', 'B\n');
    world.write(A, 'src/a.ts', 'A\n');
    world.git(['add', 'src/a.ts']);
    world.ok(['commit', '--amend', '--no-edit'], { session: B });
    expect(changes()).toEqual(['A more.ts', 'M src/b.ts']);
    world.ok(['commit', '--amend', '-m', 'reworded'], { session: B });
    expect(world.git(['log', '-1', '--format=%s%n%(trailers:key=Claude-Session-Id,valueonly)'])).toBe(
      `reworded\n${B}\n`,
    );
    expect(world.status()).toEqual(['M  src/a.ts']);
  });

  it('does not amend another’s commit', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.ok(['commit', '-m', 'a'], { session: A });
    const before = head();
    world.write(B, 'src/b.ts', 'B\n');
    const run = world.handoff(['commit', '--amend', '-m', 'x'], { session: B });
    expect(run.status).toBe(3);
    expect(run.stderr).toContain('claude aaaaaaaa');
    expect(head()).toBe(before);
    const hint = typedHints(run.stderr)[0] ?? 'false';
    expect(world.run('sh', ['-c', hint], { session: B, cwd: world.home })).toMatchObject({ status: 0 });
    expect(changes()).toEqual(['M src/b.ts']);
  });

  it('recognises its own commit by the ledger if there are no trailers', () => {
    world.git(['config', 'handoff.trailer', 'off']);
    world.write(A, 'src/a.ts', 'A\n');
    world.bash(A, `${LAUNCHER} commit -m a`);
    expect(trailer()).toBe('');
    expect(world.handoff(['commit', '--amend', '-m', 'x'], { session: B }).status).toBe(3);
    world.ok(['commit', '--amend', '-m', 'a2'], { session: A });
    expect(world.git(['log', '-1', '--format=%s'])).toBe('a2');
  });

  it('recognises its own commit by a short trailer', () => {
    world.git(['config', 'handoff.trailer', 'short']);
    world.write(A, 'src/a.ts', 'A\n');
    world.ok(['commit', '-m', 'a'], { session: A });
    expect(trailer()).toBe('aaaaaaaa');
    expect(world.handoff(['commit', '--amend', '-m', 'x'], { session: B }).status).toBe(3);
    world.ok(['commit', '--amend', '-m', 'a2'], { session: A });
  });

  it.each(['git handoff commit -m two', 'git commit -qam two'])(
    'a session’s commit of what it staged earlier is no change of somebody else: %s',
    (again) => {
      const insert = (line: string) => world.edit(B, 'src/b.ts', 'line 1\n', `line 1\n${line}\n`);
      insert('first');
      world.bash(B, 'git add src/b.ts');
      insert('second');
      // Commits get their true times, which tell what was changed before them.
      world.bash(B, 'unset GIT_COMMITTER_DATE; git commit -qm one');
      expect(world.bash(B, `unset GIT_COMMITTER_DATE; ${again}`).run).toMatchObject({
        status: 0,
        stderr: '',
      });
      expect(changes()).toEqual(['M src/b.ts']);
      expect(world.git(['show', 'HEAD:src/b.ts'])).toMatch(/^line 1\nsecond\nfirst\nline 2\n/);
    },
  );

  it('a merge in progress is left to whoever began it', () => {
    world.git(['checkout', '-qb', 'side']);
    world.commit('side', { 'shared.md': 'side\n' });
    world.git(['checkout', '-q', 'main']);
    world.commit('main', { 'shared.md': 'main\n' });
    world.run('git', ['merge', 'side']);
    world.write(B, 'src/b.ts', 'B\n');
    const run = world.handoff(['commit', '-m', 'x'], { session: B });
    expect(run.status).toBe(2);
    expect(run.stderr).toContain('a merge is in progress here');
    expect(run.stderr).toContain(`hint: git -C ${world.path} status`);
  });

  it('an empty cherry-pick: the hint skips it', () => {
    world.git(['checkout', '-qb', 'side']);
    world.commit('side', { 'shared.md': 'side\n' });
    world.git(['checkout', '-q', 'main']);
    world.commit('main', { 'shared.md': 'main\n' });
    world.bash(A, 'git cherry-pick side; git checkout --ours shared.md; git add shared.md');
    const run = world.as(A, ['handoff', 'commit', '--no-edit']);
    expect(run.status).toBe(1);
    const [hint = ''] = typedHints(run.stderr);
    expect(hint).toMatch(/^git (-C \S+ )?cherry-pick --skip$/);
    expect(world.bash(A, hint).run).toMatchObject({ status: 0 });
    expect(existsSync(join(world.path, '.git', 'CHERRY_PICK_HEAD'))).toBe(false);
  });

  it('in its own rebase, git makes the commits', () => {
    world.git(['checkout', '-qb', 'side']);
    world.commit('side', { 'shared.md': 'side\n' });
    world.git(['checkout', '-q', 'main']);
    world.commit('main', { 'shared.md': 'main\n' });
    world.bash(B, 'git rebase -q side');
    world.write(B, 'shared.md', 'both\n');
    world.git(['add', 'shared.md']);
    const run = world.handoff(['commit', '-m', 'x'], { session: B });
    expect(run).toMatchObject({ status: 2 });
    expect(run.stderr).toContain('a rebase is in progress here, and git itself makes its commits');
    const [hint = 'false'] = typedHints(run.stderr);
    expect(world.run('sh', ['-c', hint], { session: B, cwd: world.home })).toMatchObject({ status: 0 });
    expect(changes()).toEqual(['M shared.md']);
  });
});

describe('git’s own hooks, signing and editor', () => {
  it('a hook that refuses: its message, exit status 1, and the index byte for byte as before', () => {
    hook('pre-commit', 'echo "the linter says no" >&2; exit 1');
    world.write(A, 'src/a.ts', 'A\n');
    world.git(['add', 'src/a.ts']);
    world.write(B, 'src/b.ts', 'B\n');
    world.write(B, 'new.ts', '');
    const before = { index: index(), status: world.status(), head: head() };
    const run = world.handoff(['commit', '-m', 'b'], { session: B });
    expect(run.status).toBe(1);
    expect(run.stderr).toContain('the linter says no');
    expect({ index: index(), status: world.status(), head: head() }).toEqual(before);
    expect(world.json(['commit', '-m', 'b'], { session: B }).error.code).toBe('refused');
    world.ok(['commit', '-m', 'b', '--no-verify'], { session: B });
    expect(changes()).toEqual(['A new.ts', 'M src/b.ts']);
  });

  it('a file added by hand with git add -N stays so', () => {
    hook('pre-commit', 'exit 1');
    world.write(B, 'new.ts', 'B\n');
    world.git(['add', '-N', 'new.ts']);
    const before = { index: index(), status: world.status() };
    world.handoff(['commit', '-m', 'b'], { session: B });
    expect({ index: index(), status: world.status() }).toEqual(before);
  });

  it('a hook that formats and adds: its result is committed, and no stale entry is left', () => {
    hook(
      'pre-commit',
      'echo "// formatted" >> src/b.ts; echo 1 > generated.txt; git add src/b.ts generated.txt',
    );
    world.write(A, 'src/a.ts', 'A\n');
    world.git(['add', 'src/a.ts']);
    world.write(B, 'src/b.ts', 'B\n');
    expect(world.json(['commit', '-m', 'b'], { session: B })['paths']).toEqual(['generated.txt', 'src/b.ts']);
    expect(world.git(['show', 'HEAD:src/b.ts'])).toBe('B\n// formatted');
    expect(world.status()).toEqual(['M  src/a.ts']);
  });

  it('post-commit and commit-msg run, and see the message', () => {
    hook('commit-msg', 'head -1 "$1" > .git/seen');
    world.write(B, 'src/b.ts', 'B\n');
    world.ok(['commit', '-F', '-'], { session: B, input: 'from stdin\n' });
    expect(world.read('.git/seen')).toBe('from stdin\n');
  });

  it('signs with the user’s program', () => {
    const program = join(world.home, 'gpg');
    writeFileSync(
      program,
      '#!/bin/sh\ncat > /dev/null\nprintf "\\n[GNUPG:] SIG_CREATED D 1 8 00 0 X\\n" >&2\nprintf -- "-----BEGIN PGP SIGNATURE-----\\n\\nfake\\n-----END PGP SIGNATURE-----\\n"\n',
    );
    chmodSync(program, 0o755);
    world.git(['config', '--global', 'gpg.program', program]);
    world.write(B, 'src/b.ts', 'B\n');
    world.ok(['commit', '-S', '-s', '-m', 'b'], { session: B });
    expect(world.git(['cat-file', '-p', 'HEAD'])).toMatch(
      /^gpgsig(?:-sha256)? -----BEGIN PGP SIGNATURE-----$/m,
    );
    expect(world.git(['log', '-1', '--format=%B'])).toContain('Signed-off-by: Ada <ada@example.org>');
    writeFileSync(program, '#!/bin/sh\nexit 2\n');
    world.write(B, 'new.ts', 'B\n');
    const before = { index: index(), head: head() };
    expect(world.handoff(['commit', '-S', '-m', 'b'], { session: B }).status).toBe(7);
    expect({ index: index(), head: head() }).toEqual(before);
  });

  it('opens the editor without a message', () => {
    world.write(B, 'src/b.ts', 'B\n');
    world.write(B, 'new.ts', 'B\n');
    const env = { GIT_EDITOR: 'sh -c \'echo "from the editor" > "$1"\' x' };
    // git passes the process's own streams to the editor.
    world.ok(['commit'], { session: B, env, calls: 'process' });
    expect(world.git(['log', '-1', '--format=%s'])).toBe('from the editor');
    expect(trailer()).toBe(B);
    world.write(B, 'src/b.ts', 'B2\n');
    world.write(B, 'later.ts', 'B\n');
    const before = index();
    expect(
      world.handoff(['commit'], { session: B, env: { GIT_EDITOR: 'true' }, calls: 'process' }).status,
    ).toBe(1);
    expect(index()).toBe(before);
  });

  it('opens the editor, and keeps a commit that somebody makes while git ends', () => {
    hook(
      'post-commit',
      'once=$(git rev-parse --git-path once); [ -e "$once" ] && exit 0; : >"$once"\n' +
        'git update-ref HEAD "$(git commit-tree -p HEAD -m later "HEAD^{tree}")"',
    );
    world.write(B, 'src/b.ts', 'B\n');
    const env = { GIT_EDITOR: 'sh -c \'echo "from the editor" > "$1"\' x' };
    world.ok(['commit'], { session: B, env, calls: 'process' });
    expect(world.git(['log', '-2', '--format=%s']).split('\n')).toEqual(['later', 'from the editor']);
    expect(world.status()).toEqual([]);
  });
});

describe('a commit without a message', () => {
  it('is refused with the command to type where nobody can use an editor', () => {
    world.write(B, 'src/b.ts', 'B\n');
    const env = { VISUAL: undefined, EDITOR: undefined, GIT_EDITOR: undefined };
    const { status, stderr } = world.handoff(['commit', '--', 'src/b.ts'], { session: B, env });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: a commit needs a message, and there is no terminal to ask for one\n/);
    expect(stderr).toMatch(/^hint: git (?:-C \S+ )?handoff commit -m '<message>' -- src\/b\.ts$/m);
    expect(world.status()).toContain(' M src/b.ts');
  });
});

describe('Gemini CLI’s shell', () => {
  const scrub = {
    GEMINI_CLI: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '3',
    GIT_CONFIG_KEY_0: 'core.hooksPath',
    GIT_CONFIG_VALUE_0: '',
    GIT_CONFIG_KEY_1: 'user.name',
    GIT_CONFIG_VALUE_1: 'Grace',
    GIT_CONFIG_KEY_2: 'core.editor',
    GIT_CONFIG_VALUE_2: '',
  };

  it('the hooks run, and the user’s settings count', () => {
    hook('pre-commit', 'touch .git/ran');
    world.write(B, 'src/b.ts', 'B\n');
    world.ok(['commit', '-m', 'b'], { session: B, env: scrub });
    expect(existsSync(join(world.path, '.git/ran'))).toBe(true);
    expect(trailer()).toBe(B);
    expect(world.git(['log', '-1', '--format=%an %ae'])).toBe('Grace ada@example.org');
  });

  it('changes nothing for another shell with the same variables', () => {
    hook('pre-commit', 'touch .git/ran');
    world.write(B, 'src/b.ts', 'B\n');
    world.git(['config', 'user.email', 'ada@example.org']);
    world.ok(['commit', '-m', 'b'], { session: B, env: { ...scrub, GEMINI_CLI: undefined } });
    expect(existsSync(join(world.path, '.git/ran'))).toBe(false);
  });
});

describe('several at once', () => {
  it('waits for a lock that goes away', async () => {
    world.write(B, 'new.ts', 'B\n');
    const lock = join(world.path, '.git', 'index.lock');
    writeFileSync(lock, '');
    const child = world.start(LAUNCHER, ['commit', '-m', 'b'], { session: B });
    const done = finished(child);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    world.run('rm', [lock]);
    expect(await done).toMatchObject({ status: 0, stderr: '' });
    expect(changes()).toEqual(['A new.ts']);
  });

  it('waits for a commit in progress, but not if its process is gone', async () => {
    world.write(B, 'new.ts', 'B\n');
    const lock = join(world.path, '.git', 'handoff-commit.lock');
    const start = processTable().startOf(process.pid);
    writeFileSync(lock, `${A} ${process.pid} ${start}\n`);
    let isOver = false;
    const done = finished(world.start(LAUNCHER, ['commit', '-m', 'b'], { session: B }));
    void done.then(() => (isOver = true));
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(isOver).toBe(false);
    writeFileSync(lock, `${A} ${process.pid} 1\n`);
    expect(await done).toMatchObject({ status: 0 });
    expect(existsSync(lock)).toBe(false);
  });

  it('sixteen sessions commit from one working tree, and nothing is lost', async () => {
    const sessions = Array.from(
      { length: 16 },
      (_, n) => `${n.toString(16)}${n.toString(16)}sess16-0000-${n}`,
    );
    mkdirSync(join(world.path, 'many'));
    for (const session of sessions) {
      world.begin(session);
      world.write(session, `many/${session}.txt`, `${session}\n`);
    }
    const runs = await Promise.all(
      sessions.map((session) =>
        finished(world.start(LAUNCHER, ['commit', '-m', session, '--json'], { session })),
      ),
    );
    expect(runs.map(({ status, stderr }) => ({ status, stderr }))).toEqual(
      sessions.map(() => ({ status: 0, stderr: '' })),
    );
    for (const [n, { stdout }] of runs.entries()) {
      const { commit, paths } = JSON.parse(stdout) as { commit: string; paths: string[] };
      expect(paths).toEqual([`many/${sessions[n]}.txt`]);
      expect(changes(commit)).toEqual([`A many/${sessions[n]}.txt`]);
      expect(
        world.git(['log', '-1', '--format=%(trailers:key=Claude-Session-Id,valueonly)', commit]).trim(),
      ).toBe(sessions[n]);
    }
    expect(world.git(['rev-list', '--count', 'HEAD', '^HEAD~16'])).toBe('16');
    expect(world.status()).toEqual([]);
    expect(world.run('git', ['fsck']).status).toBe(0);
    expect(world.locks()).toEqual([]);
  });
});

it('a symbolic link that another session has changed is left to that session', () => {
  symlinkSync('src', join(world.path, 'link'));
  world.begin(C);
  world.write(C, 'c.txt', TEN);
  world.ok(['commit', '-m', 'c'], { session: C });
  expect(changes()).toEqual(['A c.txt']);
  expect(world.status()).toEqual(['?? link']);
});
