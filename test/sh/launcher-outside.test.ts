import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Shell, isYash, shells } from '../support/shells.ts';
import { LauncherWorld, loneSession, toolCall } from './launcher-world.ts';

let world: LauncherWorld;
let repo: string;
let plain: string;
let parent: string;
let away: string;

function enter(shell: Shell): void {
  world = new LauncherWorld(shell);
  parent = join(world.dir, 'parent');
  repo = world.repository('parent/repo', true);
  writeFileSync(join(repo, 'src', 'a.ts'), 'x');
  plain = world.repository('plain', false);
  away = join(world.dir, 'away');
  mkdirSync(join(away, 'deep'), { recursive: true });
  know('one', join(repo, '.git'));
}

afterEach(() => {
  rmSync(join(world.home, '.gitconfig'), { force: true });
});

const state = () => join(world.home, '.local', 'state', 'git-handoff');

/** Leaves what sessions and `init` leave in the user's folder. */
function know(name: string, commonDir: string): void {
  mkdirSync(join(state(), 'repositories'), { recursive: true });
  writeFileSync(join(state(), 'repositories', name), `${commonDir}\n`);
}

function asks(payload: object, env: Record<string, string> = {}): boolean {
  const run = world.run(['guard', '--client', 'claude'], JSON.stringify(payload), { env });
  expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
  return run.node !== undefined;
}

const bash = (cwd: string, command: string) => toolCall(cwd, 'Bash', { command });
const write = (cwd: string, path: string) => toolCall(cwd, 'Write', { content: 'x', file_path: path });

