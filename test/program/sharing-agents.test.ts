import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionId } from '../../src/domain/names.ts';
import { dropAbandoned, openWindow, readWindows } from '../../src/changes/windows.ts';
import { A, B, SharingWorld, contextText } from '../support/sharing-world.ts';

/** A session is known by its process and id, and its sub-agents have the same. */
let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld();
});
afterEach(() => world.remove());

/** Both hooks of a Write by a sub-agent of A. */
function writes(agent: string, path: string, content: string): string {
  const file = `${world.path}/${path}`;
  const call = {
    session_id: A,
    agent_id: agent,
    tool_name: 'Write',
    tool_input: { file_path: file, content },
  };
  const before = world.guard({ ...call, hook_event_name: 'PreToolUse' });
  world.run('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', content, file]);
  world.guard({ ...call, hook_event_name: 'PostToolUse' });
  return before.stdout;
}

describe('sub-agents of one session', () => {
  beforeEach(() => {
    world.begin(A);
    world.begin(B);
  });

  it('are distinguished in the ledger, and commit under the session’s id', () => {
    writes('agent-x', 'src/a.ts', 'x\n');
    writes('agent-y', 'src/b.ts', 'y\n');
    const agents = world.ledger(A).flatMap(({ t, path, agent }) => (t === 'claim' ? [[path, agent]] : []));
    expect(agents).toEqual([
      ['src/a.ts', 'agent-x'],
      ['src/b.ts', 'agent-y'],
    ]);
    expect(world.bash(A, 'git add -A && git commit -qm both').run).toMatchObject({ status: 0 });
    expect(world.git(['log', '-1', '--format=%(trailers:key=Claude-Session-Id,valueonly)']).trim()).toBe(A);
  });

  it('are told once, if they are no owners, that they change another sub-agent’s uncommitted file', () => {
    world.git(['config', 'handoff.subAgents', 'session']);
    writes('agent-x', 'src/a.ts', 'x\n');
    const text = writes('agent-y', 'src/a.ts', 'y\n');
    expect(text).toContain('another sub-agent of this session (agent-x)');
    expect(text).not.toContain('deny');
    expect(writes('agent-x', 'src/b.ts', 'x\n')).toBe('');
    expect(writes('agent-x', 'src/b.ts', 'xx\n')).toBe('');
    expect(writes('agent-y', 'src/a.ts', 'yy\n')).toBe('');
  });
});

describe('a command that one of them runs', () => {
  it('is over when that agent makes another call, not when another agent does', () => {
    const place = { commonDir: join(world.path, '.git'), worktreeId: '0123456789abcdef' };
    const session = A as SessionId;
    const head = { ref: 'refs/heads/main', oid: null };
    openWindow(place, session, 'toolu_1', { head, dirty: new Map(), at: 1000 }, { agent: 'agent-x' });
    const running = () => readWindows(place, session).map(({ agent }) => agent);
    dropAbandoned(place, session, 'agent-y', 60_000);
    dropAbandoned(place, session, 'agent-x', 2000);
    expect(running()).toEqual(['agent-x']);
    dropAbandoned(place, session, 'agent-x', 60_000);
    expect(running()).toEqual([]);
  });
});

describe('an identity', () => {
  it('that is missing means a person: nothing is blocked, no trailer is added', () => {
    world.begin(A);
    world.begin(B);
    world.write(A, 'src/a.ts', 'one\n');
    expect(world.run('git', ['commit', '-qam', 'by hand'])).toMatchObject({ status: 0 });
    expect(world.git(['log', '-1', '--format=%(trailers)'])).toBe('');
  });

  it('that a model invents counts for nothing', () => {
    world.begin(A);
    world.begin(B);
    world.write(A, 'src/a.ts', 'one\n');
    for (const session of ['current', 'undefined', '../x']) {
      const { status, stdout } = world.guard({
        session_id: session,
        hook_event_name: 'PreToolUse',
        tool_name: 'Write',
        tool_input: { file_path: `${world.path}/src/b.ts`, content: 'x' },
      });
      expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    }
    expect(world.refs('refs/handoffs-local/live')).toHaveLength(2);
  });

  it('survives a compaction with its ledger and its note', () => {
    world.begin(A);
    world.begin(B);
    world.write(A, 'src/a.ts', 'one\n');
    world.ok(['write', 'auth-refresh', '-m', 'half done'], { session: A });
    const started = world.guard({ session_id: A, hook_event_name: 'SessionStart', source: 'compact' });
    expect(started.stdout).toContain('auth-refresh (yours');
    expect(world.write(B, 'src/a.ts', 'two\n').kind).toBe('deny');
    expect(contextText(world.may(B, 'make'))).toBe('');
  });
});
