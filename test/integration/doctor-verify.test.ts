import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { anyText } from '../support/any-text.ts';
import { type RepositoryOptions, TestRepository } from '../support/repository.ts';

const [A, B] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];
const REF = 'refs/handoffs/main/auth-refresh';
let repo: TestRepository;

function begin(options: RepositoryOptions = {}): void {
  repo = new TestRepository(options);
  repo.ok(['write', 'auth-refresh', '-m', 'first'], { session: A });
  repo.ok(['take', 'auth-refresh'], { session: B });
  repo.ok(['write', 'auth-refresh', '-m', 'second'], { session: B });
}
afterEach(() => repo.remove());

const found = (check: string, cwd = repo.path) =>
  repo.json(['doctor', '--verify'], { cwd }).items.filter((item) => item['check'] === check);
const details = (check: string) => found(check).map((item) => String(item['detail']));
const oid = (name: string) => repo.git(['rev-parse', name]);
const file = (name: string) => {
  const id = oid(name);
  return join(repo.path, '.git', 'objects', id.slice(0, 2), id.slice(2));
};

function replace(path: string, bytes: Uint8Array): void {
  chmodSync(path, 0o644);
  writeFileSync(path, bytes);
}

/** An object that git reads without a word: whole, but not what its name says. */
const disguised = (type: string, content: string) =>
  deflateSync(Buffer.from(`${type} ${Buffer.byteLength(content)}\0${content}`));

describe('every handoff can be read', () => {
  beforeEach(() => begin());

  it('when nothing is wrong', () => {
    expect(details('objects')).toEqual(['3 commits of handoffs, all readable']);
    expect(repo.handoff(['doctor', '--verify']).status).toBe(0);
  });

  it.each([
    ['the note', `${REF}:handoff.md`, 'the handoff.md of commit'],
    ['the state', `${REF}~1:state.json`, 'the state.json of commit'],
    ['the tree', `${REF}^{tree}`, 'the tree of commit'],
    ['the commit', REF, 'commit'],
    ['a former commit', `${REF}~2`, 'commit'],
  ])('or %s is named that is missing, torn or another', (_what, name, words) => {
    const [path, id] = [file(name), oid(name)];
    const whole = readFileSync(path);
    for (const damage of [
      () => rmSync(path),
      () => replace(path, whole.subarray(0, whole.length - 4)),
      () => replace(path, disguised('blob', 'something else')),
    ]) {
      damage();
      const { status, stdout } = repo.handoff(['doctor']);
      expect(status, stdout).toBe(1);
      const told = stdout.split('\n').filter((line) => /^problem +objects/.test(line));
      expect(told.length, stdout).toBeGreaterThan(0);
      expect(told[0]).toContain(`main/auth-refresh: ${words}`);
      expect(told[0]).toContain(id);
      replaceWith(path, whole);
    }
    expect(repo.handoff(['doctor']).status).toBe(0);
  });

  function replaceWith(path: string, bytes: Buffer): void {
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    writeFileSync(path, bytes);
  }

  it('or the oldest of many versions is named', () => {
    const VERSIONS = 200;
    const message = repo.git(['log', '-1', '--format=%B', REF]);
    const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
    const commits = Array.from({ length: VERSIONS }, (_, n) =>
      [
        `commit ${REF}\nmark :${n + 1}\ncommitter B <b@example.com> ${1_700_000_000 + n} +0000\n`,
        data(message),
        `from ${n === 0 ? oid(REF) : `:${n}`}\n`,
        `M 100644 inline handoff.md\n${data(`version ${n}\n`)}\n`,
      ].join(''),
    );
    const kept = `reset ${REF.replace('handoffs', 'handoffs-local/kept')}\nfrom :${VERSIONS}\n\n`;
    repo.git(['fast-import', '--quiet'], { input: commits.join('') + kept });
    expect(details('objects')).toEqual([`${VERSIONS + 3} commits of handoffs, all readable`]);
    const note = `${REF}~${VERSIONS + 2}:handoff.md`;
    const blob = oid(note);
    rmSync(file(note));
    expect(details('objects')).toEqual([expect.stringContaining(`(${blob}) is missing or unreadable`)]);
  });

  it('and of many broken ones only some are listed', () => {
    for (let n = 0; n < 22; n++) repo.ok(['write', `broken-${n}`, '-m', `note ${n}`], { session: A });
    for (let n = 0; n < 22; n++) rmSync(file(`refs/handoffs/main/broken-${n}:handoff.md`));
    expect(details('objects')).toHaveLength(21);
    expect(details('objects').at(-1)).toBe('and 2 more');
  });
});

