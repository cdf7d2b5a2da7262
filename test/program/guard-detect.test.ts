import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { GuardWorld, OWNER, markedNote } from '../support/guard.ts';
import { type HostileCase, hostileCases } from '../support/hostile-cases.ts';

/** Commands that nobody can judge by reading them. */
const cases = hostileCases<HostileCase>('bash.json').filter(
  ({ expect: expected }) => expected === 'deny-or-detect',
);

let world: GuardWorld;
afterEach(() => world.remove());

function toolCall(command: string) {
  return { command: world.fill(command) };
}

/** What the next hook or command says about a change; empty if nothing. */
const nextRuns = {
  'the hook after the tool': (command: string) => {
    const answer = world.after('Bash', toolCall(command));
    return answer.kind === 'silent' ? '' : 'text' in answer ? (answer.text ?? '') : '';
  },
  'the next start of a session': () => {
    const answer = world.sessionStart('sess-dddddddd-4444');
    return answer.kind === 'context' ? answer.text : '';
  },
  'the next command': () => {
    const { status, stderr } = world.handoff(['list']);
    expect(status).toBe(0);
    return stderr;
  },
} as const;

const REPORT = /behind git-handoff's back|without the guard seeing it/;

describe.each(Object.keys(nextRuns) as (keyof typeof nextRuns)[])('told by %s', (next) => {
  it.each(cases)('$id $why', ({ command, setup, cwd }) => {
    world = new GuardWorld();
    if (setup !== undefined) world.bash(world.fill(setup));
    const from = world.fill(cwd ?? '@CWD@');
    const before = world.before('Bash', toolCall(command), { cwd: from });
    if (before.kind === 'deny') return;
    expect(before).toEqual({ kind: 'silent' });

    world.bash(world.fill(command), { cwd: from });
    expect(nextRuns[next](command)).toMatch(REPORT);
    expect(nextRuns[next](command)).not.toMatch(REPORT);
    expect(readFileSync(world.file, 'utf8')).toBe(markedNote(OWNER));
    expect(world.ok(['show', 'auth-refresh', '--raw'])).toBe('secret token');
  });
});

it('keeps the former text of a note that a command appended to, whichever note the command names', () => {
  world = new GuardWorld();
  const input = toolCall('echo x >> "$(cat p.txt)" # of handoff-main-other-topic.md');
  world.bash(world.fill('echo @FILE@ > p.txt'));
  expect(world.before('Bash', input)).toEqual({ kind: 'silent' });
  world.bash(input.command);

  const answer = world.after('Bash', input);
  const name =
    'text' in answer ? /Its previous text: git cat-file -p (\S+)/.exec(answer.text ?? '')?.[1] : '';
  expect(world.git(['cat-file', '-p', name ?? ''])).toBe(markedNote(OWNER).trimEnd());
});

it('keeps the owner’s text of a note that is overwritten again before it is put back', () => {
  world = new GuardWorld();
  const input = toolCall('echo x > "$(cat p.txt)" # of handoff-main-other-topic.md');
  world.bash(world.fill('echo @FILE@ > p.txt'));
  expect(world.before('Bash', input)).toEqual({ kind: 'silent' });
  world.bash(input.command);
  const answer = world.after('Bash', input);
  const name = 'text' in answer ? /What was there: git cat-file -p (\S+)/.exec(answer.text ?? '')?.[1] : '';
  world.bash(input.command);
  world.ok(['list']);
  expect(world.git(['cat-file', '-p', name ?? ''])).toBe(markedNote(OWNER).trimEnd());
});

it('puts a note back in the place of a link, and leaves the link’s target alone', () => {
  world = new GuardWorld();
  const input = toolCall('ln -sf "$PWD/note.txt" "$(cat p.txt)"');
  world.bash(world.fill('echo @FILE@ > p.txt'));
  expect(world.before('Bash', input)).toEqual({ kind: 'silent' });
  world.bash(input.command);

  expect(world.after('Bash', input)).toMatchObject({ text: expect.stringMatching(REPORT) as string });
  expect(readFileSync(world.file, 'utf8')).toBe(markedNote(OWNER));
  expect(world.run('cat', ['note.txt']).stdout).toBe('b\na\n');
});

it('reports after a command a ref that was moved behind its back, and nothing otherwise', () => {
  world = new GuardWorld();
  world.ok(['write', 'auth-refresh', '-m', 'secret token 2'], { session: OWNER });
  const start = world.sessionStart('sess-dddddddd-4444');
  expect(start).toMatchObject({ text: expect.stringContaining('auth-refresh') as string });
  expect(start).not.toMatchObject({ text: expect.stringMatching(REPORT) as string });
  const input = toolCall('make');
  expect(world.after('Bash', input)).toEqual({ kind: 'silent' });

  world.git(['update-ref', 'refs/handoffs/main/auth-refresh', 'refs/handoffs/main/auth-refresh~1']);
  expect(world.after('Bash', input)).toMatchObject({ text: expect.stringMatching(REPORT) as string });
  expect(world.ok(['show', 'auth-refresh', '--raw'])).toBe('secret token 2');
});
