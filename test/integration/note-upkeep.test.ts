import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Json, TestRepository } from '../support/repository.ts';

const [A, B] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];
const REF = 'refs/handoffs/main/auth-refresh';

let repo: TestRepository;
beforeEach(() => {
  repo = new TestRepository();
});
afterEach(() => repo.remove());

const oid = (ref = REF) => repo.git(['rev-parse', ref]);
const write = (text: string, session = A, topic = 'auth-refresh') =>
  repo.noted(['write', topic, '-m', text], { session });

/** Backdates the note's tip, and its ref under `kept`, as if it had been written that many days ago. */
function age(topic: string, days: number): void {
  const ref = `refs/handoffs/main/${topic}`;
  const [tree, parent, message] = ['%T', '%P', '%B'].map((format) =>
    repo.git(['log', '-1', `--format=${format}`, ref]),
  );
  const date = `@${Math.floor(Date.now() / 1000) - days * 86_400} +0000`;
  const parents = parent === '' ? [] : ['-p', parent ?? ''];
  const next = repo.git(['commit-tree', tree ?? '', ...parents], {
    input: `${message ?? ''}\n`,
    env: { GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date },
  });
  repo.git(['update-ref', ref, next]);
  repo.git(['update-ref', ref.replace('handoffs/', 'handoffs-local/kept/'), next]);
}

describe('diff', () => {
  it('shows what the last change of the text changed, ignoring takes and closes', () => {
    write('one\n\nsame');
    const second = write('two\n\nsame');
    repo.ok(['take', 'auth-refresh'], { session: B });
    repo.ok(['close', 'auth-refresh'], { session: B });
    const { stdout } = repo.handoff(['log', '-p', 'auth-refresh']);
    expect(stdout).toMatch(
      /^--- main\/auth-refresh {2}[0-9a-f]{12} {2}claude aaaaaaaa {2}.*\n\+\+\+ .*bbbbbbbb.*\n@@ /,
    );
    expect(stdout.split('\n').slice(3)).toEqual(['-one', '+two', ' ', ' same', '']);
    expect(repo.handoff(['log', '-p', 'auth-refresh', second]).stdout).toContain('the note is the same');
  });

  it('compares any two versions, by abbreviated object names', () => {
    const [one, two] = [write('one'), write('two')];
    write('three');
    expect(repo.handoff(['log', '-p', 'auth-refresh', one]).stdout).toMatch(/-one\n\+three\n$/);
    expect(repo.handoff(['log', '-p', 'auth-refresh', one.slice(0, 10), two]).stdout).toMatch(
      /-one\n\+two\n$/,
    );
    const none = repo.handoff(['log', '-p', 'auth-refresh', 'deadbeef']);
    expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('hint: git handoff log')]);
    expect(repo.handoff(['log', '-p', 'auth-refresh', 'HEAD~1']).status).toBe(2);
  });

  it('is the same in a subfolder, even with diff.relative', () => {
    repo.git(['config', 'diff.relative', 'true']);
    write('one');
    write('two');
    const cwd = join(repo.path, 'sub');
    mkdirSync(cwd);
    expect(repo.handoff(['log', '-p', 'auth-refresh'], { cwd }).stdout).toMatch(/-one\n\+two\n$/);
  });

  it('says which note cannot be read, rather than that there was nothing before', () => {
    const [one, two] = [write('one'), write('two')];
    const blob = repo.git(['rev-parse', `${one}:handoff.md`]);
    rmSync(join(repo.path, '.git', 'objects', blob.slice(0, 2), blob.slice(2)));
    for (const args of [[], [one], [one, two]]) {
      const { status, stderr } = repo.handoff(['log', '-p', 'auth-refresh', ...args]);
      expect([status, stderr]).toEqual([6, expect.stringContaining(`the note of ${one} cannot be read`)]);
    }
  });

  it('runs nothing that the repository names, and shows control characters as escapes', () => {
    const canary = join(repo.path, '.git', 'canary');
    repo.git(['config', 'diff.note.textconv', `touch ${canary}; cat`]);
    repo.git(['config', 'diff.note.command', `touch ${canary}`]);
    repo.git(['config', 'diff.external', `touch ${canary}`]);
    writeFileSync(join(repo.path, '.gitattributes'), '*.md diff=note -text\n');
    write('one');
    write('\u001b[2Jtwo');
    expect(repo.handoff(['log', '-p', 'auth-refresh']).stdout).toMatch(/-one\n\+\\u\{1b\}\[2Jtwo\n$/);
    expect(existsSync(canary)).toBe(false);
  });
});

