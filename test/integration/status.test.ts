import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld } from '../support/sharing-world.ts';
import { TestRepository } from '../support/repository.ts';

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

describe('git handoff status', () => {
  it('says whose each dirty path is, to both sessions and to a person', () => {
    put('before.txt', 'dirty before any session began\n');
    both();
    repo.write(A, 'src/one.txt', 'by A\n');
    repo.write(B, 'src/two.txt', 'by B\n');
    const nobodys = { 'before.txt': 'nobody' };
    expect(repo.whose(A)).toEqual({ 'src/one.txt': `mine ${A}`, 'src/two.txt': `other ${B}`, ...nobodys });
    expect(repo.whose(B)).toEqual({ 'src/one.txt': `other ${A}`, 'src/two.txt': `mine ${B}`, ...nobodys });
    expect(repo.whose()).toEqual({
      'src/one.txt': `other ${A}`,
      'src/two.txt': `other ${B}`,
      ...nobodys,
    });
  });

  it('shows the reader’s own changes first, aligned, and the next command', () => {
    both();
    repo.write(B, 'a-new.txt', 'by B\n');
    repo.write(A, 'src/one.txt', 'by A\n');
    repo.git(['add', 'src/one.txt']);
    expect(repo.ok(['status'], { session: A })).toBe(
      [
        'Yours (claude aaaaaaaa):',
        '  modified  just now  staged  src/one.txt',
        '',
        'Of claude bbbbbbbb (live):',
        '  added     just now  -       a-new.txt',
        '',
        "To commit only what is yours: git handoff commit -m '<message>'",
      ].join('\n'),
    );
  });

  it('names paths relative to where the command runs', () => {
    both();
    repo.write(A, 'src/one.txt', 'by A\n');
    repo.write(B, 'top.txt', 'by B\n');
    const cwd = join(repo.path, 'src');
    const text = repo.ok(['status'], { session: A, cwd });
    expect(text).toMatch(/ one\.txt\n/);
    expect(text).toMatch(/ \.\.\/top\.txt\n/);
    const some = repo.json(['status', '.'], { session: A, cwd });
    expect(some.items.map(({ path }) => path)).toEqual(['src/one.txt']);
    expect(some['prefix']).toBe('src/');
  });

  it('calls a path that two live sessions have changed contended', () => {
    both();
    repo.git(['config', 'handoff.contention', 'warn']);
    repo.write(A, 'src/one.txt', 'by A\n');
    repo.write(B, 'src/one.txt', 'by A and B\n');
    const [item] = repo.json(['status'], { session: B }).items;
    expect(item).toMatchObject({ state: 'contended', owner: null, owners: [B, A] });
    expect(repo.ok(['status'], { session: B })).toContain('you and claude aaaaaaaa');
  });

  it('says "maybe" for a change that only happened while a command ran', () => {
    both();
    put('src/one.txt', 'somebody\n');
    const state = { mode: '100644', oid: null };
    const claim = { t: 'claim', path: 'src/one.txt', base: state, before: state, after: state };
    repo.note(B, { ...claim, evidence: 'window', weak: true, at: Date.now() });
    expect(repo.json(['status'], { session: A }).items).toMatchObject([
      { state: 'other', owner: B, weak: true, evidence: 'window' },
    ]);
    expect(repo.ok(['status'], { session: A })).toContain('maybe, around a command');
  });

  it('knows whose changes the running command, of which it is a part, has made', () => {
    both();
    repo.write(A, 'src/one.txt', 'by A\n');
    repo.write(B, 'src/two.txt', 'by B\n');
    const { run } = repo.bash(B, 'echo B >src/two.txt; echo B >new.txt; git handoff status --json');
    const { items } = JSON.parse(run?.stdout ?? '{}') as { items: Record<string, unknown>[] };
    expect(items.map(({ path, owners }) => [path, owners])).toEqual([
      ['new.txt', [B]],
      ['src/two.txt', [B]],
      ['src/one.txt', [A]],
    ]);
  });

  it('lists separately what an ended session left', () => {
    both();
    repo.write(B, 'src/two.txt', 'by B\n');
    repo.end(B);
    expect(repo.whose(A)).toEqual({ 'src/two.txt': `left ${B}` });
    expect(repo.ok(['status'], { session: A })).toContain('Left by claude bbbbbbbb (ended):');
  });

  it('shows a lone session as the owner of what changed since it began, and nothing else', () => {
    put('before.txt', 'dirty before\n');
    put('both.txt', 'dirty before\n');
    repo.begin(A);
    put('src/one.txt', 'changed\n');
    put('both.txt', 'dirty before, and changed since\n');
    rmSync(join(repo.path, 'gone.txt'));
    expect(repo.whose(A)).toEqual({
      'src/one.txt': `mine ${A}`,
      'both.txt': `mine ${A}`,
      'gone.txt': `mine ${A}`,
      'before.txt': 'nobody',
    });
    const [item] = repo.json(['status'], { session: A }).items;
    expect(item).toMatchObject({ evidence: 'since-start' });
  });

  it('distinguishes kinds of changes', () => {
    both();
    put('src/one.txt', 'x\n');
    put('new.txt', 'x\n');
    rmSync(join(repo.path, 'gone.txt'));
    chmodSync(join(repo.path, 'src/two.txt'), 0o755);
    rmSync(join(repo.path, 'a.txt'));
    symlinkSync('new.txt', join(repo.path, 'a.txt'));
    const kinds = repo.json(['status']).items.map(({ path, change, staged }) => [path, change, staged]);
    expect(kinds).toEqual([
      ['a.txt', 'type-changed', false],
      ['gone.txt', 'deleted', false],
      ['new.txt', 'added', false],
      ['src/one.txt', 'modified', false],
      ['src/two.txt', 'mode', false],
    ]);
  });

  it('does not call a file new that was only removed from the index', () => {
    repo.git(['rm', '-q', '--cached', 'gone.txt']);
    const { items } = repo.json(['status']);
    expect(items).toMatchObject([{ path: 'gone.txt', change: 'deleted', staged: true }]);
  });

  it('ends claims for good on paths that are clean again', () => {
    both();
    repo.write(B, 'src/two.txt', 'by B\n');
    repo.git(['checkout', '-q', '--', 'src/two.txt']);
    expect(repo.ok(['status'], { session: A })).toBe('nothing to commit, working tree clean');
    expect(repo.ledger(B).at(-1)).toMatchObject({ t: 'end', path: 'src/two.txt', why: 'clean' });
    put('src/two.txt', 'by hand\n');
    expect(repo.whose(A)).toEqual({ 'src/two.txt': 'nobody' });
  });

  it('prints hostile names on one line, quoted for a shell', () => {
    both();
    for (const name of ['new\nline.txt', '\u001b[31mred.txt', '-dash.txt', `quo'te".txt`]) {
      repo.write(A, name, 'x\n');
    }
    const bytes = Buffer.concat([Buffer.from(`${repo.path}/caf`), Buffer.from([0xe9])]);
    writeFileSync(bytes, 'x\n');
    const text = repo.ok(['status'], { session: A });
    expect(text.split('\n').filter((line) => line.startsWith('  '))).toHaveLength(5);
    expect(text).not.toContain('\u001b');
    expect(text).toContain(`'quo'\\''te".txt'`);
    expect(text).toContain(`$'new\\U0000000aline.txt'`);
    expect(Object.keys(repo.whose(A))).toContain('caf\ufffd');
  });

  it('looks at one worktree at a time', () => {
    const linked = repo.worktree('dev');
    repo.begin(A, linked);
    repo.begin(B, linked);
    repo.write(A, 'src/one.txt', 'by A\n', linked);
    expect(repo.whose(A)).toEqual({});
    expect(repo.whose(A, { cwd: linked })).toEqual({ 'src/one.txt': `mine ${A}` });
    const elsewhere = repo.handoff(['status', '--', join(linked, 'src')]);
    expect(elsewhere.status).toBe(2);
    expect(elsewhere.stderr).toContain(`hint: git -C ${linked} handoff status`);
  });

  it('answers in an unborn repository, and in one without init', () => {
    const fresh = new TestRepository({ head: 'unborn' });
    try {
      writeFileSync(join(fresh.path, 'x.txt'), 'x\n');
      expect(fresh.json(['status']).items).toMatchObject([{ path: 'x.txt', state: 'nobody' }]);
      expect(fresh.handoff(['status']).stderr).toContain('git handoff init');
    } finally {
      fresh.remove();
    }
  });

  it('needs a working tree', () => {
    const bare = new TestRepository({ bare: true });
    try {
      const done = bare.handoff(['status']);
      expect(done.status).toBe(7);
      expect(done.stderr).toContain('hint: git worktree list');
      expect(repo.handoff(['status', '--', '/etc']).status).toBe(2);
      mkdirSync(join(repo.path, 'empty'));
      expect(repo.ok(['status', '--', 'empty'])).toContain('nothing to commit');
    } finally {
      bare.remove();
    }
  });
});

describe('git handoff sessions', () => {
  it('counts what each session has not committed, in its own worktree', () => {
    const linked = repo.worktree('dev');
    both();
    repo.begin('cccccccc-3333', linked);
    for (const n of [1, 2, 3, 4, 5, 6]) repo.write(A, `f${n}.txt`, 'x\n');
    repo.write(B, 'src/two.txt', 'by B\n');
    writeFileSync(join(linked, 'src/one.txt'), 'alone\n');
    const { items } = repo.json(['sessions']);
    const of = (session: string) => items.find((item) => item['session'] === session)?.['uncommitted'];
    expect(of(A)).toHaveLength(6);
    expect(of(B)).toEqual(['src/two.txt']);
    expect(of('cccccccc-3333')).toEqual(['src/one.txt']);
    const text = repo.ok(['sessions']);
    expect(text).toContain('6 uncommitted: f1.txt f2.txt f3.txt f4.txt f5.txt …');
    repo.git(['add', 'src/two.txt']);
    repo.git(['-c', 'core.hooksPath=/dev/null', 'commit', '-qm', 'two']);
    expect(repo.json(['sessions']).items.find((item) => item['session'] === B)?.['uncommitted']).toEqual([]);
  });
});
