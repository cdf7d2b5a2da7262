import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

const A = 'aaaaaaaa-1111';
let repo: TestRepository;

beforeEach(() => {
  repo = new TestRepository();
  repo.git(['config', 'user.name', 'Ann Example']);
  repo.git(['config', 'user.email', 'ann@example.org']);
  repo.ok(['write', 'rate-limit', '-m', '# Goal\n\nLimit the rate']);
});
afterEach(() => repo.remove());

const id = () => String(repo.json(['show', 'rate-limit'])['owner']);

describe('a note of a person', () => {
  it('is shown with the name that git knows, and in JSON with the id', () => {
    expect(repo.ok(['list'])).toMatch(/^main\/rate-limit +Ann Example +just now +Limit the rate$/);
    expect(repo.ok(['show'])).toMatch(/^main\/rate-limit {2}open {2}Ann Example {2}just now/);
    expect(repo.ok(['log', 'rate-limit'])).toMatch(/ Ann Example +create /);
    expect(repo.ok(['boot'])).toMatch(/^main\/rate-limit {2}Ann Example {2}just now/);
    expect(repo.json(['list']).items).toMatchObject([{ owner: id(), ownerName: 'Ann Example' }]);
    expect(id()).toMatch(/^person-[0-9a-f]{12}$/);
  });

  it('shows the person’s name to a session that may not write it', () => {
    const refused = repo.handoff(['write', 'rate-limit', '-m', 'x'], { session: A });
    expect(refused.stderr).toContain('error: main/rate-limit belongs to Ann Example; ');
  });

  it('is still shown with the name at that time after the name in git changed', () => {
    repo.git(['config', 'user.name', 'Ann Other']);
    expect(repo.ok(['list'])).toContain('Ann Example');
    repo.git(['config', 'user.email', 'bob@example.org']);
    expect(repo.ok(['list'])).toContain('Ann Example');
  });

  it('is shown as "a person" if its commit is not the owner’s own, and never steers the terminal', () => {
    const tree = repo.git(['rev-parse', 'refs/handoffs/main/rate-limit^{tree}']);
    const message = repo.git(['log', '-1', '--format=%B', 'refs/handoffs/main/rate-limit']);
    const commit = (name: string, email: string) => {
      const env = { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
      const oid = repo.run('git', ['commit-tree', tree, '-m', message], { env }).stdout.trim();
      for (const prefix of ['refs/handoffs/', 'refs/handoffs-local/kept/'])
        repo.git(['update-ref', `${prefix}main/rate-limit`, oid]);
    };
    commit('Mallory', 'mallory@example.org');
    expect(repo.ok(['list'])).toMatch(/^main\/rate-limit +a person /);
    expect(repo.ok(['list'])).not.toContain('Mallory');
    commit(`Ann\u001b[31m ${'x'.repeat(100)}`, 'ann@example.org');
    expect(repo.ok(['list'])).toMatch(/Ann\\u\{1b\}\[31m x+… /);
    expect(repo.ok(['list']).length).toBeLessThan(120);
  });
});

describe('a note of a session', () => {
  it('is shown with its client, and its id is still an argument', () => {
    repo.git(['config', 'handoff.enabled', 'true']);
    repo.guard({ session_id: A, hook_event_name: 'SessionStart', source: 'startup' });
    repo.ok(['write', 'auth-refresh', '-m', 'x'], { session: A });
    expect(repo.ok(['list'])).toMatch(/^main\/auth-refresh +claude aaaaaaaa /m);
    expect(repo.json(['show', 'auth-refresh'])).toMatchObject({
      owner: A,
      ownerName: null,
      client: 'claude',
    });
    for (const session of ['aaaaaaaa', A])
      expect(repo.handoff(['write', 'auth-refresh', '-m', 'y', '--session', session]).status).toBe(0);
  });
});
