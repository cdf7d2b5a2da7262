import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, contextText } from '../support/sharing-world.ts';
import { type Json, TestRepository } from '../support/repository.ts';

const C = 'cccccccc-3333';
let repo: SharingWorld;
beforeEach(() => {
  repo = new SharingWorld({
    files: { 'src/one.txt': 'one\n', 'src/two.txt': 'two\n', 'gone.txt': 'bye\n' },
  });
});
afterEach(() => repo.remove());

const put = (path: string, content: string) => writeFileSync(join(repo.path, path), content);

/** Two sessions begin. */
function both(): void {
  for (const session of [A, B]) repo.begin(session);
}

/** The other session waits for its user. */
function take(paths: readonly string[], session?: string, folder = repo.path) {
  if (session !== undefined) repo.stop(session === A ? B : A, folder);
  return repo.handoff(['take', '--', ...paths], session === undefined ? {} : { session });
}
const ledgers = () => [A, B].map((session) => repo.ledger(session));

/** What a session is told with its next shell command. */
function newsOf(session: string, cwd = repo.path): string {
  const { before, after } = repo.bash(session, 'true', { cwd });
  return contextText(before) + contextText(after);
}

describe('git handoff take -- <path>', () => {
  beforeEach(both);

  it("moves another session's claim, tells that session once, and leaves disk and index alone", () => {
    repo.write(B, 'src/two.txt', 'by B\n');
    const before = repo.git(['status', '--porcelain=v2', '-z']);
    const done = take(['src/two.txt'], A);
    expect(done).toMatchObject({
      status: 0,
      stdout: 'took src/two.txt from claude bbbbbbbb\n',
    });
    expect(repo.git(['status', '--porcelain=v2', '-z'])).toBe(before);
    expect(readFileSync(join(repo.path, 'src/two.txt'), 'utf8')).toBe('by B\n');
    expect(repo.whose(A)).toEqual({ 'src/two.txt': `mine ${A}` });
    expect(repo.whose(B)).toEqual({ 'src/two.txt': `other ${A}` });
    expect(repo.ledger(B).at(-1)).toMatchObject({ t: 'end', path: 'src/two.txt', why: 'taken', by: A });
    const news = 'claude aaaaaaaa took src/two.txt: your uncommitted change there is in its hands now.';
    expect(newsOf(B)).toContain(news);
    expect(newsOf(B)).not.toContain(news);
  });

  it('keeps the base and the exact changes', () => {
    repo.write(B, 'src/two.txt', 'first\n');
    repo.write(B, 'src/two.txt', 'second\n');
    const [first, second] = repo.ledger(B).filter(({ t }) => t === 'claim');
    take(['src/two.txt'], A);
    const taken = repo.ledger(A).filter(({ t }) => t === 'claim');
    expect(taken).toMatchObject([
      {
        base: first!['base'],
        before: first!['before'],
        after: second!['after'],
        evidence: 'explicit',
        weak: false,
      },
    ]);
  });

  it('joins alternating changes of both into one chain', () => {
    repo.git(['config', 'handoff.contention', 'warn']);
    repo.write(A, 'src/one.txt', 'A\n');
    repo.write(B, 'src/one.txt', 'A\nB\n');
    repo.write(A, 'src/one.txt', 'A\nB\nA again\n');
    expect(repo.whose(A)).toEqual({ 'src/one.txt': `contended ${A} ${B}` });
    expect(take(['src/one.txt'], A).status).toBe(0);
    expect(repo.whose(A)).toEqual({ 'src/one.txt': `mine ${A}` });
    const last = repo.ledger(A).findLast(({ t }) => t === 'claim');
    const disk = repo.git(['hash-object', 'src/one.txt']);
    expect(last).toMatchObject({ after: { oid: disk } });
  });

  it('lets the taker edit and commit what it was refused before', () => {
    repo.write(B, 'src/two.txt', 'by B\n');
    const call = { tool_name: 'Edit', tool_input: { file_path: join(repo.path, 'src/two.txt') } };
    const edit = () => repo.guard({ ...call, session_id: A, hook_event_name: 'PreToolUse' }).stdout;
    repo.stop(B);
    const [, hint = ''] = /(git handoff take -- \S+)\\?"/.exec(edit()) ?? [];
    expect(hint).toContain('src/two.txt');
    expect(repo.run('sh', ['-c', hint], { session: A }).status).toBe(0);
    expect(edit()).toBe('');
  });

  it('takes everything that a session has claimed in a folder, and nothing else', () => {
    repo.write(B, 'src/two.txt', 'by B\n');
    repo.write(B, 'src/deep/er.txt', 'by B\n');
    repo.write(B, 'srcx.txt', 'by B\n');
    put('src/hand.txt', 'by hand\n');
    expect(take(['src'], A).stdout.split('\n').filter(Boolean)).toHaveLength(2);
    expect(repo.whose(A)).toEqual({
      'src/deep/er.txt': `mine ${A}`,
      'src/two.txt': `mine ${A}`,
      'srcx.txt': `other ${B}`,
      'src/hand.txt': 'nobody',
    });
  });

  it("takes what an ended session left, and what is nobody's", () => {
    repo.write(B, 'src/two.txt', 'by B\n');
    put('hand.txt', 'by hand\n');
    repo.end(B);
    expect(take(['src/two.txt', 'hand.txt'], A).stdout).toBe(
      'took src/two.txt from claude bbbbbbbb\ntook hand.txt, which belonged to no session\n',
    );
    expect(repo.whose(A)).toEqual({ 'src/two.txt': `mine ${A}`, 'hand.txt': `mine ${A}` });
    expect(repo.ledger(A).at(-1)).toMatchObject({ t: 'news', to: B });
    const claim = repo.ledger(A).find(({ path, t }) => t === 'claim' && path === 'hand.txt');
    expect(claim).toMatchObject({ base: null, before: null, evidence: 'explicit' });
    // To separate hunks, the contents are needed. No commit has them, so they are in our store.
    const oid = repo.git(['hash-object', 'hand.txt']);
    const store = { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repo.path, '.git/handoff/objects') };
    expect(repo.git(['cat-file', '-p', oid], { env: store })).toBe('by hand');
  });

  it('succeeds for what the taker already owns', () => {
    repo.write(A, 'src/one.txt', 'by A\n');
    const before = ledgers();
    expect(take(['src/one.txt'], A)).toMatchObject({
      status: 0,
      stdout: 'src/one.txt is yours already\n',
    });
    expect(ledgers()).toEqual(before);
  });

  it('takes a deletion', () => {
    const path = join(repo.path, 'gone.txt');
    rmSync(path);
    const state = { mode: '100644', oid: repo.git(['rev-parse', 'HEAD:gone.txt']) };
    const claim = { t: 'claim', path: 'gone.txt', base: state, before: state, after: null };
    repo.note(B, { ...claim, evidence: 'explicit', weak: false, at: Date.now() });
    expect(take(['gone.txt'], A).status).toBe(0);
    expect(repo.whose(A)).toEqual({ 'gone.txt': `mine ${A}` });
  });

  it('lets a person take: the claims end, and the session is told', () => {
    repo.write(B, 'src/two.txt', 'by B\n');
    expect(take(['src/two.txt']).stdout).toBe('src/two.txt no longer belongs to claude bbbbbbbb\n');
    expect(repo.whose(B)).toEqual({ 'src/two.txt': 'nobody' });
    const end = repo.ledger(B).at(-2);
    expect(end).toMatchObject({ t: 'end', why: 'taken' });
    expect(end?.['by']).toMatch(/^person-[0-9a-f]{12}$/);
    expect(newsOf(B)).toContain('A person took src/two.txt');
    expect(take(['src/two.txt']).stdout).toBe('src/two.txt belongs to no session\n');
  });

  it('takes hostile names', () => {
    const names = [
      'new\nline.txt',
      '\u001b[31mred.txt',
      '-dash.txt',
      `quo'te".txt`,
      '*.txt',
      'back\\slash.txt',
    ];
    for (const name of names) repo.write(B, name, 'x\n');
    const done = take(names, A);
    expect(done.status, done.stderr).toBe(0);
    expect(done.stdout).not.toContain('\u001b');
    expect(done.stdout.split('\n').filter(Boolean)).toHaveLength(names.length);
    expect(new Set(Object.values(repo.whose(A)))).toEqual(new Set([`mine ${A}`]));
  });

  it('takes a name that is not UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from(`${repo.path}/caf`), Buffer.from([0xe9])]);
    writeFileSync(bytes, 'x\n');
    const done = repo.run('sh', ['-c', `git handoff take -- "$(printf 'caf\\351')"`], { session: A });
    expect(done.status, done.stderr).toBe(0);
    expect(repo.whose(A)).toEqual({ 'caf\ufffd': `mine ${A}` });
  });

  it('takes either all paths or none', () => {
    repo.write(B, 'src/two.txt', 'by B\n');
    repo.stop(B);
    const before = ledgers();
    const done = take(['src/two.txt', 'src/one.txt'], A);
    expect(done).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `error: src/one.txt has no uncommitted change\nhint: git -C ${repo.path} handoff status\n`,
    });
    expect(ledgers()).toEqual(before);
  });

  it.each([
    ['a topic and paths', ['auth-refresh', '--', 'a.txt']],
    ['two topics', ['auth-refresh', 'token-refresh']],
    ['an empty path', ['--', '']],
    ['a path outside', ['--', '/etc/passwd']],
    ['the inside of .git', ['--', '.git/config']],
    ['--expect', ['--expect', 'none', '--', 'a.txt']],
    ['nothing', []],
  ])('refuses %s', (_, words) => {
    const done = repo.handoff(['take', ...words], { session: A });
    expect(done.status, done.stdout).toBe(2);
    expect(done.stderr).toMatch(/^error: .+\nhint: git (?:-C \S+ )?handoff /);
  });

  it('refuses a session that is not on record, and a path of another repository', () => {
    put('hand.txt', 'x\n');
    const done = take(['hand.txt'], C);
    expect(done.status).toBe(1);
    expect(done.stderr).toContain('session cccccccc is not on record here');
    const inner = join(repo.path, 'inner');
    mkdirSync(inner);
    repo.git(['init', '-q', inner]);
    writeFileSync(join(inner, 'x.txt'), 'x\n');
    const other = take(['inner/x.txt'], A);
    expect(other.status).toBe(2);
    expect(other.stderr).toContain(`hint: git -C ${inner} handoff status`);
  });

  it('answers --json', () => {
    repo.write(B, 'src/two.txt', 'by B\n');
    const words = ['take', '--json', '--', 'two.txt'];
    repo.stop(B);
    const done = repo.handoff(words, { session: A, cwd: join(repo.path, 'src') });
    const { items } = JSON.parse(done.stdout) as Json;
    expect(items).toEqual([{ path: 'src/two.txt', worktree: repo.path, from: [B], to: A, taken: true }]);
  });

  it('still takes topics', () => {
    repo.ok(['write', 'auth-refresh', '-m', 'x'], { session: B });
    repo.stop(B);
    expect(repo.ok(['take', 'auth-refresh'], { session: A })).toContain('took main/auth-refresh from');
  });
});

