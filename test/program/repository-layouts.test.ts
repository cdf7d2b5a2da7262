import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type RepositoryOptions, TestRepository } from '../support/repository.ts';

const A = 'aaaaaaaa-1111';
const B = 'bbbbbbbb-2222';

const open: TestRepository[] = [];
afterEach(() => open.splice(0).forEach((one) => one.remove()));

function repository(options: RepositoryOptions = {}): TestRepository {
  const made = new TestRepository(options);
  open.push(made);
  return made;
}

/** Plays a whole handoff in `cwd`: A writes; B is refused, takes the note and writes; A is refused. Then reads everything. */
function playMainJob(repo: TestRepository, cwd: string, branch: string): void {
  const a = { cwd, session: A };
  const b = { cwd, session: B };
  const ref = `refs/handoffs/${branch.replaceAll('%', '%25').replaceAll('/', '%2F')}/auth-refresh`;
  const first = repo.noted(['write', 'auth-refresh', '-m', 'from A'], a);
  expect(repo.ref(ref)).toBe(first);
  const refused = repo.handoff(['write', 'auth-refresh', '-m', 'from B'], b);
  expect(refused).toMatchObject({ status: 3, stdout: '' });
  expect(refused.stderr).toContain('claude aaaaaaaa');
  expect(repo.ok(['show', 'auth-refresh', '--lost=1'], b)).toBe('from B');
  repo.ok(['take', 'auth-refresh'], b);
  const last = repo.noted(['write', 'auth-refresh', '-m', 'from B'], b);
  expect(repo.handoff(['write', 'auth-refresh', '-m', 'again A'], a).status).toBe(3);
  expect(repo.json(['show'], b)).toMatchObject({
    branch,
    topic: 'auth-refresh',
    oid: last,
    owner: B,
    note: 'from B\n',
  });
  expect(repo.json(['list'], a).items).toMatchObject([{ ref, oid: last, owner: B, unread: true }]);
  expect(repo.json(['log'], a).items).toMatchObject([
    { step: 'write', owner: B },
    { step: 'take', owner: B, takenFrom: A },
    { step: 'create', owner: A, parent: null },
  ]);
  repo.ok(['close', 'auth-refresh'], b);
  expect(repo.json(['list'], a).items).toEqual([]);
  expect(repo.json(['list', '--all'], a).items).toMatchObject([{ state: 'closed' }]);
  expect(repo.ref(`refs/handoffs-local/kept/${ref.slice('refs/handoffs/'.length)}`)).toBe(repo.ref(ref));
}

describe('the main job', () => {
  it.each<[string, RepositoryOptions, string]>([
    ['a plain repository', {}, 'main'],
    ['a bare repository', { bare: true }, 'main'],
    ['a sha256 repository', { objectFormat: 'sha256' }, 'main'],
    ['a detached HEAD', { head: 'detached' }, 'HEAD'],
    ['an unborn branch', { head: 'unborn' }, 'main'],
    ['a branch with %, / and a quote', { branch: `feat/100%/it's` }, `feat/100%/it's`],
    ['a folder with blanks, quotes and a $', { folder: `my 'own' $repo "x"` }, 'main'],
  ])('in %s', (_where, options, branch) => {
    const repo = repository(options);
    playMainJob(repo, repo.path, branch);
    if (options.bare !== true) {
      const dirty = repo.git(['status', '--porcelain']);
      expect(dirty).toBe('');
    }
  });

  it('in a linked worktree, seen from the main one', () => {
    const repo = repository();
    const linked = repo.worktree('feature/x');
    playMainJob(repo, linked, 'feature/x');
    const shown = repo.json(['list', '--all'], { session: A });
    expect(shown).toMatchObject({ branch: 'main', items: [{ branch: 'feature/x', owner: B }] });
  });

  it('in a subfolder, and with the git dir elsewhere', () => {
    const repo = repository({ head: 'unborn' });
    const gitDir = join(repo.root, 'elsewhere.git');
    repo.git(['init', '-q', `--separate-git-dir=${gitDir}`]);
    repo.commit('one', { 'sub/deep/file.txt': 'x' });
    playMainJob(repo, join(repo.path, 'sub', 'deep'), 'main');
  });

  it('with GIT_DIR and GIT_WORK_TREE set', () => {
    const repo = repository();
    const env = { GIT_DIR: join(repo.path, '.git'), GIT_WORK_TREE: repo.path };
    const oid = repo.noted(['write', 'auth-refresh', '-m', 'x'], { cwd: repo.root, env, session: A });
    expect(repo.ref('refs/handoffs/main/auth-refresh')).toBe(oid);
  });
});

