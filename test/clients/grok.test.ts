import path from 'node:path';
import { expect, it } from 'vitest';
import { replace, runGrok, shell, subagent } from '../support/client/grok.ts';
import { expectWell, outputs } from '../support/client/run.ts';
import { createInstalledWorld } from '../support/client/world.ts';
import { call, say } from '../support/model/script.ts';

const REF = 'refs/handoffs/main/auth-refresh';

it('Grok Build is guarded by Claude Code’s hooks, and its sub-agents count as its session', async () => {
  const world = await createInstalledWorld();
  await world.output("git handoff write main/auth-refresh -m 'of a person'");
  const before = await world.output(`git rev-parse ${REF}`);
  const run = await runGrok(world, {
    turns: [
      shell(`git update-ref -d ${REF}`),
      call('monitor', { command: `git update-ref -d ${REF}`, description: 'test' }),
      shell("printf 'mine' | git handoff write main/auth-refresh"),
      replace(path.join(world.repository, 'a.txt'), 'hello', 'bye'),
      subagent('SUBAGENT'),
      shell('git handoff sessions && git handoff commit -m mine'),
      say('done'),
    ],
    agents: [{ match: 'SUBAGENT', turns: [shell('echo sub > sub.txt; git handoff sessions'), say('sub')] }],
  });
  expectWell(run);
  const told = outputs(run).join('\n');
  for (const refused of outputs(run).slice(0, 2))
    expect(refused, world.guardLog()).toContain(`would change ${REF}`);
  expect(told).toContain('git handoff take main/auth-refresh');
  expect(await world.output(`git rev-parse ${REF}`)).toBe(before);
  expect(told.match(/^\* .* live {2}grok .*$/gm)).toHaveLength(2);
  expect(await world.output('git show --format= --name-only HEAD')).toBe('a.txt\nsub.txt');
  expect(await world.output("git log -1 --format='%(trailers:key=Claude-Session-Id,valueonly)'")).toContain(
    run.session,
  );
  expect(await world.output('git status --porcelain')).toBe('');
});
