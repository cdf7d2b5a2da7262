import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Board } from '../../src/ui/board/shape.ts';
import { boardOf, dataOf } from '../support/board.ts';
import { TestRepository } from '../support/repository.ts';
import { A, B, SharingWorld, refusal } from '../support/sharing-world.ts';

describe('the board of two sessions', () => {
  let world: SharingWorld;
  let board: Board;
  const who = (by: number | undefined) => board.sessions[by ?? -1]?.id;

  beforeAll(() => {
    world = new SharingWorld({ ready: [A, B] });
    world.ok(['write', 'auth-refresh', '-m', 'first text'], { session: A });
    world.ok(['write', 'auth-refresh', '-m', 'second text'], { session: A });
    world.stop(A);
    world.ok(['take', 'auth-refresh'], { session: B });
    world.ok(['close', 'auth-refresh'], { session: B });
    world.write(A, 'src/a.ts', 'changed by a\n');
    refusal(world.try(B, 'src/a.ts', 'changed by b\n'));
    // The guard is told of this write only afterwards, so both have now changed the file.
    world.wrote(B, 'src/a.ts', 'changed by b\n');
    world.write(A, 'src/b.ts', 'b\n');
    world.git(['config', 'handoff.trailer', 'short']);
    world.ok(['commit', '-m', 'work on b', '--', 'src/b.ts'], { session: A });
    board = boardOf(world);
  });
  afterAll(() => world.remove());

  it('has a lane for each, with its place of work', () => {
    const lanes = board.sessions.filter(({ id }) => id === A || id === B);
    expect(lanes).toHaveLength(2);
    for (const lane of lanes) {
      expect(lane).toMatchObject({ state: 'live', client: 'claude', branch: 'main', worktree: 'repository' });
    }
    expect(board).toMatchObject({ repository: 'repository', initialised: true, limits: [] });
  });

  it('has every version of the handoff, newest first, and its texts', () => {
    const [topic] = board.topics;
    expect(topic).toMatchObject({ branch: 'main', topic: 'auth-refresh' });
    expect(topic?.versions.map(({ step, by }) => [step, who(by)])).toEqual([
      ['close', B],
      ['take', B],
      ['write', A],
      ['create', A],
    ]);
    expect(topic?.versions[1]).toMatchObject({ takenFrom: A });
    expect(topic?.versions[0]).toMatchObject({ closed: true });
    const texts = topic?.versions.map(({ oid }) => board.notes[oid]);
    expect(texts).toEqual(['second text\n', 'second text\n', 'second text\n', 'first text\n']);
  });

  it('has the commit, matched by the short id in its trailer', () => {
    const found = board.commits.map(({ subject, by, branch }) => [subject, by.map(who), branch]);
    expect(found).toEqual([['work on b', [A], 'main']]);
  });

  it('has the refusal', () => {
    const own = board.refusals.filter(({ detail }) => detail.includes('src/a.ts'));
    expect(own.map(({ by }) => who(by))).toEqual([B]);
  });

  it('distinguishes an ended session from one that is not on record', () => {
    world.end(B);
    const message = 'elsewhere\n\nClaude-Session-Id: never-registered-1';
    world.git(['-c', 'core.hooksPath=/dev/null', 'commit', '-q', '--allow-empty', '-m', message]);
    const later = boardOf(world);
    expect(later.sessions.find(({ id }) => id === B)).toMatchObject({ state: 'ended', reason: 'other' });
    expect(later.sessions.find(({ id }) => id === 'never-registered-1')).toMatchObject({ state: 'none' });
  });
});

describe('the uncommitted work of sessions', () => {
  let world: SharingWorld;
  const X = `${A}/a7a1647f4c5f67f3e`;
  const commandOf = (session: string, git = 'git') => `${git} handoff diff ${session}`;
  beforeAll(() => {
    world = new SharingWorld({ ready: [A, B] });
    world.beginAgent(X);
    world.edit(A, 'src/a.ts', 'line 1\n', 'by a\nand more\n');
    world.write(X, 'new.md', 'secret of x\n');
    world.edit(B, 'src/b.ts', 'line 2\n', '');
  });
  afterAll(() => world.remove());

  it('is counted as by git handoff diff --stat, even a running sub-agent’s, and comes with that command', () => {
    const found = Object.fromEntries(boardOf(world).sessions.map(({ id, work }) => [id, work]));
    expect(found).toEqual({
      [A]: [{ files: 2, added: 3, removed: 1, command: commandOf(A) }],
      [X]: [{ files: 1, added: 1, removed: 0, command: commandOf(X) }],
      [B]: [{ files: 1, added: 0, removed: 1, command: commandOf(B) }],
    });
    for (const [id, work] of Object.entries(found)) {
      const [{ files, added, removed } = { files: 0, added: 0, removed: 0 }] = work ?? [];
      const stat = world.ok(['diff', '--stat', id]);
      expect(stat).toMatch(new RegExp(` ${files} files? changed,`));
      expect([/(\d+) insertion/, /(\d+) deletion/].map((one) => Number(one.exec(stat)?.[1] ?? 0))).toEqual([
        added,
        removed,
      ]);
    }
  });

  it('is in --json, and its contents are not in the page', () => {
    const { file, work } = world.json(['board']);
    expect(work).toContainEqual({ session: X, files: 1, added: 1, removed: 0, command: commandOf(X) });
    expect(readFileSync(String(file), 'utf8')).not.toContain('secret of x');
  });

  it('of a sub-agent is in a lane with its session’s data', () => {
    expect(boardOf(world).sessions.find(({ id }) => id === X)).toMatchObject({
      ...{ state: 'live', client: 'claude', branch: 'main', worktree: 'repository', parent: A },
    });
  });

  it('of another worktree has a command that works from here', () => {
    const there = join(world.root, 'an other');
    world.git(['worktree', 'add', '-q', '-b', 'other', there]);
    world.begin(B, there);
    world.begin(A, there);
    world.write(B, 'there.md', 'b\n', there);
    const [, elsewhere] = boardOf(world).sessions.find(({ id }) => id === B)?.work ?? [];
    expect(elsewhere).toMatchObject({ files: 1, added: 1, command: commandOf(B, `git -C '${there}'`) });
    expect(world.run('sh', ['-c', elsewhere?.command ?? 'false']).stdout).toContain('+++ b/there.md');
  });
});

