import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GuardWorld, markedNote } from '../support/guard.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

const UNKNOWN = 'sess-dddddddd-4444';

it('the first call of a session that the guard never saw start is refused, even if there is news for the session', () => {
  const world = new GuardWorld();
  world.sessionStart('sess-aaaaaaaa-1111');
  writeFileSync(world.file, markedNote('sess-cccccccc-3333', 'changed unseen\n'));
  const input = { command: 'git update-ref -d refs/handoffs/main/auth-refresh' };
  expect(world.before('Bash', input, { session_id: UNKNOWN }).kind).toBe('deny');
});

describe('a path that is longer than any system call takes', () => {
  const long = `${'a/'.repeat(30_000)}x`;
  const deep = 'a/'.repeat(2000);

  it.each([
    ['of a program', `rm ${long}`],
    ['that begins in a long folder', `mkdir -p ${deep}; cd ${deep}; touch ${deep}x`],
    ['in the text of another language', `python3 -c "open('${long}/handoff-x.md', 'w')"`],
  ])('%s does not keep the rest of the command from being judged', (_, command) => {
    const world = new GuardWorld();
    const input = { command: `${command}; git update-ref -d refs/handoffs/main/auth-refresh` };
    expect(world.before('Bash', input).kind).toBe('deny');
  });
});

it('a patch is refused for what it hits in one worktree, even if there is news about another', () => {
  const world = new SharingWorld({ ready: [A] });
  world.git(['worktree', 'add', '-q', '../tree', '-b', 'tree']);
  const tree = `${world.root}/tree`;
  world.begin(B, tree);
  world.write(B, 'src/b.ts', 'of B\n', tree);
  const patch = (name: string, agent: string, ...files: readonly string[]) => {
    const sections = files.map((file) => `*** Update File: ${file}\n+x\n`).join('');
    const input = JSON.stringify({
      ...{ session_id: A, agent_id: agent, cwd: world.path, hook_event_name: name },
      ...{ tool_name: 'apply_patch', tool_input: { command: `*** Begin Patch\n${sections}*** End Patch` } },
    });
    return world.handoff(['guard', '--client', 'codex'], { input }).stdout;
  };
  const own = `${world.path}/src/a.ts`;
  // From here on, A's ledger is kept.
  world.begin(B);
  patch('PreToolUse', 'one', own);
  writeFileSync(own, 'by one\n');
  patch('PostToolUse', 'one', own);
  expect(patch('PreToolUse', 'two', own, `${tree}/src/b.ts`)).toContain('"permissionDecision":"deny"');
});

it('a session is not kept on record in a worktree that its refused call would have touched', () => {
  const world = new SharingWorld({ ready: [A] });
  world.git(['worktree', 'add', '-q', '../tree', '-b', 'tree']);
  const tree = `${world.root}/tree`;
  world.begin(B, tree);
  const command = 'git -C ../tree -c core.hooksPath=/dev/null commit -am x';
  expect(world.may(A, command).kind).toBe('deny');
  const { items } = JSON.parse(world.handoff(['sessions', '--json']).stdout) as {
    items: { session: string }[];
  };
  expect(items.map(({ session }) => session).sort()).toEqual([A, B]);
});
