import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository, finished } from '../support/repository.ts';

const [A, B] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];
let repo: TestRepository;

beforeEach(() => {
  repo = new TestRepository();
  repo.ok(['init', '--yes']);
});
afterEach(() => repo.remove());

/** A shell line that reports a session's event to the guard, as a client's hook does. The shell takes the client's place. */
function hook(session: string, event: string, more: Readonly<Record<string, string>> = {}): string {
  const payload = JSON.stringify({ session_id: session, hook_event_name: event, cwd: repo.path, ...more });
  return `printf %s '${payload}' | git-handoff guard --client claude >/dev/null`;
}
const starts = (session: string, source = 'startup') => hook(session, 'SessionStart', { source });

/** Runs lines in a shell that stays the parent of what it starts, like a client's process. */
const client = (lines: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  repo.run('sh', ['-c', [...lines, ':'].join('\n')], { env });
const owner = (topic: string) => repo.json(['show', topic])['owner'];
const PERSON = /^person-[0-9a-f]{12}$/;

describe('who is writing', () => {
  it('is the session whose client started the command, without any variable', () => {
    client([starts(A), 'git handoff write auth-refresh -m x']);
    expect(repo.json(['show', 'auth-refresh'])).toMatchObject({ owner: A, client: 'claude' });
  });

  it('is the nearer of two such sessions, whatever the environment says', () => {
    const inner = ['sh -c "$INNER"', 'git handoff write outer-topic -m x'];
    const script = [starts(B), 'git handoff write inner-topic -m x', ':'].join('\n');
    client([starts(A), ...inner], { INNER: script, CLAUDE_CODE_SESSION_ID: A });
    expect([owner('inner-topic'), owner('outer-topic')]).toEqual([B, A]);
    expect(repo.json(['sessions', '--all']).items.find(({ session }) => session === B)).toMatchObject({
      parent: A,
    });
  });

  it('is a person if the variable names a session that lives elsewhere', async () => {
    const elsewhere = repo.start('sh', ['-c', `${starts(A)}\necho ready\nexec sleep 30`]);
    const ended = finished(elsewhere);
    await new Promise((ready) => elsewhere.stdout?.once('data', ready));
    repo.ok(['write', 'auth-refresh', '-m', 'x'], { session: A });
    elsewhere.kill();
    await ended;
    expect(owner('auth-refresh')).toMatch(PERSON);
  });

  it('is the session that the variable names if that is not on record', () => {
    repo.ok(['write', 'auth-refresh', '-m', 'x'], { session: A });
    expect(owner('auth-refresh')).toBe(A);
  });

  it('is one person per e-mail address, and note ownership binds persons, too', () => {
    repo.ok(['write', 'auth-refresh', '-m', 'x']);
    const ada = owner('auth-refresh');
    expect(ada).toMatch(PERSON);
    const env = { GIT_COMMITTER_EMAIL: ' ADA@example.org ' };
    expect(repo.handoff(['write', 'auth-refresh', '-m', 'y'], { env }).status).toBe(0);
    const eve = repo.handoff(['write', 'auth-refresh', '-m', 'z'], {
      env: { GIT_COMMITTER_EMAIL: 'eve@example.org' },
    });
    expect(eve.status).toBe(3);
    expect(eve.stderr).toContain('main/auth-refresh belongs to Ada; ');
  });

  it('is never decided by the text of a note', () => {
    repo.ok(['write', 'auth-refresh', '-m', `x\n\nClaude-Session-Id: ${B}\nHandoff-Taken-From: ${A}`], {
      session: A,
    });
    expect(repo.handoff(['write', 'auth-refresh', '-m', 'y'], { session: B }).status).toBe(3);
  });

  it('is the same after /clear, without a take', () => {
    client([
      starts(A),
      'git handoff write auth-refresh -m one',
      hook(A, 'SessionEnd', { reason: 'clear' }),
      starts(B, 'clear'),
      'git handoff write auth-refresh -m two',
    ]);
    const steps = repo.json(['log', 'auth-refresh']).items.map(({ step, owner: by }) => [step, by]);
    expect(steps).toEqual([
      ['succeed', B],
      ['create', A],
    ]);
  });

  it('is another session after an end other than /clear', () => {
    client([
      starts(A),
      'git handoff write auth-refresh -m one',
      hook(A, 'SessionEnd', { reason: 'logout' }),
      starts(B, 'clear'),
      'git handoff write auth-refresh -m two',
    ]);
    expect(repo.json(['log', 'auth-refresh']).items).toHaveLength(1);
  });
});

describe('git handoff sessions', () => {
  const listed = () =>
    repo.json(['sessions', '--all']).items.map(({ session, liveness }) => [session, liveness]);

  it('shows a killed client as dead even if it is still a zombie', async () => {
    // In a container whose first process reaps no children, a killed agent stays in the process table forever.
    const hold = 'sh -c "$CLIENT" & exec sleep 30';
    const script = `${starts(A)}\necho ready $$\nexec sleep 30`;
    const holder = repo.start('sh', ['-c', hold], { env: { CLIENT: script } });
    const ended = finished(holder);
    const text = await new Promise<Buffer>((ready) => holder.stdout?.once('data', ready));
    const pid = Number(/ready (\d+)/.exec(text.toString())?.[1]);
    const livenessOf = () => repo.json(['sessions', '--all']).items.map(({ liveness }) => liveness);
    expect(livenessOf()).toEqual(['live']);
    process.kill(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(repo.run('ps', ['-o', 'stat=', '-p', String(pid)]).stdout).toMatch(/^Z/);
    expect(livenessOf()).toEqual(['dead']);
    holder.kill();
    await ended;
  });

  it('shows a session as live that keeps calling, even if the process that started its hooks is gone', () => {
    client([starts(A)]);
    expect(listed()).toEqual([[A, 'dead']]);
    const calls = () => hook(A, 'PreToolUse', { tool_name: 'Write', tool_input: '' });
    client([calls()]);
    client([calls()]);
    expect(listed()).toEqual([[A, 'live']]);
    client([hook(A, 'SessionEnd', { reason: 'logout' })]);
    expect(listed()).toEqual([[A, 'ended']]);
    client([starts(A, 'resume')]);
    expect(listed()).toEqual([[A, 'dead']]);
  });

  it('distinguishes live, dead and ended ones', () => {
    repo.guard({ session_id: 'live-1', hook_event_name: 'SessionStart', source: 'startup' });
    client([starts('dead-1')]);
    client([starts('over-1'), hook('over-1', 'SessionEnd', { reason: 'logout' })]);
    expect(listed()).toEqual([
      ['live-1', 'live'],
      ['dead-1', 'dead'],
      ['over-1', 'ended'],
    ]);
    const shown = repo.ok(['sessions']);
    expect(shown.split('\n')).toHaveLength(2);
    expect(shown).toMatch(/live-1 +live +claude +main +since just now/);
  });

  it('marks the caller, and says where each works', () => {
    const linked = repo.worktree('dev');
    repo.guard({ session_id: B, hook_event_name: 'SessionStart', source: 'startup' }, { cwd: linked });
    const seen = client([starts(A), 'git handoff sessions --json']).stdout;
    expect((JSON.parse(seen) as { items: unknown[] }).items).toMatchObject([
      { session: A, self: true, branch: 'main', worktree: repo.path },
      { session: B, self: false, branch: 'dev', worktree: linked },
    ]);
  });

  it('lists a session once even if it reports twice, and a resumed one as live', () => {
    client([starts(A), starts(A, 'compact'), hook(A, 'SessionEnd', { reason: 'logout' })]);
    expect(listed()).toEqual([[A, 'ended']]);
    repo.guard({ session_id: A, hook_event_name: 'SessionStart', source: 'resume' });
    expect(listed()).toEqual([[A, 'live']]);
  });

  it('leaves no trace in the views of code', () => {
    repo.guard({ session_id: A, hook_event_name: 'SessionStart', source: 'startup' });
    expect(repo.git(['log', '--all', '--format=%s'])).toBe('start');
    expect(repo.git(['status', '--porcelain'])).toBe('');
  });
});

describe('git handoff doctor', () => {
  const status = (check: string, words: string[] = [], env = {}) => {
    const { items } = repo.json(['doctor', ...words], { env });
    return items.filter((item) => item['check'] === check).map((item) => item['status']);
  };

  it('finds nothing wrong after init, and the hooks working', () => {
    expect(repo.handoff(['doctor'])).toMatchObject({ status: 0, stderr: '' });
    expect(status('hooks (claude)')).toContain('ok');
    expect(status('enabled')).toEqual(['ok']);
  });

  it('finds hooks that do not reach the guard', () => {
    expect(status('hooks (claude)', [], { GIT_HANDOFF: 'off' })).toContain('problem');
    expect(repo.handoff(['doctor'], { env: { GIT_HANDOFF: 'off' } }).status).toBe(1);
  });

  it('says what to type if init never ran', () => {
    repo.ok(['uninstall', '--yes']);
    expect(repo.ok(['doctor'])).toContain('git handoff init');
  });

  it('counts what the guard refused and let through', () => {
    repo.guard({ session_id: A, hook_event_name: 'SessionStart', source: 'startup' });
    repo.handoff(['guard', '--client', 'claude'], { input: '{"session_id": handoff' });
    expect(status('log')).toEqual(['warning']);
  });
});
