import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrailerWorld, mine, other, startOf } from './trailer-hooks-world.ts';

let world: TrailerWorld;
beforeEach(() => {
  world = new TrailerWorld();
});
afterEach(() => world.remove());

const elsewhere = { GIT_HANDOFF_SESSION: other };
/** What the stand-in for Node answers, and that it was asked. */
const answering = (id: string): Record<string, string> => ({ ...elsewhere, FAKE_STDOUT: `${id}\n` });

describe('whose commit it is', () => {
  it('is a person where nothing tells of a session, and Node is not asked', () => {
    expect(world.commit('one').asked).toBe(false);
    world.enable();
    expect(world.commit('two').asked).toBe(false);
    expect([...world.ids('HEAD~'), ...world.ids()]).toEqual([]);
  });

  it('is the session that works here alone, if it is an ancestor, whatever the environment says', () => {
    world.enable(process.pid);
    expect(world.commit('one').asked).toBe(false);
    // Sessions of one process are told apart by the variable, and only Node knows whether they are.
    expect(world.commit('two', [], elsewhere).asked).toBe(true);
    expect([...world.ids('HEAD~'), ...world.ids()]).toEqual([mine, mine]);
  });

  it('is a person beside that session', () => {
    world.enable(process.pid, '1');
    expect(world.commit('another process with its pid').asked).toBe(false);
    world.enable(process.pid, '-');
    expect(world.commit('start unknown').asked).toBe(false);
    writeFileSync(join(world.gitDir, 'handoff-solo'), '');
    expect(world.commit('torn file').asked).toBe(false);
    for (const revision of ['HEAD~2', 'HEAD~', 'HEAD']) expect(world.ids(revision)).toEqual([]);
  });

  it.each([
    'GIT_HANDOFF_SESSION',
    'CLAUDE_CODE_SESSION_ID',
    'CODEX_THREAD_ID',
    'CODEX_SESSION_ID',
    'GEMINI_SESSION_ID',
  ])('is what Node says where %s names one that cannot be checked', (name) => {
    expect(world.commit('no solo file', [], { [name]: other, FAKE_STDOUT: `${other}\n` }).asked).toBe(true);
    world.enable(process.pid, '1');
    expect(world.commit('no ancestor', [], { [name]: other, FAKE_STDOUT: `${other}\n` }).asked).toBe(true);
    expect([...world.ids('HEAD~'), ...world.ids()]).toEqual([other, other]);
  });

  it('is what Node says where a session on record is an ancestor', () => {
    world.enable();
    world.register(process.pid);
    const run = world.commit('one', [], { FAKE_STDOUT: `answer: ${mine}\n` });
    expect(run).toMatchObject({ asked: true, stderr: '' });
    expect(run.words.slice(1, 3)).toEqual(['hook', 'prepare-commit-msg']);
    expect(world.ids()).toEqual([mine]);
  });

  it('is a person beside the sessions on record, and Node is not asked', () => {
    world.enable();
    world.register(1, '1');
    world.register(process.pid, '1', other);
    expect(world.commit('one').asked).toBe(false);
    expect(world.ids()).toEqual([]);
  });

  it('is what an earlier hook of the same commit was told', () => {
    world.enable();
    const mark = join(world.gitDir, 'handoff-checked');
    const hook = join(world.gitDir, 'hooks', 'pre-commit');
    const leaving = (text: string) =>
      world.base.script(hook, [`stat=$(cat /proc/$PPID/stat)`, 'set -- ${stat##*\\)}', text]);
    leaving(`echo "$PPID \${20} ${other}" >"${mark}"`);
    expect(world.commit('one', [], elsewhere)).toMatchObject({ asked: false });
    expect(world.ids()).toEqual([other]);
    world.git(['commit', '-q', '--allow-empty', '-e', '-m', 'two'], { ...elsewhere, GIT_EDITOR: 'true' });
    expect(world.ids()).toEqual([other]);
    leaving(`echo "$PPID \${20} -" >"${mark}"`);
    expect(world.commit('a person', [], elsewhere)).toMatchObject({ asked: false });
    expect(world.ids()).toEqual([]);
    for (const text of ['$PPID 1 x', '1 \${20} x', '$PPID', '']) {
      leaving(`echo "${text}" >"${mark}"`);
      expect(world.commit('of another commit', [], elsewhere).asked).toBe(true);
    }
  });

  it('is named as the settings say that an earlier hook was told, where it was told all', () => {
    world.enable();
    const mark = join(world.gitDir, 'handoff-checked');
    const leaving = (...lines: string[]) =>
      world.base.script(join(world.gitDir, 'hooks', 'pre-commit'), [
        `stat=$(cat /proc/$PPID/stat)`,
        'set -- ${stat##*\\)}',
        `printf '%s\\n' "$PPID \${20} ${other} 5" ${lines.map((line) => `'${line}'`).join(' ')} >"${mark}"`,
      ]);
    leaving('handoff.enabled true', 'handoff.trailer short', '.');
    world.commit('one', [], elsewhere);
    expect(world.ids()).toEqual([other.slice(0, 8)]);
    leaving('handoff.enabled true', 'handoff.trailer short');
    world.commit('two', [], elsewhere);
    expect(world.ids()).toEqual([other]);
  });

  it.each(['', '../x', 'a b', '-x', 'x.lock', 'x'.repeat(129), "x'; id", 'a\nb'])(
    'is a person if Node answers %j',
    (answer) => {
      expect(world.commit('one', [], answering(answer)).asked).toBe(true);
      expect(world.ids()).toEqual([]);
    },
  );

  it('is a person if Node fails or the program is gone', () => {
    world.commit('one', [], { ...elsewhere, FAKE_STATUS: '1' });
    rmSync(join(world.base.package, 'bin'), { recursive: true });
    world.commit('two', [], elsewhere);
    rmSync(join(world.base.package, 'git-hooks', 'trailer.sh'));
    expect(world.commit('three', [], elsewhere).stderr).toBe('');
    for (const revision of ['HEAD~2', 'HEAD~', 'HEAD']) expect(world.ids(revision)).toEqual([]);
  });

  it('is found through processes with odd names', () => {
    world.enable(process.pid);
    const odd = join(world.base.dir, ') S 1 (x\ny');
    world.base.script(odd, ['git commit -q --allow-empty -m one', 'exit 0']);
    expect(world.try([], {}, world.root, odd).status).toBe(0);
    expect(world.ids()).toEqual([mine]);
  });

  it('is told in a linked worktree and a folder below', () => {
    world.commit('one');
    const tree = join(world.base.dir, 'tree');
    world.git(['worktree', 'add', '-q', '-b', 'tree', tree]);
    const gitDir = world.git(['rev-parse', '--absolute-git-dir'], {}, tree).stdout.trim();
    world.enable(process.pid, startOf(process.pid), gitDir);
    mkdirSync(join(tree, 'below'));
    world.git(['commit', '-q', '--allow-empty', '-m', 'two'], {}, join(tree, 'below'));
    expect(world.ids('tree')).toEqual([mine]);
    expect(world.commit('the main worktree has no session').asked).toBe(false);
    expect(world.ids()).toEqual([]);
  });
});

describe('settings', () => {
  beforeEach(() => world.enable(process.pid));

  it.each([
    ['handoff.trailer', 'off'],
    ['handoff.trailer', 'Off'],
    ['handoff.trailer', 'NO'],
    ['handoff.enabled', 'oFF'],
    ['handoff.enabled', 'false'],
    ['handoff.enabled', 'No'],
    ['handoff.enabled', '0'],
  ])('%s = %s: no trailer', (key, value) => {
    world.git(['config', key, value]);
    world.commit('one');
    expect(world.ids()).toEqual([]);
  });

  it('handoff.trailer = short: 8 characters, once', () => {
    world.git(['config', '--global', 'handoff.trailer', 'off']);
    world.git(['config', 'handoff.trailer', 'short']);
    world.commit('one');
    world.git(['commit', '-q', '--allow-empty', '--amend', '--no-edit']);
    expect(world.ids()).toEqual([mine.slice(0, 8)]);
    world.commit('two', ['-m', `Claude-Session-Id: ${mine}`]);
    expect(world.ids()).toEqual([mine]);
  });

  it('GIT_HANDOFF = off: no trailer', () => {
    world.commit('one', [], { GIT_HANDOFF: 'off' });
    expect(world.ids()).toEqual([]);
  });
});
