import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { A, B, SharingWorld, TEN, refusal, contextText } from '../support/sharing-world.ts';

const put = (world: SharingWorld, path: string, content: string) =>
  writeFileSync(join(world.path, path), content);

describe('a worktree inside the main one', () => {
  const inner = '.claude/worktrees/x';
  function nested(): SharingWorld {
    const world = new SharingWorld({ files: { '.gitignore': '.claude/\n' } });
    world.git(['worktree', 'add', '-q', '-b', 'x', inner]);
    world.begin(A, join(world.path, inner));
    world.begin(B);
    world.write(A, 'src/b.ts', "A's\n", join(world.path, inner));
    return world;
  }

  it.each([
    [`git -C ${inner} reset --hard`],
    [`cd ${inner} && git checkout -- .`],
    [`git -C ${inner} stash`],
    [`rm -rf ${inner}/src`],
    [`echo x > ${inner}/src/b.ts`],
    [`rm -rf ${inner}`],
    ['git clean -ffdx'],
  ])('%s is refused', (command) => {
    expect(refusal(nested().may(B, command))).toContain('aaaaaaaa');
  });
});

describe('what a person threw away', () => {
  it('is kept even if its session writes the file again at once', () => {
    const world = new SharingWorld({ ready: [A, B] });
    world.write(A, 'src/a.ts', 'WIP\n');
    // File times may be older than the clock, but not by so much.
    world.run('sleep', ['0.05']);
    world.git(['reset', '-q', '--hard']);
    world.write(A, 'src/a.ts', 'again\n');
    expect(world.handoff(['rescue', 'show', '--raw', '--', 'src/a.ts']).stdout).toBe('WIP\n');
  });

  it('comes back through the filters that stored it', () => {
    const world = new SharingWorld({
      files: { '.gitattributes': '*.txt text eol=crlf\n', 'x.txt': 'one\n' },
      ready: [A, B],
    });
    world.write(A, 'x.txt', 'two\r\n');
    world.git(['checkout', '-q', '--', 'x.txt']);
    expect(world.handoff(['rescue', 'restore', '--', 'x.txt']).status).toBe(0);
    expect(world.read('x.txt')).toBe('two\r\n');
  });
});

describe('for a lone session', () => {
  it('what was staged and is gone from the disk is kept, and so are ignored files that a command names', () => {
    const world = new SharingWorld({ files: { '.gitignore': '.env\nbuild/\n' }, ready: [A] });
    put(world, 'new.ts', 'important\n');
    world.git(['add', 'new.ts']);
    rmSync(join(world.path, 'new.ts'));
    put(world, '.env', 'SECRET=1\n');
    mkdirSync(join(world.path, 'build'));
    put(world, 'build/out.js', 'x');
    world.bash(A, 'git reset -q --hard && git clean -qfdx');
    expect(existsSync(join(world.path, '.env'))).toBe(false);
    expect(world.handoff(['rescue', 'restore', '--', 'new.ts', '.env']).status).toBe(0);
  });

  it.each([
    [2, 'by themselves', 0],
    [20, 'as one pack', 1],
  ])('%i files are stored %s', (count, _, packs) => {
    const world = new SharingWorld({ ready: [A] });
    const names = Array.from({ length: count }, (__, n) => `new-${n}.ts`);
    for (const name of names) put(world, name, `${name}\n`);
    world.bash(A, 'git clean -fdq');
    const stored = readdirSync(join(world.path, '.git/objects/pack'));
    expect(stored.filter((name) => name.endsWith('.pack'))).toHaveLength(packs);
    expect(world.handoff(['rescue', 'restore', '1']).status).toBe(0);
    expect(names.map((name) => world.read(name))).toEqual(names.map((name) => `${name}\n`));
  });

  it('both of two names that are not UTF-8 come back', () => {
    const world = new SharingWorld({ ready: [A] });
    world.run('bash', ['-c', `echo 1 > $'bad\\xff'; echo 2 > $'bad\\xfe'`]);
    world.bash(A, 'git clean -fdq');
    expect(world.handoff(['rescue', 'restore', '1']).status).toBe(0);
    expect(world.run('bash', ['-c', 'cat bad* | sort']).stdout).toBe('1\n2\n');
  });

  it('an edit that git was told not to see is not overwritten', () => {
    const world = new SharingWorld({ ready: [A] });
    put(world, 'src/a.ts', 'WIP\n');
    world.bash(A, 'git checkout -q -- src/a.ts');
    world.git(['update-index', '--assume-unchanged', 'src/a.ts']);
    put(world, 'src/a.ts', 'local\n');
    expect(world.handoff(['rescue', 'restore', '--', 'src/a.ts']).status).toBe(1);
    expect(world.read('src/a.ts')).toBe('local\n');
  });

  it('a held lock on packed-refs prevents only the removal of old rescues', () => {
    const world = new SharingWorld();
    world.git(['config', 'handoff.rescue.maxCount', '1']);
    world.begin(A);
    put(world, 'src/a.ts', 'one\n');
    world.may(A, 'git reset --hard');
    put(world, '.git/packed-refs.lock', '');
    put(world, 'src/a.ts', 'two\n');
    expect(contextText(world.may(A, 'git reset --hard'))).toBe('');
    expect(world.handoff(['rescue', 'show', '--raw', '--', 'src/a.ts']).stdout).toBe('two\n');
  });
});

