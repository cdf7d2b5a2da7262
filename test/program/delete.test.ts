import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { A, B, C, SharingWorld } from '../support/sharing-world.ts';
import { TestRepository } from '../support/repository.ts';

/** `git handoff delete` in one repository. */

const SECRET = 'zebra-4711-secret';
let repo: TestRepository;
afterEach(() => repo.remove());

/** Everything that any object of the repository holds. */
function allObjects(): string {
  return repo.run('git', ['cat-file', '--batch-all-objects', '--batch']).stdout;
}

const collect = () => repo.git(['gc', '-q', '--prune=now']);

/** A topic with a history, a refused text, an acknowledgement and a tracking ref, all of which hold the secret. */
function fullTopic(): string {
  repo.ok(['write', 'secret-topic', '-m', `${SECRET} one`], { session: A });
  repo.ok(['ack', 'secret-topic'], { session: B });
  const first = repo.noted(['write', 'secret-topic', '-m', `${SECRET} two`], { session: A });
  repo.git(['update-ref', '--create-reflog', 'refs/handoffs-remote/origin/main/secret-topic', first]);
  expect(repo.handoff(['write', 'secret-topic', '-m', `${SECRET} lost`], { session: B }).status).toBe(3);
  repo.ok(['write', 'other-topic', '-m', 'stays'], { session: A });
  return repo.noted(['write', 'secret-topic', '-m', 'nothing bad any more'], { session: A });
}

/** All that is left of the topic: refs, and files in the git folder that quote it, except `info/refs`, which git lets get stale. */
function traces(): string {
  const refs = repo.refs().filter((name) => name.includes('secret-topic'));
  const git = repo.git(['rev-parse', '--git-common-dir']);
  const logs = repo.run('grep', [
    '-rlaE',
    'secret-topic|zebra',
    git,
    '--exclude-dir=objects',
    '--exclude-dir=info',
  ]).stdout;
  return [...refs, logs].join('\n').trim();
}

