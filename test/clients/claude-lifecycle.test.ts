import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ClaudeRun, runClaude } from '../support/client/claude.ts';
import { expectHealthy, short } from '../support/client/expectations.ts';
import { bash, write } from '../support/client/tools.ts';
import { createInstalledWorld } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { listOf, objectOf } from '../support/model/json.ts';
import { say } from '../support/model/script.ts';

const TOPIC = 'main/auth-refresh';
const WRITE_NOTE = `printf 'goal: refresh tokens\\n' | git handoff write ${TOPIC}`;

/** The texts that the Stop hook showed to the person. */
function nudges(run: ClaudeRun): string[] {
  const stops = run.hooks.filter(({ event, stdout }) => event === 'Stop' && stdout !== '');
  return stops.map(({ stdout }) => String(objectOf(JSON.parse(stdout))['systemMessage']));
}

/** A session in the output of `git handoff sessions --json`. */
function recordIn(output: string, session: string): Readonly<Record<string, unknown>> {
  const items = listOf(objectOf(JSON.parse(output))['items']).map(objectOf);
  return objectOf(items.find((item) => item['session'] === session));
}

describe('the life of a Claude Code session', () => {
  it("begins with the other session's note and the news that it is live", async () => {
    const world = await createInstalledWorld();
    const gates = createGates();
    const turns = [bash(WRITE_NOTE), say('done', { opens: 'A has written', waitsFor: 'B is over' })];
    const running = runClaude(world, { turns }, { gates });
    expect(await gates.wait('A has written')).toBe(true);
    const b = await runClaude(world, { turns: [bash('git handoff sessions'), say('done')] });
    gates.open('B is over');
    const a = await running;
    expectHealthy(a);
    expectHealthy(b);

    const firstRequest = b.conversation.userTexts()[0]?.join('\n') ?? '';
    expect(firstRequest).toContain('auth-refresh');
    expect(firstRequest).toContain(short(a.session));
    const listed = b.conversation.toolResults()[0]?.output ?? '';
    expect(listed).toContain(short(a.session));
    expect(listed).toContain(short(b.session));
    expect(a.conversation.userTexts()[0]?.join('\n')).not.toContain('auth-refresh');
  });

  it('has one reminder to write a note once it has worked, and none after it has written one', async () => {
    const world = await createInstalledWorld();
    const file = path.join(world.repository, 'a.txt');
    const prompts = ['go', 'go on', 'and on'];
    const work = bash(`echo more >> ${file}`);
    const forgetful = await runClaude(world, { turns: [work, say('1'), say('2'), say('3')] }, { prompts });
    const tidy = await runClaude(
      world,
      { turns: [write(`${file}.new`, 'x\n'), bash(WRITE_NOTE), say('1'), say('2'), say('3')] },
      { prompts },
    );
    for (const run of [forgetful, tidy]) {
      expectHealthy(run);
      expect(run.hooks.filter(({ event }) => event === 'Stop')).toHaveLength(3);
    }
    expect(nudges(forgetful)).toHaveLength(1);
    expect(nudges(forgetful)[0]).toContain('with 1 uncommitted file and no note. Tell it: "leave a handoff"');
    expect(nudges(tidy)).toEqual([]);
  });

  it('is recorded as ended when it ends', async () => {
    const world = await createInstalledWorld();
    const run = await runClaude(world, { turns: [bash('git handoff sessions --json'), say('done')] });
    expectHealthy(run);
    const during = run.conversation.toolResults()[0]?.output ?? '';
    expect(recordIn(during, run.session)).toMatchObject({ client: 'claude', liveness: 'live', ended: null });
    const after = recordIn(await world.output('git handoff sessions --all --json'), run.session);
    expect(after).toMatchObject({ client: 'claude', liveness: 'ended' });
    expect(after['ended']).not.toBeNull();
  });

  it('continues after /clear as the owner of its notes', async () => {
    const world = await createInstalledWorld();
    const script = { turns: [bash(WRITE_NOTE), say('done'), bash(WRITE_NOTE), say('done')] };
    const run = await runClaude(world, script, { prompts: ['go', '/clear', 'go'] });
    expectHealthy(run);
    const [first, second] = run.sessions;
    expect(run.sessions).toHaveLength(2);
    expect(run.conversation.toolResults()).toMatchObject([{ failed: false }, { failed: false }]);
    const trailers = await world.output(
      `git log -1 --format='%(trailers:key=Claude-Session-Id,key=Handoff-Succeeds,valueonly)' refs/handoffs/${TOPIC}`,
    );
    expect(trailers.trim().split('\n').sort()).toEqual([first, second].sort());
  });
});
