import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

/** What is left of a remote that `git remote` renamed or removed: `doctor` tells, and mends what costs nothing. */

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
    track('one-topic', repo.ok(['write', 'one-topic', '-m', 'x'], { session: 'aaaaaaaa-1' }));
    expect(remotes()).toEqual([]);
  });

  it('removes what stands here too, and keeps what only the remote had', () => {
    const first = repo.noted(['write', 'one-topic', '-m', 'x'], { session: 'aaaaaaaa-1' });
    const second = repo.noted(['write', 'one-topic', '-m', 'y'], { session: 'aaaaaaaa-1' });
    const tree = repo.git(['rev-parse', `${first}^{tree}`]);
    track('one-topic', first);
    const [there, behind] = [track('only-there', second), track('two-topic', second)];
    repo.ok(['write', 'two-topic', '-m', 'x'], { session: 'aaaaaaaa-1' });
    repo.git(['update-ref', behind, repo.git(['commit-tree', '-m', 'newer', '-p', first, tree])]);
    repo.git(['remote', 'rename', 'team/up', 'upstream']);
    const [some, others] = remotes();
    expect(some).toMatchObject({ status: 'warning', hint: 'git handoff doctor --fix' });
    expect(some?.['detail']).toContain('what remote team/up showed is still here');
    expect(others?.['detail']).toContain('2 handoffs with versions that are not here');
    expect(repo.refs('refs/handoffs-remote')).toHaveLength(3);
    expect(remotes(['--fix'])[0]).toMatchObject({ status: 'fixed' });
    expect(repo.refs('refs/handoffs-remote')).toEqual([there, behind]);
    const hint = others?.['hint'] as string;
    expect(repo.run('sh', ['-c', hint]).stdout.trim().split('\n')).toHaveLength(2);
    expect(remotes(['--fix'])).toHaveLength(1);
  });
});