describe('reopen', () => {
  it('opens a closed note again: for its owner, or with a recorded take for others', () => {
    write('one');
    repo.ok(['close', 'auth-refresh'], { session: A });
    const closed = oid();
    const refused = repo.handoff(['reopen', 'auth-refresh'], { session: B });
    expect([refused.status, oid()]).toEqual([3, closed]);
    expect(repo.ok(['reopen', 'auth-refresh'], { session: A })).toMatch(
      /^reopened main\/auth-refresh \([0-9a-f]{7}\)$/,
    );
    expect(repo.ok(['reopen', 'auth-refresh'], { session: A })).toBe('main/auth-refresh was open already');
    expect(repo.git(['show', `${REF}:handoff.md`])).toBe('one');
    repo.ok(['close', 'auth-refresh'], { session: A });
    repo.ok(['reopen', '--take', 'auth-refresh'], { session: B });
    expect(repo.git(['log', '-1', '--format=%(trailers:key=Handoff-Taken-From,valueonly)', REF]).trim()).toBe(
      A,
    );
  });

  it('changes nothing if the note is not as expected', () => {
    const first = write('one');
    repo.ok(['close', 'auth-refresh'], { session: A });
    expect(repo.handoff(['reopen', '--expect', first, 'auth-refresh'], { session: A }).status).toBe(4);
  });
});

describe('delete --closed', () => {
  const refs = () =>
    repo.git(['for-each-ref', '--format=%(refname)', 'refs/handoffs', 'refs/handoffs-local/kept']);
  const items = (args: string[]) =>
    (JSON.parse(repo.handoff(['delete', '--closed', '--json', ...args]).stdout) as Json).items.map(
      ({ topic, deleted }) => [topic, deleted],
    );

  beforeEach(() => {
    for (const topic of ['open-old', 'closed-old', 'closed-new']) write('x', A, topic);
    for (const topic of ['closed-old', 'closed-new']) repo.ok(['close', topic], { session: A });
    for (const topic of ['open-old', 'closed-old']) age(topic, 40);
  });

  it('lists closed notes of that age, and deletes nothing without --yes', () => {
    const before = refs();
    expect(items(['--older-than', '30d'])).toEqual([['closed-old', false]]);
    const { stdout } = repo.handoff(['delete', '--closed', '--older-than', '30d']);
    expect(stdout).toMatch(
      /^closed {2}main\/closed-old {2}claude aaaaaaaa .*\n\nNothing was deleted\. To delete them: git handoff delete --closed --older-than 30d --yes\n$/,
    );
    expect(refs()).toBe(before);
  });

  it('deletes them with --yes, and says how to get one back', () => {
    repo.ok(['ack', 'closed-old'], { session: B });
    const { stdout } = repo.handoff(['delete', '--closed', '--older-than', '30d', '--yes']);
    expect(repo.git(['for-each-ref', '--format=%(refname)'])).not.toContain('closed-old');
    expect(refs().split('\n')).toHaveLength(4);
    expect(repo.handoff(['doctor']).stdout).not.toContain('closed-old');
    const command = /for example: (git update-ref \S+ [0-9a-f]+)/.exec(stdout)?.[1] ?? '';
    repo.run('sh', ['-c', command]);
    expect(repo.ok(['show', 'closed-old', '--raw'])).toBe('x');
    expect(repo.handoff(['delete', '--closed', '--older-than', '30d']).status).toBe(0);
  });

  it('leaves notes that were moved by hand to doctor', () => {
    repo.git(['update-ref', '-d', 'refs/handoffs/main/closed-old']);
    expect(items(['--older-than', '30d', '--yes'])).toEqual([]);
    expect(refs()).toContain('refs/handoffs-local/kept/main/closed-old');
  });

  it('lists those of any age if no age is named', () => {
    const all = items([]).map(([topic]) => topic);
    expect(all).toContain('closed-old');
    expect(all.length).toBeGreaterThan(1);
  });

  it.each([
    ['delete'],
    ['delete', '--older-than', '1d'],
    ['delete', 'closed-old', '--closed'],
    ['delete', 'closed-old', '--older-than', '1d'],
    ['delete', '--closed', '--take'],
    ['delete', '--closed', '--older-than', 'long'],
    ['delete', '--closed', '--older-than', '-1d'],
  ])('takes no other words: %s %s %s %s', (...words) => {
    const run = repo.handoff([...words, '--yes']);
    expect([run.status, run.stderr]).toEqual([2, expect.stringContaining('hint: git handoff delete')]);
  });
});