describe('the file', () => {
  let repo: TestRepository;
  beforeAll(() => {
    repo = new TestRepository();
    repo.ok(['write', 'auth-refresh', '-m', 'a </script> note'], { session: A });
  });
  afterAll(() => repo.remove());

  it('is in its own folder, private to its owner, if init never ran', () => {
    const [file = '', what] = repo.ok(['board']).split('\n');
    expect(file.startsWith(join(repo.root, 'tmp'))).toBe(true);
    expect(what).toBe('1 session, 1 handoff, 0 refusals');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(join(repo.path, '.git', 'handoff'))).toBe(false);
  });

  it('is at the wanted place, and is replaced by a newer one', () => {
    const file = join(repo.path, 'board.html');
    expect(repo.ok(['board', '--output', 'board.html'])).toContain('board.html\n');
    const first = readFileSync(file, 'utf8');
    expect(first).not.toContain('a </script> note');
    expect(Object.values(dataOf(first).notes)).toEqual(['a </script> note\n']);
    expect(repo.handoff(['board', '-o', 'board.html']).status).toBe(0);
  });

  it('is standard output with a dash', () => {
    expect(dataOf(repo.ok(['board', '-o', '-'])).topics).toHaveLength(1);
  });

  it.each([
    [
      'a file that is no board',
      () => writeFileSync(join(repo.path, 'x.html'), 'precious'),
      'x.html',
      'git handoff board did not write it',
    ],
    ['a link', () => symlinkSync('board.html', join(repo.path, 'y.html')), 'y.html', 'symbolic link'],
    ["git's own folder", () => undefined, '.git/board.html', "git's own folder"],
  ])('never takes the place of %s', (_what, prepare, name, why) => {
    prepare();
    const { status, stderr } = repo.handoff(['board', '-o', name]);
    expect(status).toBe(1);
    expect(stderr).toContain(why);
    if (name === 'x.html') expect(readFileSync(join(repo.path, name), 'utf8')).toBe('precious');
  });

  it('cannot be in a missing folder', () => {
    const { status, stderr } = repo.handoff(['board', '-o', 'nowhere/board.html']);
    expect([status, stderr]).toEqual([
      2,
      `error: there is no folder ${join(repo.path, 'nowhere')}\nhint: mkdir -p -- ${join(repo.path, 'nowhere')}\n`,
    ]);
  });

  it('changes nothing in the repository', () => {
    const before = repo.git(['for-each-ref']);
    repo.ok(['board']);
    expect(repo.git(['for-each-ref'])).toBe(before);
  });
});

describe('a note that was refused to another session', () => {
  it('is a refusal, with the command that prints the text', () => {
    const repo = new TestRepository();
    try {
      repo.git(['switch', '-qc', "it's/here"]);
      repo.ok(['write', 'auth-refresh', '-m', 'one'], { session: A });
      expect(repo.handoff(['write', 'auth-refresh', '-m', 'two'], { session: B }).status).toBe(3);
      const { refusals, sessions } = boardOf(repo);
      expect(refusals).toHaveLength(1);
      expect(sessions[refusals[0]?.by ?? -1]?.id).toBe(B);
      const [, command = ''] = /: (git handoff show .*)$/.exec(refusals[0]?.detail ?? '') ?? [];
      expect(repo.run('sh', ['-c', command]).stdout).toBe('two\n');
    } finally {
      repo.remove();
    }
  });
});

describe('a damaged repository', () => {
  it('shows the handoffs whose tips can be read, and says that others are missing', () => {
    const repo = new TestRepository();
    try {
      repo.ok(['write', 'auth-refresh', '-m', 'one'], { session: A });
      const first = repo.git(['rev-parse', 'refs/handoffs/main/auth-refresh']);
      repo.ok(['write', 'auth-refresh', '-m', 'two'], { session: A });
      repo.run('rm', ['-f', join(repo.path, '.git', 'objects', first.slice(0, 2), first.slice(2))]);
      const board = boardOf(repo);
      expect(board.topics.map(({ versions }) => versions.length)).toEqual([1]);
      expect(board.limits).toContain('Older versions of handoffs are left out, or could not be read.');
    } finally {
      repo.remove();
    }
  });
});

describe('in a repository that init switched on', () => {
  it('is in our folder, which doctor accepts and uninstall removes', () => {
    const repo = new TestRepository();
    try {
      repo.ok(['init', '--yes']);
      const file = join(repo.path, '.git', 'handoff', 'board.html');
      expect(repo.ok(['board']).split('\n')[0]).toBe(file);
      expect(repo.ok(['board']).split('\n')[0]).toBe(file);
      expect(repo.handoff(['doctor']).stdout).not.toContain('board');
      repo.ok(['uninstall', '--yes']);
      expect(existsSync(join(repo.path, '.git', 'handoff'))).toBe(false);
    } finally {
      repo.remove();
    }
  });
});
