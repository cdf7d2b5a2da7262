import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { A, B } from '../support/sharing-world.ts';
import { TestRepository } from '../support/repository.ts';

const BOTH = `Claude-Session-Id: ${A}\nClaude-Session-Id: ${B}`;
let repo: TestRepository;

/** Makes a commit with this message, without hooks. */
function commit(message: string, files: Readonly<Record<string, string>> = {}): string {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(repo.path, name), content);
  repo.git(['add', '-A']);
  repo.git(['-c', 'core.hooksPath=/dev/null', 'commit', '-q', '--allow-empty', '-F', '-'], {
    input: message,
  });
  return repo.git(['rev-parse', 'HEAD']);
}

const mixed = (words: readonly string[] = []) => repo.json(['check', ...words]).items.map(({ oid }) => oid);

describe('git handoff check', () => {
  beforeEach(() => {
    repo = new TestRepository();
  });
  afterEach(() => repo.remove());

  it('lists commits of two sessions and says how to split the oldest', () => {
    const oldest = commit(`first\n\n${BOTH}`, { 'a.txt': 'x\n', 'new\nname.txt': 'x\n' });
    commit(`fine\n\nClaude-Session-Id: ${A}`, { 'b.txt': 'x\n' });
    const newest = commit(`second\u001b[31m\n\n${BOTH}`, { 'c.txt': 'x\n' });
    const done = repo.handoff(['check']);
    expect(done.status).toBe(1);
    expect(done.stdout.split('\n')).toEqual([
      `mixed  ${newest.slice(0, 7)}  session aaaaaaaa, session bbbbbbbb  1 path   second\\u{1b}[31m`,
      `mixed  ${oldest.slice(0, 7)}  session aaaaaaaa, session bbbbbbbb  2 paths  first`,
      expect.stringContaining(`hint: git rebase -i ${oldest.slice(0, 12)}^`),
      expect.stringContaining('hint: '),
      '',
    ]);
    const rebase = /git rebase -i \S+/.exec(done.stdout)?.[0] ?? '';
    const env = { GIT_SEQUENCE_EDITOR: 'sed -i.x 1s/^pick/edit/' };
    expect(repo.run('sh', ['-c', rebase], { env }).status).toBe(0);
    expect(repo.git(['rev-parse', 'HEAD'])).toBe(oldest);
  });

  it('suggests a command that works for a root commit', () => {
    const root = new TestRepository({ head: 'unborn' });
    try {
      root.git(['commit', '-q', '--allow-empty', '-m', `x\n\n${BOTH}`]);
      expect(root.handoff(['check']).stdout).toContain('git rebase -i --root ');
    } finally {
      root.remove();
    }
  });

  it('finds ids wherever squashing leaves them, but not in words that only look like ids', () => {
    const squashed = commit(
      `squash\n\n    one\n\n    claude-session-id : ${A}\n\n    two\n\n    Claude-Session-Id: ${B}\n\nend`,
    );
    commit(`talk\n\nClaude-Session-Id: ${A}\n\nnot a line with Claude-Session-Id: ${B} in it`);
    commit(`placeholder\n\nClaude-Session-Id: ${A}\nClaude-Session-Id: undefined`);
    commit(`twice\n\nClaude-Session-Id: ${A}\nClaude-Session-Id: ${A}`);
    commit(`short and long\n\nClaude-Session-Id: ${A}\nClaude-Session-Id: ${A.slice(0, 8)}`);
    const shorts = commit('two shorts\n\nClaude-Session-Id: aaaaaaaa\nClaude-Session-Id: bbbbbbbb');
    expect(mixed()).toEqual([shorts, squashed]);
  });

  it('accepts merges, and work that was taken over on purpose', () => {
    commit(`accepted\n\n${BOTH}\nHandoff-Accepted-From: ${B}`);
    const third = commit(`third\n\n${BOTH}\nClaude-Session-Id: cccccccc-3333\nHandoff-Accepted-From: ${B}`);
    repo.git(['switch', '-q', '-c', 'side', 'HEAD~2']);
    commit('side', { 'side.txt': 'x\n' });
    repo.git(['switch', '-q', 'main']);
    repo.git(['merge', '-q', '--no-ff', '-m', `merge\n\n${BOTH}`, 'side']);
    expect(mixed()).toEqual([third]);
    expect(repo.json(['check']).items).toMatchObject([{ sessions: [A, 'cccccccc-3333'] }]);
  });

  it('counts a conversation that continued under another id as one session', () => {
    repo.ok(['init', '--yes']);
    commit(`x\n\n${BOTH}`);
    const event = (session: string, name: string, more: object) =>
      `printf %s '${JSON.stringify({ session_id: session, hook_event_name: name, cwd: repo.path, ...more })}' | git-handoff guard --client claude >/dev/null`;
    const lines = [
      event(A, 'SessionStart', { source: 'startup' }),
      event(A, 'SessionEnd', { reason: 'clear' }),
      event(B, 'SessionStart', { source: 'clear' }),
    ];
    expect(mixed()).toHaveLength(1);
    repo.run('sh', ['-c', [...lines, ':'].join('\n')]);
    expect(mixed()).toEqual([]);
  });

  it('looks at the commits that are not yet pushed, or else at the last ones', () => {
    const old = commit(`old\n\n${BOTH}`);
    expect(mixed()).toEqual([old]);
    const remote = join(repo.root, 'remote.git');
    repo.git(['init', '-q', '--bare', remote]);
    repo.git(['remote', 'add', 'origin', remote]);
    repo.git(['push', '-q', '--no-verify', 'origin', 'main']);
    expect(mixed()).toEqual([]);
    const next = commit(`new\n\n${BOTH}`);
    expect(mixed()).toEqual([next]);
    repo.git(['branch', '-q', '--set-upstream-to', 'origin/main']);
    expect(repo.json(['check'])).toMatchObject({ range: '@{upstream}..HEAD', commits: 1 });
    expect(mixed()).toEqual([next]);
    expect(mixed(['HEAD~2..HEAD'])).toEqual([next, old]);
    expect(mixed(['HEAD'])).toEqual([next, old]);
  });

  it('finds handoffs that were moved by hand, every time, and changes nothing', () => {
    repo.ok(['write', 'auth-refresh', '-m', 'one'], { session: A });
    repo.ok(['write', 'auth-refresh', '-m', 'two'], { session: A });
    expect(repo.ok(['check'])).toBe(
      'looked at 1 commit and 1 handoff: no commit mixes sessions, no handoff was moved by hand',
    );
    const ref = 'refs/handoffs/main/auth-refresh';
    const bad = repo.git(['rev-parse', `${ref}~1`]);
    repo.git(['update-ref', ref, bad]);
    const before = repo.git(['for-each-ref']);
    for (const done of [repo.handoff(['check']), repo.handoff(['check'])]) {
      expect(done.status).toBe(1);
      expect(done.stdout).toMatch(
        new RegExp(
          `^illegal +${bad.slice(0, 7)} +main/auth-refresh +rewound or replaced\nhint: git handoff doctor --fix\n$`,
        ),
      );
    }
    expect(repo.git(['for-each-ref'])).toBe(before);
    repo.ok(['doctor', '--fix']);
    expect(repo.handoff(['check']).status).toBe(0);
  });

  it.each(['nope', 'nope..HEAD', '--all', '--output=/tmp/x', '-n1', '@{upstream}..HEAD', '', 'HEAD:a.txt\n'])(
    'refuses the range %j',
    (range) => {
      const done = repo.handoff(['check', '--', range]);
      expect(done.status, done.stdout).toBe(2);
      expect(done.stderr).toMatch(/^error: .+\nhint: git handoff check\n$/);
      expect(repo.handoff(['check']).status).toBe(0);
    },
  );
});

describe('git handoff check in a repository with little in it', () => {
  let empty: TestRepository;
  beforeAll(() => {
    empty = new TestRepository({ head: 'unborn' });
  });
  afterAll(() => empty.remove());

  it('succeeds without a commit', () => {
    expect(empty.ok(['check'])).toContain('looked at 0 commits and 0 handoffs');
  });

  it('succeeds in a bare repository, as in a server hook', () => {
    const bare = new TestRepository({ bare: true });
    try {
      expect(bare.ok(['check', 'main'])).toContain('looked at 1 commit ');
    } finally {
      bare.remove();
    }
  });
});
