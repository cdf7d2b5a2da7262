import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Shell, isYash, shells } from '../support/shells.ts';
import { LauncherWorld, soloSession, toolCall } from './launcher-world.ts';

let world: LauncherWorld;
let repo: string;
let plain: string;
let parent: string;
let away: string;

function enter(shell: Shell): void {
  world = new LauncherWorld(shell);
  parent = join(world.dir, 'parent');
  repo = world.repository('parent/repo', true);
  plain = world.repository('plain', false);
  away = join(world.dir, 'away');
  mkdirSync(join(away, 'deep'), { recursive: true });
  symlinkSync(repo, join(plain, 'link'));
  know('one', join(repo, '.git'));
}

afterEach(() => {
  rmSync(join(world.home, '.gitconfig'), { force: true });
  rmSync(join(state(), 'visits'), { recursive: true, force: true });
});

const state = () => join(world.home, '.local', 'state', 'git-handoff');

/** What sessions and `init` leave in the user's folder. */
function know(name: string, commonDir: string): void {
  mkdirSync(join(state(), 'repositories'), { recursive: true });
  writeFileSync(join(state(), 'repositories', name), `${commonDir}\n`);
}

function asks(payload: object): boolean {
  const run = world.run(['guard', '--client', 'claude'], JSON.stringify(payload));
  expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
  return run.node !== undefined;
}

const bash = (cwd: string, command: string) => toolCall(cwd, 'Bash', { command });
const write = (cwd: string, path: string) => toolCall(cwd, 'Write', { content: 'x', file_path: path });

describe.skipIf(isYash()).each(shells)('a call from outside, under $name', (shell) => {
  beforeAll(() => enter(shell));
  afterAll(() => world.remove());

  it('of a file tool goes to Node where its path is in an enabled repository', () => {
    for (const cwd of [parent, plain, away]) {
      expect(asks(write(cwd, join(repo, 'src', 'a.ts')))).toBe(true);
      expect(asks(write(cwd, join(repo, 'new', 'folder', 'a.ts')))).toBe(true);
      expect(asks(write(cwd, join(plain, 'link', 'src', 'a.ts')))).toBe(true);
      expect(asks(write(cwd, join(plain, 'x.ts')))).toBe(false);
      expect(asks(write(cwd, join(away, 'new', 'x.ts')))).toBe(false);
    }
    expect(asks(write(parent, 'repo/src/a.ts'))).toBe(true);
    expect(asks(write(parent, 'x.ts'))).toBe(false);
    expect(asks(write(away, '../parent/repo/a.ts'))).toBe(true);
  });

  it('of a shell goes to Node above an enabled repository, or where it may lead to one', () => {
    expect(asks(bash(parent, 'make'))).toBe(true);
    expect(asks(bash(world.dir, 'make'))).toBe(true);
    for (const cwd of [plain, away]) {
      for (const command of [
        `git -C ${repo} reset --hard`,
        `cd ${repo} && make`,
        `true;cd "${repo}"`,
        `echo\n${repo}/x`,
        'cd ../parent/repo',
        'cd ..',
        'cd ~/x',
        'cd ~',
        'cd $X',
        'cd -',
      ])
        expect([command, asks(bash(cwd, command))]).toEqual([command, true]);
      for (const command of [
        'make',
        'npm test >/dev/null',
        'git commit -m "a b"',
        'cat /usr/bin/x ./x',
        'git show HEAD~1',
      ])
        expect([command, asks(bash(cwd, command))]).toEqual([command, false]);
    }
    expect(asks(bash(plain, 'rm link/src/a.ts'))).toBe(true);
  });

  it('of a session that works in a repository from outside goes to Node', () => {
    mkdirSync(join(state(), 'visits', soloSession), { recursive: true });
    expect(asks(bash(away, 'make'))).toBe(true);
  });

  it('goes to Node where the user has switched it on for every repository', () => {
    writeFileSync(join(world.home, '.gitconfig'), '[handoff]\n\toperator = x\n');
    expect(asks(write(away, join(plain, 'x.ts')))).toBe(false);
    writeFileSync(join(world.home, '.gitconfig'), '[handoff]\n\tenabled\n');
    expect(asks(write(away, join(plain, 'x.ts')))).toBe(true);
    expect(asks(bash(plain, 'ls'))).toBe(true);
    expect(asks(bash(away, 'ls'))).toBe(true);
    writeFileSync(join(world.home, 'more'), '[handoff]\n\tenabled = yes\n');
    writeFileSync(join(world.home, '.gitconfig'), '[include]\n\tpath = more\n');
    expect(asks(bash(away, 'ls'))).toBe(true);
  });

  it('of a session that is alone goes to Node where it may lead to another repository', () => {
    expect(asks(bash(repo, 'make && cd src'))).toBe(false);
    expect(asks(bash(repo, `cd ${plain} && make`))).toBe(false);
    const other = world.repository(`other ${shell.name}`, true);
    know('two', join(other, '.git'));
    expect(asks(bash(repo, 'make && cd src'))).toBe(false);
    expect(asks(bash(repo, `cd "${other}" && make`))).toBe(true);
    rmSync(join(state(), 'repositories', 'two'));
  });

  it('stays in sh where no session has ever been at work', () => {
    rmSync(join(state(), 'repositories'), { recursive: true });
    expect(asks(bash(parent, 'make $X'))).toBe(false);
    know('one', join(repo, '.git'));
  });
});
