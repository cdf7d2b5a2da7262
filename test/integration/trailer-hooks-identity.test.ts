import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrailerWorld, mine, other, startOf } from '../support/trailer-world.ts';

let world: TrailerWorld;
beforeEach(() => {
  world = new TrailerWorld();
});
afterEach(() => world.remove());

const elsewhere = { GIT_HANDOFF_SESSION: other };

describe('whose commit it is', () => {
  it('is a person’s if nothing indicates a session, and Node does not start', () => {
    expect(world.commit('one').asked).toEqual([]);
    world.enable();
    expect(world.commit('two').asked).toEqual([]);
    expect([...world.ids('HEAD~'), ...world.ids()]).toEqual([]);
  });

  it('is that of the lone session here, if it is an ancestor, and Node starts once', () => {
    world.enable(process.pid);
    world.register(process.pid);
    expect(world.commit('one').asked).toEqual(['prepare-commit-msg']);
    const named = { CODEX_THREAD_ID: mine, GEMINI_SESSION_ID: mine };
    expect(world.commit('two', [], named).asked).toEqual(['prepare-commit-msg']);
    expect([...world.ids('HEAD~'), ...world.ids()]).toEqual([mine, mine]);
  });

  it('is that of the session on record as an ancestor, whatever the environment says', () => {
    world.enable(process.pid);
    world.register(process.pid);
    expect(world.commit('one', [], elsewhere).asked).toEqual(['pre-commit', 'prepare-commit-msg']);
    expect(world.ids()).toEqual([mine]);
  });

  it('depends on the environment if one process has several sessions', () => {
    world.enable();
    world.register(process.pid);
    world.register(process.pid, startOf(process.pid), other);
    world.commit('one', [], elsewhere);
    world.commit('two', [], { GIT_HANDOFF_SESSION: mine });
    expect([...world.ids('HEAD~'), ...world.ids()]).toEqual([other, mine]);
  });

  it('is a person’s beside that session', () => {
    world.register(process.pid, '1');
    world.enable(process.pid, '1');
    world.commit('another process with its pid');
    world.enable(process.pid, '-');
    world.commit('start unknown');
    writeFileSync(join(world.gitDir, 'handoff-solo'), '');
    world.commit('torn file');
    for (const revision of ['HEAD~2', 'HEAD~', 'HEAD']) expect(world.ids(revision)).toEqual([]);
  });

  it.each([
    'GIT_HANDOFF_SESSION',
    'CLAUDE_CODE_SESSION_ID',
    'CODEX_THREAD_ID',
    'CODEX_SESSION_ID',
    'GEMINI_SESSION_ID',
    'QWEN_CODE_SESSION_ID',
  ])('is the session that %s names where nobody knows its process', (name) => {
    world.enable();
    world.commit('nobody works alone', [], { [name]: other });
    world.enable(process.pid, '1');
    world.commit('somebody else does', [], { [name]: other });
    expect([...world.ids('HEAD~'), ...world.ids()]).toEqual([other, other]);
  });

  it.each(['../x', 'a b', '-x', 'x.lock', 'x'.repeat(129), "x'; id", 'a\nb', 'null'])(
    'is a person’s if the environment says %j',
    (session) => {
      world.enable();
      world.commit('one', [], { GIT_HANDOFF_SESSION: session });
      expect(world.ids()).toEqual([]);
    },
  );

  it('is that of the ancestor among several sessions on record', () => {
    world.enable();
    world.register(process.pid);
    expect(world.commit('one')).toMatchObject({ asked: ['pre-commit', 'prepare-commit-msg'], stderr: '' });
    expect(world.ids()).toEqual([mine]);
  });

  it('is a person’s beside the sessions on record', () => {
    world.enable();
    world.register(1, '1');
    world.register(process.pid, '1', other);
    world.commit('one');
    expect(world.ids()).toEqual([]);
  });

  it('is as an earlier hook of the same commit has found, with the settings that it read', () => {
    world.enable();
    const leaving = (committer: string, process = '$PPID', start = '${20}') =>
      world.base.script(join(world.gitDir, 'hooks', 'pre-commit'), [
        `stat=$(cat /proc/$PPID/stat)`,
        'set -- ${stat##*\\)}',
        `cat >"${join(world.gitDir, 'handoff-checked')}" <<END`,
        `{"pid":${process},"start":"${start}","committer":${committer},"spentMs":5,`,
        `"settings":[["handoff.enabled","true"],["handoff.trailer","short"]]}`,
        'END',
        start === '1' ? `touch -d '10 minutes ago' "${join(world.gitDir, 'handoff-checked')}"` : '',
      ]);
    leaving(`"${other}"`);
    world.commit('one', [], { GIT_HANDOFF_SESSION: mine });
    expect(world.ids()).toEqual([other.slice(0, 8)]);
    const edited = { GIT_HANDOFF_SESSION: mine, GIT_EDITOR: 'true' };
    world.git(['commit', '-q', '--allow-empty', '-e', '-m', 'two'], edited);
    expect(world.ids()).toEqual([other.slice(0, 8)]);
    leaving('null');
    world.commit('a person', [], elsewhere);
    expect(world.ids()).toEqual([]);
    for (const [who, process, start] of [
      [`"${other}"`, '1'],
      [`"${other}"`, '$PPID', '1'],
      ['"../x"'],
      ['"?"'],
      ['torn'],
    ] as const) {
      leaving(who, process, start);
      world.commit('of another commit', [], { GIT_HANDOFF_SESSION: mine });
      expect(world.ids()[0]?.slice(0, 8)).toBe(mine.slice(0, 8));
    }
  });

  it('is not recorded if the package is gone, silently', () => {
    world.enable(process.pid);
    rmSync(join(world.base.package, 'git-hooks', 'ask.sh'));
    expect(world.commit('one').stderr).toBe('');
    expect(world.ids()).toEqual([]);
  });

  it('is found through processes with odd names', () => {
    world.enable(process.pid);
    const odd = join(world.base.dir, ') S 1 (x\ny');
    world.base.script(odd, ['git commit -q --allow-empty -m one', 'exit 0']);
    expect(world.try([], {}, world.root, odd).status).toBe(0);
    expect(world.ids()).toEqual([mine]);
  });

  it('is found in a linked worktree and a subfolder', () => {
    world.commit('one');
    const tree = join(world.base.dir, 'tree');
    world.git(['worktree', 'add', '-q', '-b', 'tree', tree]);
    const gitDir = world.git(['rev-parse', '--absolute-git-dir'], {}, tree).stdout.trim();
    world.enable(process.pid, startOf(process.pid), gitDir);
    mkdirSync(join(tree, 'below'));
    world.git(['commit', '-q', '--allow-empty', '-m', 'two'], {}, join(tree, 'below'));
    expect(world.ids('tree')).toEqual([mine]);
    world.commit('the main worktree has no session');
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