describe('in the stash', () => {
  it('nobody becomes the owner of an entry by looking at it', () => {
    const world = new SharingWorld({ ready: [A] });
    put(world, 'src/a.ts', "a person's\n");
    world.git(['stash', 'push', '-q', '-m', 'by hand']);
    world.bash(A, 'git stash list');
    world.bash(A, 'grep -rn stash src || true');
    expect(refusal(world.may(A, 'git stash drop'))).toContain('by hand');
  });

  it('an entry is its maker’s, even if another session looked at it first', () => {
    const world = new SharingWorld();
    const second = world.worktree('second');
    world.begin(A);
    world.begin(B, second);
    world.write(B, 'src/b.ts', "B's\n", second);
    world.may(B, 'git stash && sleep 9', second);
    world.git(['stash', 'push', '-q'], { cwd: second });
    world.bash(A, 'git stash list');
    const done = { tool_name: 'Bash', tool_input: { command: 'git stash && sleep 9' }, tool_response: {} };
    world.guard({ session_id: B, hook_event_name: 'PostToolUse', ...done }, { cwd: second });
    expect(refusal(world.may(A, 'git stash pop'))).toContain('bbbbbbbb');
    expect(world.may(B, 'git stash pop', second).kind).toBe('silent');
  });

  it.each([
    ['echo n > newfile.txt && git stash && git stash pop'],
    ['git stash push -- shared.md; git stash pop'],
    ['git stash push --staged; git stash pop'],
  ])('%s: the push makes no entry', (command) => {
    const world = new SharingWorld();
    const second = world.worktree('second');
    world.begin(A);
    world.begin(B, second);
    world.write(B, 'src/b.ts', "B's\n", second);
    world.bash(B, 'git stash', { cwd: second });
    if (!command.startsWith('echo')) put(world, 'src/a.ts', 'WIP\n');
    expect(refusal(world.may(A, command))).toContain('bbbbbbbb');
    expect(world.may(A, 'echo x >> src/a.ts && git stash && git stash pop').kind).toBe('silent');
  });

  it('a long list is kept in one ref, and a dropped entry stays recoverable', () => {
    const world = new SharingWorld();
    world.git(['config', 'handoff.rescue.maxCount', '3']);
    world.begin(A);
    for (let n = 0; n < 8; n += 1) {
      put(world, 'src/a.ts', `${n}\n`);
      world.git(['stash', 'push', '-q', '-m', `entry ${n}`]);
    }
    const pins = () =>
      world.git(['for-each-ref', '--format=%(refname) %(objectname)', 'refs/handoffs-local/rescue']);
    world.bash(A, 'git stash list');
    const before = pins();
    expect(before.split('\n')).toHaveLength(8);
    world.git(['stash', 'drop', '-q']);
    put(world, 'src/a.ts', 'x\n');
    world.bash(A, 'git stash push -m later');
    world.bash(A, 'git stash list');
    expect(pins().split('\n')).toEqual(expect.arrayContaining(before.split('\n')));
    expect(world.handoff(['rescue']).stdout).toContain('dropped stash On main: entry 7');
  });
});