describe('what a write records', () => {
  it('is the note byte for byte, and the facts about the repository that the design lists', () => {
    const repo = repository();
    repo.git(['branch', 'up']);
    repo.git(['branch', '--set-upstream-to=up']);
    writeFileSync(join(repo.path, 'secret-name.txt'), 'x');
    const note = Buffer.from('# Goal\r\nbytes \xff\x00 and no line feed at the end', 'latin1');
    repo.ok(['write', 'auth-refresh'], { session: A, input: note });
    const ref = 'refs/handoffs/main/auth-refresh';
    expect(repo.run('git', ['cat-file', 'blob', `${ref}:handoff.md`]).bytes).toEqual(note);
    expect(JSON.parse(repo.git(['cat-file', 'blob', `${ref}:state.json`]))).toEqual({
      version: 1,
      branch: 'main',
      topic: 'auth-refresh',
      head: repo.ref('HEAD'),
      upstream: 'up',
      dirty: 1,
      client: 'claude',
      worktree: null,
    });
    expect(repo.git(['ls-tree', '--format=%(objectmode) %(path)', ref])).toBe(
      '100644 handoff.md\n100644 state.json',
    );
    const trailers = repo.git(['log', '-1', '--format=%(trailers:only,unfold)', ref]).trim().split('\n');
    expect(trailers).toEqual([
      `Claude-Session-Id: ${A}`,
      `Handoff-Base: ${repo.ref('HEAD')}`,
      'Handoff-Client: claude',
      'Handoff-State: open',
    ]);
    expect(repo.git(['log', '-1', '--format=%s|%an <%ae>', ref])).toBe(
      'bytes \ufffd\\u{0} and no line feed at the end|Ada <ada@example.org>',
    );
  });

  it('names the linked worktree it was written in', () => {
    const repo = repository();
    const linked = repo.worktree('dev', 'the-tree');
    repo.ok(['write', 'auth-refresh', '-m', 'x'], { cwd: linked, session: A });
    const state = repo.git(['cat-file', 'blob', 'refs/handoffs/dev/auth-refresh:state.json']);
    expect(JSON.parse(state)).toMatchObject({ worktree: 'the-tree', branch: 'dev' });
    expect(state).not.toContain(repo.root);
  });

  it('shows up in no view of the code, and fsck finds nothing wrong', () => {
    const repo = repository();
    repo.ok(['write', 'auth-refresh', '-m', 'x'], { session: A });
    repo.handoff(['write', 'auth-refresh', '-m', 'y'], { session: B });
    expect(repo.git(['log', '--all', '--format=%s', '--', 'a.txt'])).toBe('start');
    expect(repo.git(['branch', '--all', '--format=%(refname)'])).toBe('refs/heads/main');
    expect(repo.git(['tag'])).toBe('');
    expect(repo.git(['fsck', '--strict', '--no-dangling'])).toBe('');
    const types = repo.git(['for-each-ref', '--format=%(objecttype)', 'refs/handoffs-local/lost']);
    expect(types).toBe('tree');
  });

  it('has a reflog, so that a forced fetch cannot lose it', () => {
    const repo = repository();
    for (const text of ['one', 'two']) repo.ok(['write', 'auth-refresh', '-m', text], { session: A });
    expect(repo.git(['reflog', 'refs/handoffs/main/auth-refresh']).split('\n')).toHaveLength(2);
  });
});

describe('HEAD', () => {
  it('stands for the branch that is being rebased', () => {
    const repo = repository();
    repo.commit('two', { 'a.txt': 'two\n' });
    repo.git(['checkout', '-q', '-b', 'topic', 'HEAD~1']);
    repo.commit('mine', { 'a.txt': 'mine\n' });
    expect(repo.run('git', ['rebase', 'main']).status).not.toBe(0);
    repo.ok(['write', 'auth-refresh', '-m', 'in the middle of it'], { session: A });
    expect(repo.refs('refs/handoffs')).toContain('refs/handoffs/topic/auth-refresh');
    repo.git(['rebase', '--abort']);
    expect(repo.ok(['show', '--raw'], { session: A })).toBe('in the middle of it');
  });

  it('does not count for a note of another branch, whose own tip is the base', () => {
    const repo = repository();
    repo.git(['branch', 'dev']);
    const dev = repo.ref('dev');
    repo.commit('ahead', { 'b.txt': 'b' });
    expect(repo.json(['write', 'dev/auth-refresh', '-m', 'x'], { session: A })).toMatchObject({
      branch: 'dev',
      base: dev,
    });
  });
});
