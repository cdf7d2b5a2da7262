import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

/** What is left of a remote that `git remote` renamed or removed: `doctor` tells. */

let repo: TestRepository;
beforeEach(() => {
  repo = new TestRepository();
  repo.git(['remote', 'add', 'team/up', repo.root]);
});
afterEach(() => repo.remove());

const remotes = (words: string[] = []) =>
  repo.json(['doctor', ...words]).items.filter(({ check }) => check === 'remotes');

function track(topic: string, oid: string): string {
  const ref = `refs/handoffs-remote/team%2Fup/main/${topic}`;
  repo.git(['update-ref', ref, oid]);
  return ref;
}

describe('doctor and tracking refs', () => {
  it('says nothing of remotes that are configured', () => {
    track('one-topic', repo.noted(['write', 'one-topic', '-m', 'x'], { session: 'aaaaaaaa-1' }));
    expect(remotes()).toEqual([]);
  });

  it('says how much is left, and the command that removes it', () => {
    const first = repo.noted(['write', 'one-topic', '-m', 'x'], { session: 'aaaaaaaa-1' });
    for (const topic of ['one-topic', 'only-there']) track(topic, first);
    repo.git(['remote', 'rename', 'team/up', 'upstream']);
    const [told] = remotes();
    expect(told?.['detail']).toBe(
      'what remote team/up showed is still here (the remote was removed or renamed): 2 refs',
    );
    expect(repo.run('sh', ['-c', told?.['hint'] as string]).status).toBe(0);
    expect(repo.refs('refs/handoffs-remote')).toEqual([]);
    expect(remotes()).toEqual([]);
  });
});
