import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { short } from '../support/client/expectations.ts';
import {
  prepareQwen,
  qwenAgent,
  qwenEdit,
  qwenRead,
  qwenShell,
  qwenWrite,
  runQwen,
} from '../support/client/qwen.ts';
import { beginning, expectWell, outputs, recordIn } from '../support/client/run.ts';
import { historyOf } from '../support/client/sharing.ts';
import { createWorld, type World } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { say } from '../support/model/script.ts';

const TOPIC = 'main/auth-refresh';
const writeNote = (text: string): string => `printf '${text}\\n' | git handoff write ${TOPIC}`;

/** A world where somebody uses Qwen Code and has typed `git handoff init --client qwen`. */
async function qwenWorld(): Promise<World> {
  const world = await createWorld();
  onTestFinished(() => world.remove());
  prepareQwen(world);
  await world.output('git handoff init --yes --client qwen');
  return world;
}

describe('a Qwen Code session', () => {
  it('is recorded from its first call, continues under its id when resumed, and owns its sub-agents’ work', async () => {
    const world = await qwenWorld();
    const first = await runQwen(world, {
      turns: [qwenShell(`${writeNote('note')} && echo $QWEN_CODE_SESSION_ID`), say('done')],
    });
    expectWell(first);
    expect(outputs(first)[0]).toContain(first.session);
    const commit = 'git add -A && git commit --quiet --message=work';
    const second = await runQwen(
      world,
      {
        turns: [
          qwenAgent('SUB-AGENT: write b.txt'),
          qwenShell(writeNote('second note')),
          qwenShell(commit),
          say('done'),
          say('done'),
        ],
        agents: [
          {
            match: 'SUB-AGENT',
            turns: [qwenWrite(path.join(world.repository, 'b.txt'), 'b\n'), say('written'), say('written')],
          },
        ],
      },
      { resume: first.session },
    );
    expectWell(second);
    expect(second.session).toBe(first.session);
    expect(beginning(first)).not.toContain('auth-refresh');
    // In a resumed session, the earlier conversation comes first.
    const asked = JSON.stringify(second.conversation.requests.map(({ body }) => body));
    expect(asked).toMatch(/<qwen:session-start-context(?:(?!<\/qwen).)*auth-refresh/s);
    expect(outputs(second).join('\n'), world.guardLog()).not.toMatch(/refused|hint:/);
    expect(await historyOf(world)).toMatchObject([{ paths: ['b.txt'], sessions: [first.session] }]);
    const records = await world.output('git handoff sessions --all --json');
    // In print mode, Qwen Code reports no end.
    expect(recordIn(records, first.session)).toMatchObject({ client: 'qwen', liveness: 'dead' });
    expect(await world.output(`git handoff log ${TOPIC} | grep -c qwen`)).not.toBe('0');
  });

  it('may not change a file that another session has changed, not even through its sub-agent', async () => {
    const world = await qwenWorld();
    const gates = createGates();
    const file = path.join(world.repository, 'a.txt');
    const a = runQwen(
      world,
      {
        turns: [
          qwenRead(file),
          qwenEdit(file, 'hello', 'hello of A'),
          say('done', { opens: 'A has written', waitsFor: 'B is over' }),
        ],
      },
      { gates },
    );
    expect(await gates.wait('A has written')).toBe(true);
    const attempt = `echo gone > ${file}`;
    const b = await runQwen(world, {
      turns: [qwenShell(attempt), qwenAgent('SUB-AGENT: clobber'), say('done'), say('done')],
      agents: [{ match: 'SUB-AGENT', turns: [qwenShell(attempt), say('tried'), say('tried')] }],
    });
    gates.open('B is over');
    expectWell(await a);
    expectWell(b);
    const refusals = outputs(b).filter((text) => text.includes('will be told. Work on something else'));
    expect(refusals.length, world.guardLog()).toBe(2);
    for (const text of refusals) expect(text).toContain(short((await a).session));
    expect(readFileSync(file, 'utf8')).toBe('hello of A\n');
  });
});

describe('hooks in Qwen Code', () => {
  it('leave the person’s settings alone, are not noticed in a day of work, and are removed by uninstall', async () => {
    const world = await createWorld();
    onTestFinished(() => world.remove());
    prepareQwen(world);
    const settings = path.join(world.home, '.qwen', 'settings.json');
    const before = readFileSync(settings, 'utf8');
    await world.output('git handoff init --yes --client qwen');
    const parsed = (text: string) => JSON.parse(text.replace('// Mine.', '')) as Record<string, unknown>;
    const { hooks, ...others } = parsed(readFileSync(settings, 'utf8'));
    expect(hooks).toBeDefined();
    expect(others).toEqual(parsed(before));

    const file = path.join(world.repository, 'a.txt');
    const run = await runQwen(world, {
      turns: [
        qwenWrite(path.join(world.repository, 'b.txt'), 'b\n'),
        qwenRead(file),
        qwenEdit(file, 'hello', 'goodbye'),
        qwenShell('sed -i s/b/c/ b.txt && git status --short'),
        say('done'),
      ],
    });
    expectWell(run);
    expect(outputs(run).join('\n')).not.toMatch(/git handoff/);
    expect(readFileSync(file, 'utf8')).toBe('goodbye\n');
    expect(readFileSync(path.join(world.repository, 'b.txt'), 'utf8')).toBe('c\n');

    await world.output('git handoff uninstall --yes');
    expect(readFileSync(settings, 'utf8')).toBe(before);
  });
});
