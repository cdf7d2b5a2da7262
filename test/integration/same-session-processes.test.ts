import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CommitWorld } from '../support/commit-hooks-world.ts';
import { finished } from '../support/repository.ts';
import { A, B, C } from '../support/sharing-world.ts';

/** Two processes of a client continue one conversation. They have one session id, and one ledger. */

const ROUNDS = 5;
let world: CommitWorld;
beforeEach(() => {
  world = new CommitWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

/** What one process of the session does: file tools and shell commands, with their hooks. */
function script(name: string): string {
  const hook = (event: string, tool: object) => {
    const payload = JSON.stringify({ session_id: A, hook_event_name: event, cwd: world.path, ...tool });
    return `printf %s '${payload}' | git-handoff guard --client claude`;
  };
  const around = (tool: object, act: string) => [hook('PreToolUse', tool), act, hook('PostToolUse', tool)];
  const round = (n: number) => {
    const [written, made] = [`${name}-${n}.txt`, `made-${name}-${n}.txt`];
    const file = { tool_name: 'Write', tool_input: { file_path: join(world.path, written), content: name } };
    const command = `echo ${name} > ${made}`;
    const shell = { tool_name: 'Bash', tool_input: { command }, tool_use_id: `toolu_${name}_${n}` };
    return [...around(file, `echo ${name} > ${written}`), ...around(shell, command)];
  };
  return Array.from({ length: ROUNDS }, (_, n) => round(n))
    .flat()
    .join('\n');
}

const names = (name: string) =>
  Array.from({ length: ROUNDS }, (_, n) => [`${name}-${n}.txt`, `made-${name}-${n}.txt`]).flat();

/** Makes the ledger so long that it is rewritten while both processes append to it. */
function growLedger(): void {
  const file = world.journal(A);
  const line = JSON.stringify({ t: 'notified', ids: ['x'.repeat(100)], at: Date.now() });
  writeFileSync(file, `${readFileSync(file, 'utf8')}${`${line}\n`.repeat(900)}`);
}

it('two processes of one session keep every claim of both, in whole lines, and another session is refused all of them', async () => {
  world.write(A, 'before.txt', 'A\n');
  growLedger();
  const runs = await Promise.all(
    ['one', 'two'].map((name) =>
      finished(world.start('sh', ['-c', `${script(name)}\n:`], { env: { CLAUDE_CODE_SESSION_ID: A } })),
    ),
  );
  for (const { status, stderr } of runs) expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const all = ['before.txt', ...names('one'), ...names('two')].sort();
  expect(world.claimed(A)).toEqual(all);
  expect(world.ledger(A)[0]).toHaveProperty('compacted');
  expect(world.guardLog()).not.toContain('"error"');
  // Not B: both processes run below B's process (the test's), so B takes A for its own child.
  world.begin(C);
  const owners = world.json(['status'], { session: C }).items.map(({ path, owner }) => [path, owner]);
  expect(owners.sort()).toEqual(all.map((path) => [path, A]));
  world.git(['add', '-A']);
  expect(world.refused(C, ['commit', '-m', 'all'])).toContain('before.txt');
  world.ok(['commit', '-m', 'both'], { session: A });
  expect(world.changed()).toEqual(all);
  expect(world.status()).toEqual([]);
});