describe('--verify', () => {
  it('finds nothing where both read the same, loose and packed, for any note', () => {
    begin();
    const notes = fc.sample(fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 200 }), anyText(40)), {
      numRuns: 12,
      seed: 7,
    });
    const given = new Map<string, Buffer>();
    for (const [n, note] of notes.entries()) {
      const bytes = typeof note === 'string' ? Buffer.from(note) : Buffer.from(note);
      const done = repo.handoff(['write', `any-${n}`], { session: A, input: bytes });
      if (done.status === 0) given.set(`any-${n}`, bytes);
    }
    expect(given.size).toBeGreaterThan(8);
    for (const [topic, bytes] of given) {
      const read = repo.run('git', ['cat-file', 'blob', `refs/handoffs/main/${topic}:handoff.md`]).bytes;
      expect(read.equals(bytes), topic).toBe(true);
    }
    for (const words of [
      ['pack-refs', '--all'],
      ['gc', '-q'],
      ['repack', '-adfq'],
    ]) {
      const what = `isomorphic-git reads what git reads: ${given.size + 1} handoffs, ${given.size + 3} commits`;
      expect(details('verify')).toEqual([what]);
      repo.git(words);
    }
    expect(repo.handoff(['doctor']).stdout).not.toContain('verify');
  });

  it('leaves to the check of the objects what git itself would show wrongly', () => {
    begin();
    const name = `${REF}~1:handoff.md`;
    const content = repo.run('git', ['cat-file', 'blob', name]).stdout;
    // One byte; git shows it as if it were the note.
    replace(file(name), disguised('blob', content.replace('first', 'First')));
    expect(repo.run('git', ['cat-file', 'blob', name]).stdout).toContain('First');
    expect(repo.handoff(['doctor', '--verify']).status).toBe(1);
    expect(details('objects')[0]).toContain('is damaged');
  });

  it('finds an object that only git can read', () => {
    begin();
    const name = `${REF}:handoff.md`;
    // Its header is padded: git counts it as loose garbage or reads it, the other one must say so.
    const other = join(repo.root, 'elsewhere');
    repo.git(['clone', '-q', '--mirror', repo.path, other], { cwd: repo.root });
    const path = file(name);
    rmSync(path);
    const target = join(other, 'objects');
    repo.git(['unpack-objects', '-q'], {
      cwd: other,
      input: repo.run('git', ['pack-objects', '--stdout', '--all', '-q'], { cwd: other }).bytes,
    });
    mkdirSync(join(repo.path, '.git', 'objects', 'info'), { recursive: true });
    writeFileSync(join(repo.path, '.git', 'objects', 'info', 'alternates'), `${target}\n`);
    expect(details('verify')).toEqual([
      'isomorphic-git cannot read this repository: it does not support alternates, where objects are borrowed',
    ]);
    // Read without knowing of them it misses the note.
    rmSync(join(repo.path, '.git', 'objects', 'info', 'alternates'));
    const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: target };
    const done = repo.handoff(['doctor', '--verify'], { env });
    expect(done.status).toBe(1);
    expect(done.stdout).toMatch(
      /^problem +verify +main\/auth-refresh: isomorphic-git cannot read handoff\.md/m,
    );
  });

  it('finds a ref that it reads otherwise', () => {
    begin();
    repo.git(['pack-refs', '--all']);
    const packed = join(repo.path, '.git', 'packed-refs');
    // git takes the last of two lines of a file that says it is not sorted, isomorphic-git whichever it likes.
    const text = readFileSync(packed, 'utf8').replace(/^# .*\n/, '');
    const line = new RegExp(`^[0-9a-f]{40} ${REF}$`, 'm').exec(text)?.[0] ?? '';
    writeFileSync(packed, `${line.replace(/^[0-9a-f]{40}/, oid(`${REF}~1`))}\n${text}`);
    const told = details('verify');
    expect(told[0]).toMatch(/isomorphic-git finds [0-9a-f]{40} at refs\/handoffs\/main\/auth-refresh, git/);
  });

  it.each<[string, RepositoryOptions, (() => void) | undefined, string]>([
    ['sha256', { objectFormat: 'sha256' }, undefined, 'it does not support sha256'],
    [
      'reftable',
      {},
      () => mkdirSync(join(repo.path, '.git', 'reftable')),
      'it does not support the reftable backend',
    ],
  ])('says that it cannot read %s', (_what, options, prepare, why) => {
    begin(options);
    prepare?.();
    expect(found('verify')).toMatchObject([
      { status: 'warning', detail: `isomorphic-git cannot read this repository: ${why}` },
    ]);
    expect(repo.handoff(['doctor', '--verify']).status).toBe(0);
  });

  it('reads a linked worktree’s through the main folder, and says so', () => {
    begin();
    const path = repo.worktree('other');
    const [item] = found('verify', path);
    expect(item).toMatchObject({ status: 'ok' });
    expect(item?.['detail']).toMatch(
      /^isomorphic-git reads what git reads: 1 handoff, .*does not support linked worktrees$/,
    );
  });
});
