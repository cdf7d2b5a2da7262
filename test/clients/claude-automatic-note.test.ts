import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runClaude } from '../support/client/claude.ts';
import { expectHealthy, short } from '../support/client/expectations.ts';
import { bash, write } from '../support/client/tools.ts';
import { createInstalledWorld } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { listOf, objectOf, stringOf } from '../support/model/json.ts';
import { say } from '../support/model/script.ts';

describe('a real Claude Code session that is killed with uncommitted work', () => {
  it('is reported to the next session by an automatic note, with its paths', async () => {
    const world = await createInstalledWorld();
    const gates = createGates();
    const file = (name: string) => path.join(world.repository, name);
    const killed = runClaude(
      world,
      {
        turns: [
          write(file('new.txt'), 'of A\n'),
          bash("echo 'of A' > a.txt"),
          say('never said', { opens: 'A has worked', waitsFor: 'A is dead' }),
        ],
      },
      { gates },
    );
    expect(await gates.wait('A has worked')).toBe(true);
    const [record] = listOf(objectOf(JSON.parse(await world.output('git handoff sessions --json')))['items']);
    const { session, pid } = objectOf(record);
    process.kill(Number(pid), 'SIGKILL');
    gates.open('A is dead');
    expect((await killed).status).toBeNull();

    const b = await runClaude(world, { turns: [say('done')] });
    expectHealthy(b);
    const topic = `session-${short(stringOf(session))}`;
    const firstRequest = b.conversation.userTexts()[0]?.join('\n') ?? '';
    expect(firstRequest, world.guardLog()).toContain(topic);
    expect(firstRequest.toLowerCase()).toContain('automatic');
    const note = await world.output(`git handoff show main/${topic}`);
    for (const text of ['`a.txt`', '`new.txt`', 'died without a handoff']) {
      expect(note, world.guardLog()).toContain(text);
    }
    expect(readFileSync(file('a.txt'), 'utf8')).toBe('of A\n');
  });
});

describe('a real Claude Code session that compacts its context', () => {
  it('leaves an automatic note before, which it closes when it continues', async () => {
    const world = await createInstalledWorld();
    const turns = [
      write(path.join(world.repository, 'new.txt'), 'of A\n'),
      ...['1', '2', '3'].map((text) => say(text)),
    ];
    const run = await runClaude(world, { turns }, { prompts: ['go', '/compact', 'go on'] });
    expectHealthy(run);
    const ref = `refs/handoffs/main/session-${short(run.session)}`;
    const history = await world.output(
      `git log --format='%(trailers:key=Handoff-Automatic,valueonly,separator=) %(trailers:key=Handoff-State,valueonly,separator=)' ${ref}`,
    );
    expect(history.split('\n').filter(Boolean), world.guardLog()).toEqual([
      'session-end open',
      'compaction closed',
      'compaction open',
    ]);
  });
});