describe('git handoff delete', () => {
  it('says what it cannot reach, before and after', () => {
    repo = new TestRepository();
    const tip = repo.noted(['write', 'secret-topic', '-m', SECRET], { session: A });
    const printed = repo.ok(['delete', 'secret-topic', '--yes', '--take']).replaceAll(tip, '<tip>');
    expect(printed).toMatchInlineSnapshot(`
      "removed  kept     <tip>  refs/handoffs-local/kept/main/secret-topic
      removed  handoff  <tip>  refs/handoffs/main/secret-topic

      Its text stays in this repository until git collects what nothing refers to: git gc --prune=now
      git does not collect a text that is also in another note, a commit or a reflog.
      A deletion does not reach clones and forks that fetched the note (each can push it again: delete it there, too),
      a server's logs, backups and packs, and files with a copy of it. Replace any secret that was in it."
    `);
  });

  it('lists what it would remove and removes nothing without --yes', () => {
    repo = new TestRepository();
    const tip = fullTopic();
    const before = repo.git(['for-each-ref']);
    const { stdout, status } = repo.handoff(['delete', 'secret-topic']);
    expect(status).toBe(0);
    expect(stdout).toContain('Nothing was removed.');
    for (const ref of repo.refs().filter((name) => name.includes('secret-topic')))
      expect(stdout).toContain(ref);
    expect(stdout).toContain(`git handoff delete main/secret-topic --yes --expect ${tip}`);
    expect(repo.git(['for-each-ref'])).toBe(before);
  });

  it.each([
    ['loose', () => undefined],
    ['packed', () => (repo.git(['pack-refs', '--all']), repo.git(['repack', '-q', '-a', '-d']))],
  ])('leaves no trace of a topic, and every other one, with %s refs', (_, prepare) => {
    repo = new TestRepository();
    fullTopic();
    prepare();
    expect(allObjects()).toContain(SECRET);
    const { items, command } = repo.json(['delete', 'secret-topic']);
    expect(items.map(({ kind }) => kind).sort()).toEqual(['ack', 'handoff', 'kept', 'lost', 'tracking']);
    const words = (command as string).split(' ').slice(2);
    expect(repo.json(words)).toMatchObject({ deleted: true });
    expect(traces()).toBe('');
    collect();
    expect(allObjects()).not.toContain(SECRET);
    expect(repo.ok(['show', 'other-topic', '--raw'])).toBe('stays');
    expect(repo.run('git', ['fsck', '--strict']).stdout).not.toMatch(/missing|broken|error/);
    expect(repo.ok(['show', 'secret-topic', '--lost'])).toBe('no text was kept for this topic');
  });

  it('works in a linked worktree and in a bare repository', () => {
    repo = new TestRepository();
    fullTopic();
    const cwd = repo.worktree('side');
    repo.ok(['delete', 'main/secret-topic', '--yes'], { cwd });
    expect(traces()).toBe('');
    repo.remove();
    repo = new TestRepository({ bare: true });
    repo.ok(['write', 'secret-topic', '-m', SECRET], { session: A });
    repo.ok(['delete', 'secret-topic', '--yes']);
    expect(traces()).toBe('');
    collect();
    expect(allObjects()).not.toContain(SECRET);
  });

  it('removes a topic whose tip cannot be read', () => {
    repo = new TestRepository();
    const tip = repo.noted(['write', 'secret-topic', '-m', SECRET], { session: A });
    rmSync(join(repo.path, '.git', 'objects', tip.slice(0, 2), tip.slice(2)));
    expect(repo.json(['delete', 'secret-topic', '--yes'])).toMatchObject({ deleted: true, owner: null });
    expect(traces()).toBe('');
    expect(repo.run('git', ['fsck']).status).toBe(0);
  });

  it('removes a topic of a branch whose name is shortened, or whose ref names no branch', () => {
    repo = new TestRepository();
    const branch = `feature/${'long'.repeat(50)}`;
    repo.git(['branch', branch]);
    const tip = repo.noted(['write', `${branch}/secret-topic`, '-m', SECRET], { session: A });
    repo.git(['update-ref', 'refs/handoffs/%zz/secret-topic', tip]);
    repo.git(['update-ref', 'refs/handoffs/%zz/Bad', tip]);
    repo.ok(['delete', `${branch}/secret-topic`, '--yes']);
    expect(repo.refs('refs/handoffs')).toEqual(['refs/handoffs/%zz/Bad', 'refs/handoffs/%zz/secret-topic']);
    for (const name of ['secret-topic', 'Bad']) {
      expect(repo.json(['delete', `refs/handoffs/%zz/${name}`, '--yes'])).toMatchObject({ branch: null });
    }
    expect(traces()).toBe('');
  });

  it('removes a symbolic ref and not the ref that it points to', () => {
    repo = new TestRepository({ objectFormat: 'sha256' });
    repo.ok(['write', 'secret-topic', '-m', SECRET], { session: A });
    const main = repo.ref('refs/heads/main');
    repo.git(['symbolic-ref', 'refs/handoffs/main/secret-topic', 'refs/heads/main']);
    expect(repo.json(['delete', 'secret-topic', '--yes', '--take'])).toMatchObject({ deleted: true });
    expect(repo.refs().filter((ref) => ref.includes('topic'))).toEqual([]);
    expect(repo.ref('refs/heads/main')).toBe(main);
    collect();
    expect(allObjects()).not.toContain(SECRET);
  });

  it('removes lost texts alone', () => {
    repo = new TestRepository();
    fullTopic();
    for (const ref of repo.refs().filter((name) => /(?:handoffs|kept)\/main\/secret-topic$/.test(name))) {
      repo.git(['update-ref', '-d', ref]);
    }
    repo.ok(['delete', 'secret-topic', '--yes']);
    expect(traces()).toBe('');
  });

  it('finds nothing of a topic that never existed', () => {
    repo = new TestRepository();
    repo.ok(['write', 'other-topic', '-m', 'x'], { session: A });
    for (const words of [
      ['delete', 'secret-topic'],
      ['delete', 'secret-topic', '--yes'],
    ]) {
      expect(repo.handoff(words)).toMatchObject({ status: 1 });
    }
    expect(repo.handoff(['delete', 'refs/handoffs/../heads/main', '--yes']).status).toBe(2);
    expect(repo.handoff(['delete', 'refs/handoffs/*/other-topic', '--yes']).status).toBe(2);
    expect(repo.ref('refs/handoffs/main/other-topic')).toBeDefined();
  });
});

