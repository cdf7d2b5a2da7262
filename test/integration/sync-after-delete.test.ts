import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

/** A handoff that was deleted here but is still on a remote: a sync brings back no ref and no object of it. */

const A = 'aaaaaaaa-1111';
let repo: TestRepository;
let clone: string;
let tip: string;

beforeEach(() => {
  repo = new TestRepository();
  const server = join(repo.root, 'origin.git');
  clone = join(repo.root, 'clone');
  repo.git(['init', '-q', '--bare', server]);
  repo.git(['remote', 'add', 'origin', server]);
  tip = repo.noted(['write', 'release-plan', '-m', 'zebra-4711'], { session: A });
  repo.git(['clone', '-q', server, clone]);
  repo.ok(['sync']);
  repo.ok(['sync'], { cwd: clone });
  repo.ok(['delete', 'release-plan', '--yes', '--take'], { cwd: clone });
  repo.git(['gc', '-q', '--prune=now'], { cwd: clone });
});
afterEach(() => repo.remove());

const isThere = (oid: string) => repo.run('git', ['cat-file', '-e', oid], { cwd: clone }).status === 0;
const FOLDERS = ['refs/handoffs', 'refs/handoffs-local', 'refs/handoffs-remote'];
const refs = () => repo.git(['for-each-ref', '--format=%(refname)', ...FOLDERS], { cwd: clone });
const MEMORY = 'refs/handoffs-local/pruned/main/release-plan';

describe('a sync after a deletion', () => {
  it('does not fetch what was removed', () => {
    expect(repo.json(['sync', '--dry-run'], { cwd: clone })).toMatchObject({ items: [] });
    repo.ok(['sync'], { cwd: clone });
    expect(isThere(tip)).toBe(false);
    expect(refs()).toBe(MEMORY);
  });

  it('does not fetch it among many others, either', () => {
    for (let one = 0; one < 201; one++) {
      repo.git(['update-ref', `refs/handoffs/main/other-topic-${one}`, tip]);
    }
    repo.git([
      'push',
      '-q',
      '--no-verify',
      'origin',
      'refs/handoffs/main/other-topic-*:refs/handoffs/main/other-topic-*',
    ]);
    repo.handoff(['sync', '--fetch'], { cwd: clone });
    expect(refs()).not.toContain('refs/handoffs-remote/origin/main/release-plan');
    expect(refs()).toContain('refs/handoffs-remote/origin/main/other-topic-200');
  });

  it('sets a new note of the same name aside', () => {
    repo.ok(['write', 'release-plan', '-m', 'clean'], { session: A, cwd: clone });
    expect(repo.json(['sync'], { cwd: clone })).toMatchObject({
      items: [{ action: 'set-aside', lost: 1 }],
    });
    expect(repo.ok(['show', 'release-plan', '--lost=1'], { cwd: clone })).toBe('clean');
  });

  it('lets a closed note of the same name be deleted again', () => {
    const remove = () => repo.ok(['delete', '--closed', '--yes'], { session: A });
    repo.ok(['close', 'release-plan'], { session: A });
    remove();
    repo.ok(['write', 'release-plan', '-m', 'clean'], { session: A });
    repo.ok(['close', 'release-plan'], { session: A });
    expect(remove()).toMatch(/^deleted {2}main\/release-plan /);
    expect(repo.git(['for-each-ref', 'refs/handoffs'])).toBe('');
  });

  it('says so if it comes back because somebody has continued it', () => {
    repo.ok(['write', 'release-plan', '-m', 'more'], { session: A });
    repo.ok(['sync', '--push']);
    const said = repo.ok(['sync'], { cwd: clone });
    expect(said).toContain('it was deleted here, and somebody wrote it again at the remote');
    const command = /to delete it again: git handoff (.*)$/m.exec(said)?.[1] ?? '';
    repo.ok([...command.split(' '), '--yes', '--take'], { cwd: clone });
    repo.ok(['sync'], { cwd: clone });
    expect(refs()).toBe(MEMORY);
  });
});
