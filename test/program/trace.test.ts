import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

const traced = { GIT_HANDOFF_TRACE: '1' };

/** The lines of a trace, without their times. */
const linesOf = (trace: string) =>
  trace
    .split('\n')
    .filter((line) => / git-handoff \w+: /.test(line))
    .map((line) => line.replace(/^[\d:.]+ git-handoff /, '').replace(/ \([\d.]+ ms\)$/, ''));

/** An Edit by B of a file that A has changed and not committed. */
function refusedEdit(env: Readonly<Record<string, string>>) {
  world.edit(A, 'src/a.ts', 'line 1', 'of A');
  const input = { file_path: join(world.path, 'src/a.ts'), old_string: 'line 2', new_string: 'of B' };
  return world.guard(
    { session_id: B, hook_event_name: 'PreToolUse', tool_name: 'Edit', tool_input: input },
    { env },
  );
}

describe('GIT_HANDOFF_TRACE=1', () => {
  it('shows which git calls, checks and effects led to the verdict on a refused edit', () => {
    const lines = linesOf(refusedEdit(traced).stderr);
    expect(lines[0]).toBe('call: guard --client claude');
    expect(lines).toContainEqual(expect.stringMatching(/^git: config -z .*: exit 0$/));
    expect(lines.filter((line) => !line.startsWith('git: '))).toEqual([
      'call: guard --client claude',
      'check: handoff-files: nothing',
      'check: contention: effect, refuse',
      'effect: contention: nothing',
      'verdict: PreToolUse Edit: deny',
      expect.stringMatching(/^log: deny: Edit: src\/a\.ts: claude aaaaaaaa changed it /),
    ]);
  });

  it('shows what a write asks git, and its failure', () => {
    const { stderr } = world.handoff(['write', 'auth-refresh', '-m', 'half done'], {
      session: A,
      env: traced,
    });
    const lines = linesOf(stderr);
    expect(lines[0]).toBe('call: write auth-refresh -m half done');
    expect(lines).toContainEqual(expect.stringMatching(/^git: .*unpack-objects -q: exit 0$/));
    expect(lines).toContainEqual(expect.stringMatching(/^git: .*update-ref .*--stdin: exit 0$/));
    const refused = world.handoff(['write', 'auth-refresh', '-m', 'x'], { session: B, env: traced });
    expect(linesOf(refused.stderr)).toContainEqual(expect.stringMatching(/^verdict: not-owner: /));
  });

  it('shows which hook refused a commit, and why', () => {
    world.edit(A, 'src/a.ts', 'line 1', 'of A');
    world.edit(B, 'src/b.ts', 'line 1', 'of B');
    const { status, stderr } = world.as(B, ['commit', '-qam', 'all'], { env: traced });
    expect(status).toBe(1);
    const lines = linesOf(stderr);
    expect(lines).toContainEqual(expect.stringMatching(/^call: hook pre-commit /));
    // If only ps shows a command's words, the later hook refuses, since it gets the message.
    expect(lines).toContainEqual(
      expect.stringMatching(/^verdict: (pre-commit|prepare-commit-msg): refused$/),
    );
  });

  it('keeps control characters of hostile names out of the terminal', () => {
    const { stderr } = world.handoff(['show', 'no\u001b[31m-topic'], { env: traced });
    expect(stderr).not.toContain('\u001b');
  });
});

describe('GIT_HANDOFF_TRACE=<path>', () => {
  it('adds the lines to that file, and says nothing elsewhere', () => {
    const file = join(world.root, 'trace');
    expect(refusedEdit({ GIT_HANDOFF_TRACE: file }).stderr).toBe('');
    world.handoff(['list'], { env: { GIT_HANDOFF_TRACE: file } });
    expect(linesOf(readFileSync(file, 'utf8'))).toContain('call: list');
  });

  it('changes nothing if the file cannot be written', () => {
    mkdirSync(join(world.root, 'folder'));
    const run = world.handoff(['list'], { env: { GIT_HANDOFF_TRACE: join(world.root, 'folder') } });
    expect(run).toMatchObject({ stderr: '' });
  });
});

it.each([{}, { GIT_HANDOFF_TRACE: '' }, { GIT_HANDOFF_TRACE: '0' }, { GIT_HANDOFF_TRACE: 'trace' }])(
  'nothing is traced with %j',
  (env) => {
    expect(refusedEdit(env).stderr).toBe('');
    expect(existsSync(join(world.path, 'trace'))).toBe(false);
  },
);