describe('take in another worktree', () => {
  it("uses that worktree's ledger and records the taker there, so that nobody is alone there any more", () => {
    const linked = repo.worktree('dev');
    repo.begin(A);
    repo.begin(B, linked);
    writeFileSync(join(linked, 'src/one.txt'), 'alone\n');
    writeFileSync(join(linked, 'src/two.txt'), 'alone too\n');
    const done = take([join(linked, 'src/one.txt')], A, linked);
    expect(done.stdout).toBe(`took ${linked}/src/one.txt from claude bbbbbbbb\n`);
    expect(repo.whose(A, { cwd: linked })).toEqual({
      'src/one.txt': `mine ${A}`,
      'src/two.txt': `other ${B}`,
    });
    expect(newsOf(B, linked)).toContain('claude aaaaaaaa took src/one.txt');
  });

  it('lets a person take from a lone session, for good', async () => {
    const payload = { session_id: A, hook_event_name: 'SessionStart', source: 'startup', cwd: repo.path };
    const start = `printf %s '${JSON.stringify(payload)}' | git-handoff guard --client claude >/dev/null`;
    const client = repo.start('sh', ['-c', `${start}\necho ready\nexec sleep 30`]);
    await new Promise((ready) => client.stdout?.once('data', ready));
    try {
      put('src/one.txt', 'by hand\n');
      expect(repo.whose()).toEqual({ 'src/one.txt': `other ${A}` });
      expect(take(['src/one.txt']).stdout).toBe('src/one.txt no longer belongs to claude aaaaaaaa\n');
      expect(repo.whose()).toEqual({ 'src/one.txt': 'nobody' });
      repo.begin(B);
      expect(repo.whose(B)).toEqual({ 'src/one.txt': 'nobody' });
    } finally {
      client.kill();
    }
  });
});

describe('take where there never was a session', () => {
  it('says what to type', () => {
    const fresh = new TestRepository();
    try {
      writeFileSync(join(fresh.path, 'a.txt'), 'x\n');
      const done = fresh.handoff(['take', '--', 'a.txt']);
      expect(done.status).toBe(1);
      expect(done.stderr).toMatch(/hint: git -C \S+ handoff init/);
    } finally {
      fresh.remove();
    }
  });
});
