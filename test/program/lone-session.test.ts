import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAnswer } from '../support/hook-answer.ts';
import { A, B, SharingWorld, contextText } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A] });
});
afterEach(() => world.remove());

const git = () => join(world.path, '.git');

/** Calls the guard about a shell tool; returns what it says and what it asked git. */
function call(event: 'PreToolUse' | 'PostToolUse', command: string, more: object = {}) {
  const payload = {
    session_id: A,
    hook_event_name: event,
    tool_name: 'Bash',
    tool_input: { command },
    ...more,
  };
  const run = world.guard(payload, { env: { GIT_HANDOFF_TRACE: '1' } });
  const asked = run.stderr.split('\n').filter((line) => line.includes(' git-handoff git: '));
  return { asked, text: contextText(readAnswer({ ...run, stderr: '' }, event)) };
}

/** Makes the refs old, as if they were written long before the session looked. */
function age(): void {
  for (const name of ['packed-refs', 'refs/handoffs', 'refs/handoffs/main']) {
    try {
      utimesSync(join(git(), name), 1, 1);
    } catch {
      // The file need not exist.
    }
  }
}

describe('a session that works alone', () => {
  it('runs no git before or after a command that cannot do harm', () => {
    age();
    call('PostToolUse', 'make');
    expect(call('PreToolUse', 'make')).toEqual({ asked: [], text: '' });
    expect(call('PostToolUse', 'make')).toEqual({ asked: [], text: '' });
  });

  it.each(['git reset --hard', 'cd ../elsewhere && make', 'echo x > notes', 'git handoff list'])(
    'runs git to judge %s',
    (command) => {
      expect(call('PreToolUse', command).asked).not.toEqual([]);
    },
  );

  it('hears after a harmless-looking command that it moved a handoff, however it did so', () => {
    world.ok(['write', 'auth-refresh', '-m', 'first'], { session: A });
    const tip = world.ref('refs/handoffs/main/auth-refresh') ?? '';
    call('PostToolUse', 'make');
    world.git(['update-ref', '-d', 'refs/handoffs/main/auth-refresh', tip]);
    expect(call('PostToolUse', 'make').text).toContain('main/auth-refresh');
  });

  it('hears it even after calls in between that only the launcher saw', () => {
    world.ok(['write', 'auth-refresh', '-m', 'first'], { session: A });
    call('PostToolUse', 'make');
    world.git(['update-ref', '-d', 'refs/handoffs/main/auth-refresh']);
    // bin/git-handoff writes this for a read-only command.
    writeFileSync(join(git(), 'handoff', 'beat', A), 'PostToolUse');
    call('PreToolUse', 'make');
    expect(call('PostToolUse', 'make').text).toContain('main/auth-refresh');
  });

  it('hears after a harmless-looking command that a predecessor’s note was changed', () => {
    const folder = join(world.home, '.claude', 'projects', 'x', 'memory');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'handoff-x.md'), `session: ${B}\n`);
    world.begin(A);
    call('PostToolUse', 'make');
    appendFileSync(join(folder, 'handoff-x.md'), 'more\n');
    expect(call('PostToolUse', 'make').asked).not.toEqual([]);
  });

  it('has its calls judged again as soon as another one is at work', () => {
    world.begin(B);
    expect(call('PreToolUse', 'make').asked).not.toEqual([]);
  });

  it('runs git to judge a command that leads, or may lead, to another repository where sessions were', () => {
    age();
    call('PostToolUse', 'make');
    const folder = join(world.home, '.local', 'state', 'git-handoff', 'repositories');
    writeFileSync(join(folder, 'other'), '/elsewhere/.git\n');
    expect(call('PreToolUse', 'make -C /elsewhere').asked).not.toEqual([]);
    expect(call('PreToolUse', 'ls /elsewhere').asked).not.toEqual([]);
    expect(call('PreToolUse', 'ls $X').asked).not.toEqual([]);
    expect(call('PreToolUse', `ls ${world.path}/src`).asked).toEqual([]);
  });
});