describe('a deletion and others', () => {
  it('removes nothing when the note is not what was shown', () => {
    repo = new TestRepository();
    fullTopic();
    const { command } = repo.json(['delete', 'secret-topic']);
    const tip = repo.noted(['write', 'secret-topic', '-m', 'newer'], { session: A });
    const refused = repo.handoff((command as string).split(' ').slice(2));
    expect(refused).toMatchObject({ status: 4, stderr: expect.stringContaining(tip) as string });
    expect(repo.ref('refs/handoffs/main/secret-topic')).toBe(tip);
  });

  it('removes nothing when the note moves at that very moment', () => {
    repo = new TestRepository();
    fullTopic();
    const real = repo.run('sh', ['-c', 'command -v git']).stdout.trim();
    const folder = join(repo.root, 'bin');
    mkdirSync(folder);
    // This git puts another version on the public ref just before we delete the refs.
    const script = `#!/bin/sh
case " $* " in *" update-ref "*)
  ref=refs/handoffs/main/secret-topic
  '${real}' update-ref $ref "$('${real}' commit-tree -p $ref -m moved $ref^{tree})";;
esac
exec '${real}' "$@"
`;
    writeFileSync(join(folder, 'git'), script);
    chmodSync(join(folder, 'git'), 0o755);
    const before = repo.refs();
    const env = { PATH: `${folder}:${repo.env()['PATH']}` };
    expect(repo.handoff(['delete', 'secret-topic', '--yes'], { env })).toMatchObject({ status: 4 });
    expect(repo.refs()).toEqual(before);
    expect(repo.git(['log', '-1', '--format=%s', 'refs/handoffs/main/secret-topic'])).toBe('moved');
  });

  it('removes no other’s note for a session, and a live session’s for a person only with --take', () => {
    const world = new SharingWorld();
    repo = world;
    for (const session of [A, B, C]) world.begin(session);
    fullTopic();
    const hints = [
      { options: { session: B }, hint: 'show main/secret-topic' },
      { options: {}, hint: 'delete main/secret-topic --yes --take' },
    ];
    for (const { options, hint } of hints) {
      const refused = repo.handoff(['delete', 'secret-topic', '--yes'], options);
      expect(refused).toMatchObject({ status: 3, stderr: expect.stringContaining('aaaaaaaa') as string });
      expect(refused.stderr).toContain(`hint: git handoff ${hint}\n`);
    }
    expect(repo.json(['delete', 'secret-topic'])['command']).toContain(' --take');
    world.end(A);
    expect(repo.handoff(['delete', 'secret-topic', '--yes'], { session: B }).status).toBe(3);
    expect(repo.handoff(['delete', 'secret-topic', '--yes']).status).toBe(0);
    repo.ok(['write', 'next-topic', '-m', 'x'], { session: A });
    expect(repo.handoff(['delete', 'next-topic', '--yes', '--take'], { session: B }).status).toBe(3);
    repo.ok(['write', 'own-topic', '-m', 'x'], { session: A });
    expect(repo.handoff(['delete', 'own-topic', '--yes'], { session: A }).status).toBe(0);
    expect(readFileSync(join(repo.path, '.git/config'), 'utf8')).toContain('handoff');
  });
});
