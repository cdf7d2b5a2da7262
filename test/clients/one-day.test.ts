import { describe, expect, it } from 'vitest';
import { short } from '../support/client/expectations.ts';
import {
  CLAUDE_HANDS,
  CODEX_HANDS,
  COPILOT_HANDS,
  GEMINI_HANDS,
  type HandRun,
  type Hands,
} from '../support/client/hands.ts';
import { commitAll, historyOf, messageOf, NEXT_COMMAND, sharedWorld } from '../support/client/sharing.ts';
import { type Gates, createGates } from '../support/model/gates.ts';
import { call, say, type Script, type Turn } from '../support/model/script.ts';
import type { World } from '../support/client/world.ts';

/** For each client, the turn that starts a sub-agent, and the turn that ends it. */
const DAY: readonly { hands: Hands; start: (prompt: string) => Turn; end?: Turn }[] = [
  {
    hands: CLAUDE_HANDS,
    start: (prompt) => {
      const input = { description: 'part', prompt, subagent_type: 'general-purpose' };
      return call('Agent', { ...input, run_in_background: false });
    },
  },
  {
    hands: CODEX_HANDS,
    start: (prompt) => ({
      tools: [
        {
          name: 'spawn_agent',
          namespace: 'multi_agent_v1',
          input: { message: prompt, agent_type: 'default' },
        },
      ],
    }),
  },
  {
    hands: GEMINI_HANDS,
    start: (prompt) => call('invoke_agent', { agent_name: 'generalist', prompt }),
    end: call('complete_task', { result: { response: 'done' } }),
  },
  {
    hands: COPILOT_HANDS,
    start: (prompt) => {
      const input = { agent_type: 'general-purpose', name: 'part', description: 'part', prompt };
      return call('task', { ...input, mode: 'sync' });
    },
  },
];
const NAMES = DAY.map(({ hands }) => hands.client);
const LAST = NAMES.at(-1) ?? '';

/** Opens a gate when all sessions have opened theirs. */
async function meet(gates: Gates, step: string): Promise<void> {
  await Promise.all(NAMES.map((name) => gates.wait(`${name} ${step}`)));
  gates.open(`all ${step}`);
}

/**
 * All sessions are there before the first changes anything. Each makes a file, and its sub-agent another. Then each in
 * turn tries to commit everything dirty, and each in turn types what it was told.
 */
function scriptOf(world: World, { hands, start, end }: (typeof DAY)[number], index: number): Script {
  const me = hands.client;
  const before = NAMES[index - 1];
  const [made = say('')] = hands.create(world, `${me}.txt`, 'by the session');
  const prompt = `PART OF ${me.toUpperCase()}`;
  const part = hands.create(world, `${me}-part.txt`, 'by its agent');
  return {
    turns: [
      hands.shell('node --version', { opens: `${me} is there`, waitsFor: 'all is there' }),
      made,
      start(prompt),
      hands.shell('node --version', { waitsFor: `part of ${me} is made` }),
      hands.shell(commitAll(me), {
        opens: `${me} has written`,
        waitsFor: before === undefined ? 'all has written' : `${before} was refused`,
      }),
      hands.shell(NEXT_COMMAND, {
        opens: `${me} was refused`,
        waitsFor: before === undefined ? `${LAST} was refused` : `${before} has committed`,
      }),
      say('done', { opens: `${me} has committed`, waitsFor: `${LAST} has committed` }),
    ],
    agents: [
      {
        match: prompt,
        turns: [...part, { ...(end ?? say('made')), opens: `part of ${me} is made` }, say('over')],
      },
    ],
  };
}

describe('a day with Claude Code, Codex, Gemini CLI and Copilot CLI in one working tree', () => {
  it('leaves one clean commit of each, which includes its sub-agent’s work', async () => {
    const world = await sharedWorld(DAY.map(({ hands }) => hands));
    await world.output('git config handoff.assistedBy true');
    const gates = createGates();
    const running = DAY.map((one, index) => one.hands.run(world, scriptOf(world, one, index), gates));
    const steps = ['is there', 'has written'].map((step) => meet(gates, step));
    await Promise.allSettled([...running, ...steps]);
    const runs: HandRun[] = await Promise.all(running);

    runs.forEach(({ outputs, session }, index) => {
      const [refused = ''] = outputs.slice(-2);
      const others = runs.filter((run) => run.session !== session);
      // A refusal by the guard may name only the first session in the way.
      expect(
        others.some((run) => refused.includes(short(run.session))),
        `${NAMES[index]}: ${refused}`,
      ).toBe(true);
    });
    const history = await historyOf(world);
    const told = world.guardLog() + runs.map(({ outputs }) => outputs.slice(-2).join('\n')).join('\n');
    expect(
      history.map(({ paths, sessions, message }) => ({ paths, sessions, message })),
      told,
    ).toEqual(
      runs.map(({ session }, index) => ({
        paths: [`${NAMES[index]}-part.txt`, `${NAMES[index]}.txt`],
        sessions: [session],
        message: messageOf(NAMES[index] ?? ''),
      })),
    );
    expect(await world.output('git status --porcelain')).toBe('');
    expect((await world.shell('git handoff check')).status).toBe(0);
    const assisted = await world.output(
      "git log --reverse --format='%(trailers:key=Assisted-by,valueonly,separator=)'",
    );
    expect(assisted.split('\n').filter((line) => line !== '')).toContain('Codex:gpt-5.5');
  });
});