describe.each(shells.filter((one) => !isYash(one)))('a call from outside, under $name', (shell) => {
  beforeAll(() => enter(shell));
  afterAll(() => world.remove());

  it('of a file tool goes to Node if it names an enabled repository', () => {
    for (const cwd of [plain, away]) {
      expect(asks(write(cwd, join(repo, 'src', 'a.ts')))).toBe(true);
      expect(asks(write(cwd, join(repo, 'new', 'folder', 'a.ts')))).toBe(true);
      expect(asks(write(cwd, join(plain, 'x.ts')))).toBe(false);
      expect(asks(write(cwd, join(away, 'new', 'x.ts')))).toBe(false);
      expect(asks(write(cwd, '../parent/repo/a.ts'))).toBe(true);
      expect(asks(write(cwd, `${parent}/x/../repo/a.ts`))).toBe(true);
      expect(asks(toolCall(cwd, 'mcp__fs__write', { content: 'x', paths: [{ at: repo }] }))).toBe(true);
    }
    expect(asks(write(parent, 'x.ts'))).toBe(true);
  });

  it('of a shell goes to Node from above an enabled repository, or if it names one', () => {
    expect(asks(bash(parent, 'make'))).toBe(true);
    expect(asks(bash(world.dir, 'make'))).toBe(true);
    expect(asks(bash('/', 'make'))).toBe(true);
    for (const cwd of [plain, away, join(away, 'deep')]) {
      for (const command of [
        `git -C ${repo} reset --hard`,
        `cd ${repo} && make`,
        `true;cd "${repo}"`,
        `echo\n${repo}/x`,
        'cd ../parent/repo',
        `cd ${'x'.repeat(100_000)}; rm ../parent/repo/a`,
      ])
        expect([command, asks(bash(cwd, command))]).toEqual([command, true]);
      for (const command of [
        'make',
        'npm test >/dev/null',
        'git commit -m "a b"',
        'cat /usr/bin/x ./x',
        'git show HEAD~1',
        'x'.repeat(100_000),
      ])
        expect([command, asks(bash(cwd, command))]).toEqual([command, false]);
    }
  });

  it('goes to Node if it names a worktree elsewhere', () => {
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
    world.git(repo, ...identity, 'commit', '-q', '--allow-empty', '-m', 'x');
    world.git(repo, 'worktree', 'add', '-q', '-b', 'tree', join(world.dir, 'far', 'leaf tree'));
    expect(asks(bash(away, 'cd "../far/leaf tree" && make'))).toBe(true);
    expect(asks(bash(join(world.dir, 'far'), 'make'))).toBe(true);
    world.git(repo, 'worktree', 'remove', join(world.dir, 'far', 'leaf tree'));
    expect(asks(bash(away, 'cd "../far/leaf tree" && make'))).toBe(false);
  });

  it('goes to Node if a name has characters that JSON may escape', () => {
    for (const name of ['repö', 'a"b', 'a\\b', 'a(b', 'a,b', "a'b"]) {
      const odd = world.repository(`odd/${name}`, true);
      know('odd', join(odd, '.git'));
      expect([name, asks(bash(away, 'make'))]).toEqual([name, true]);
    }
    for (const name of ['a b', 'a-b', 'a+b', 'a@b', 'A_1.2']) {
      const plainName = world.repository(`odd/${name}`, true);
      know('odd', join(plainName, '.git'));
      expect([name, asks(bash(away, 'make'))]).toEqual([name, false]);
      expect([name, asks(bash(away, `rm "../odd/${name}/x"`))]).toEqual([name, true]);
    }
    rmSync(join(state(), 'repositories', 'odd'));
  });

  it('is judged by records, however they were written', () => {
    const other = world.repository('left', true);
    mkdirSync(join(state(), 'repositories', 'folder'));
    writeFileSync(join(state(), 'repositories', 'empty'), '');
    writeFileSync(join(state(), 'repositories', 'gone'), `${world.dir}/gone/.git\n`);
    expect(asks(bash(away, 'make'))).toBe(false);
    expect(asks(bash(away, 'cd left'))).toBe(false);
    writeFileSync(join(state(), 'repositories', 'cut'), join(other, '.git'));
    expect(asks(bash(away, 'make'))).toBe(false);
    expect(asks(bash(away, 'cd left'))).toBe(true);
    for (const name of ['folder', 'empty', 'gone', 'cut'])
      rmSync(join(state(), 'repositories', name), { recursive: true });
  });

  it('goes to Node if only git can find the working tree of a recorded repository', () => {
    const store = join(world.dir, 'stores', 'apart');
    mkdirSync(join(world.dir, 'stores'));
    world.git(world.dir, 'init', '-q', `--separate-git-dir=${store}`, join(world.dir, 'tree of it'));
    know('apart', store);
    expect(asks(bash(away, 'cd "../tree of it"'))).toBe(true);
    rmSync(store, { recursive: true });
    world.git(world.dir, 'init', '-q', '--bare', store);
    expect(asks(bash(away, 'make'))).toBe(false);
    expect(asks(bash(away, 'git -C ../stores/apart gc'))).toBe(true);
    rmSync(join(state(), 'repositories', 'apart'));
  });

  it('of a session that works in a repository from outside, goes to Node', () => {
    const journals = join(repo, '.git', 'handoff', 'sessions');
    mkdirSync(journals, { recursive: true });
    writeFileSync(join(journals, `${loneSession}.jsonl`), '');
    expect(asks(bash(away, 'make'))).toBe(true);
    expect(asks(bash(plain, 'make'))).toBe(true);
    expect(asks({ ...bash(away, 'make'), session_id: 'another' })).toBe(false);
    rmSync(journals, { recursive: true });
  });

  it('goes to Node if the user has enabled git-handoff for every repository', () => {
    writeFileSync(join(world.home, '.gitconfig'), '[handoff]\n\toperator = x\n');
    expect(asks(write(away, join(plain, 'x.ts')))).toBe(false);
    writeFileSync(join(world.home, '.gitconfig'), '[handoff]\n\tenabled\n');
    expect(asks(write(away, join(plain, 'x.ts')))).toBe(true);
    expect(asks(bash(plain, 'ls'))).toBe(true);
    expect(asks(bash(away, 'ls'))).toBe(true);
    writeFileSync(join(world.home, 'more'), '[handoff]\n\tenabled = yes\n');
    writeFileSync(join(world.home, '.gitconfig'), '[include]\n\tpath = more\n');
    expect(asks(bash(away, 'ls'))).toBe(true);
    rmSync(join(world.home, '.gitconfig'));
    const own = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'handoff.enabled', GIT_CONFIG_VALUE_0: 'true' };
    expect(asks(bash(away, 'ls'), own)).toBe(true);
    expect(asks(bash(plain, 'ls'), own)).toBe(true);
    expect(asks(bash(plain, 'ls'), { ...own, GIT_CONFIG_VALUE_0: 'no' })).toBe(false);
    mkdirSync(join(world.dir, 'xdg', 'git'), { recursive: true });
    writeFileSync(join(world.dir, 'xdg', 'git', 'config'), '[HandOff]\nEnabled = on\n');
    expect(asks(bash(away, 'ls'), { XDG_CONFIG_HOME: join(world.dir, 'xdg') })).toBe(true);
  });

  it('goes to Node if its repository is enabled, or has handoffs', () => {
    const there = world.repository('there is one', false);
    const call = bash(join(there, 'src'), 'ls');
    expect(asks(call)).toBe(false);
    world.git(there, 'config', 'handoff.operator', 'x');
    expect(asks(call)).toBe(false);
    world.git(there, 'config', 'handoff.enabled', 'true');
    expect(asks(call)).toBe(true);
    world.git(there, 'config', '--unset', 'handoff.enabled');
    writeFileSync(join(world.dir, 'on'), '[handoff]\n\tenabled = 1\n');
    appendFileSync(
      join(there, '.git', 'config'),
      `[includeIf "gitdir:**"]\n\tpath = ${join(world.dir, 'on')}\n`,
    );
    expect(asks(call)).toBe(true);
    const below = world.repository('there is one/below it', false);
    expect(asks(bash(below, 'ls'))).toBe(true);
    rmSync(there, { recursive: true });
    const tables = join(world.dir, 'tables');
    const hasTables = spawnSync('git', ['init', '-q', '--ref-format=reftable', tables]).status === 0;
    if (!hasTables) mkdirSync(join(world.repository('tables', false), '.git', 'reftable'));
    expect(asks(bash(tables, 'ls'))).toBe(false);
    const oid = world.git(tables, 'hash-object', '-w', '--stdin').trim();
    world.git(tables, 'update-ref', 'refs/handoffs/main/x', oid);
    expect(asks(bash(tables, 'ls'))).toBe(true);
  });

  it('of a lone session goes to Node if it may lead to another repository', () => {
    const other = world.repository('other', true);
    know('two', join(other, '.git'));
    expect(asks(bash(repo, `ls ${plain}`))).toBe(false);
    expect(asks(bash(repo, `cd ${other} && make`))).toBe(true);
    expect(asks(write(repo, join(other, 'src', 'a.ts')))).toBe(true);
    expect(asks(write(repo, join(plain, 'a.ts')))).toBe(true);
    rmSync(join(state(), 'repositories', 'two'));
  });

  it('stays in sh if no session has ever been at work', () => {
    rmSync(join(state(), 'repositories'), { recursive: true });
    expect(asks(bash(parent, 'make $X'))).toBe(false);
    know('one', join(repo, '.git'));
  });
});

describe.each(shells.filter(isYash))('a call from outside, under $name', (shell) => {
  beforeAll(() => enter(shell));
  afterAll(() => world.remove());

  it('goes to Node, since this shell cuts a text off at a byte that is invalid in its locale', () => {
    expect(asks(write(away, join(repo, 'src', 'a.ts')))).toBe(true);
    expect(asks(bash(away, 'make'))).toBe(true);
  });
});