describe('harmless commands beside another session', () => {
  it.each([
    ["git checkout -q -- 'app/[id]/page.tsx'"],
    ["git restore . ':!src/a.ts'"],
    ["git restore 'app/*'"],
    ['git checkout src/gone.ts'],
    ['git checkout -q main'],
    ['git stash push --staged'],
    ['cd app && git checkout .'],
  ])('%s', (command) => {
    const world = new SharingWorld({
      files: { 'app/[id]/page.tsx': 'x\n', 'src/gone.ts': 'x\n' },
      ready: [A, B],
    });
    world.write(A, 'src/a.ts', "A's\n");
    world.write(B, 'app/[id]/page.tsx', "B's\n");
    world.bash(B, 'rm src/gone.ts && git add app');
    expect(world.may(B, command).kind).toBe('silent');
  });

  it('its own merge may be undone', () => {
    const world = new SharingWorld();
    const second = world.worktree('second');
    world.begin(A);
    world.begin(B, second);
    world.write(A, 'src/a.ts', "A's\n");
    world.bash(A, 'git commit -qam a');
    expect(world.bash(B, 'git merge -q --no-edit main', { cwd: second }).run?.status).toBe(0);
    expect(world.may(B, 'git reset --hard ORIG_HEAD', second).kind).toBe('silent');
  });

  it('a worktree may be removed even if a session that works elsewhere once touched it', () => {
    const world = new SharingWorld({ ready: [A, B] });
    world.bash(B, 'git worktree add -q ../visited');
    const path = join(world.path, '..', 'visited');
    world.bash(A, `echo x > ${path}/note.txt && rm ${path}/note.txt`);
    expect(world.bash(B, 'git worktree remove --force ../visited').run?.status).toBe(0);
  });
});

describe('hints that are typed in a subfolder', () => {
  it('name paths relative to it', () => {
    const world = new SharingWorld({ ready: [A, B] });
    world.write(A, 'src/a.ts', "A's\n");
    world.write(B, 'src/b.ts', "B's\n");
    world.write(B, 'src/new.ts', "B's\n");
    const cwd = join(world.path, 'src');
    const undo =
      /Undo only your own changes: (git .*)$/.exec(refusal(world.may(B, 'git reset --hard', cwd)))?.[1] ?? '';
    expect(world.bash(B, undo, { cwd }).run?.status).toBe(0);
    expect(world.read('src/b.ts')).toBe(TEN);
    const add = /git worktree add .*$/.exec(refusal(world.may(B, 'git switch -c feat HEAD', cwd)))?.[0] ?? '';
    const added = world.bash(B, add, { cwd }).run;
    expect(added?.status, added?.stderr).toBe(0);
    expect(existsSync(join(world.path, '..', 'feat', 'src'))).toBe(true);
    put(world, 'src/b.ts', 'WIP\n');
    world.bash(B, 'git checkout -q -- b.ts', { cwd });
    put(world, 'src/b.ts', 'later\n');
    const refused = world.handoff(['rescue', 'restore', '--', 'b.ts'], { cwd, session: B }).stderr;
    const typed = /hint: (git .*)/.exec(refused)?.[1] ?? '';
    expect(world.run('bash', ['-c', typed], { cwd, session: B }).status).toBe(0);
    expect(world.read('src/b.ts')).toBe('WIP\n');
  });
});
