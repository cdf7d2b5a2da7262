import path from 'node:path';
import { expect, it } from 'vitest';
import { runClaude } from '../support/client/claude.ts';
import { expectHealthy, short } from '../support/client/expectations.ts';
import { historyOf, NEXT_COMMAND } from '../support/client/sharing.ts';
import { bash, write } from '../support/client/tools.ts';
import { createInstalledWorld } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { call, say, type Turn } from '../support/model/script.ts';

const AGENTS = 10;
const numbers = Array.from({ length: AGENTS }, (_, n) => n);

/** The main agent starts all of them with one answer, as Claude Code's own instructions tell it. */
const start: Turn = {
  tools: numbers.map((n) => ({
    name: 'Agent',
    input: {
      description: 'part',
      prompt: `PART ${n}.`,
      subagent_type: 'general-purpose',
      run_in_background: false,
    },
  })),
};

it('ten sub-agents in one checkout edit, test and commit: each its own part, without touching that of a running one', async () => {
  const world = await createInstalledWorld();
  const file = (n: number) => path.join(world.repository, `part-${n % AGENTS}.txt`);
  const last = AGENTS - 1;
  const turns = (n: number): Turn[] => [
    write(file(n), `by ${n}\n`),
    bash(`test -f part-${n}.txt`, {
      opens: `${n} has written`,
      waitsFor: `${n === 0 ? 0 : n - 1} has written`,
    }),
    call('Read', { file_path: file(n + 1) }, { waitsFor: `${last} has written` }),
    write(file(n + 1), 'clobbered\n'),
    call(
      'Read',
      { file_path: file(n) },
      { opens: `${n} was refused`, waitsFor: `${n === 0 ? 0 : n - 1} was refused` },
    ),
    // No other agent runs a command now.
    ...(n === last ? [bash('git handoff status')] : []),
    bash(`git add -A && git commit -m 'part ${n}'`, {
      opens: n === last ? 'status was read' : `${n} is ready`,
      waitsFor: n === 0 ? 'status was read' : `${n - 1} has committed`,
    }),
    bash(n === last ? 'git log -1' : NEXT_COMMAND),
    say('done', { opens: `${n} has committed`, waitsFor: `${last} has committed` }),
  ];
  const script = {
    turns: [
      start,
      call('Read', { file_path: file(0) }),
      write(file(0), 'free again\n'),
      bash("git add -A && git commit -m 'the rest'"),
      say('done'),
    ],
    agents: numbers.map((n) => ({ match: `PART ${n}.`, turns: turns(n) })),
  };
  const run = await runClaude(world, script, { gates: createGates() });
  expectHealthy(run);
  const outputs = run.conversation.toolResults().map(({ output }) => output);
  const told = `${outputs.join('\n')}\n${world.guardLog()}`;
  const { session } = run;
  const name = new RegExp(`claude ${short(session)}/[0-9a-f]{4}`);
  const refused = outputs.filter((one) => /part-\d\.txt: .* changed it .* Nothing was changed/.test(one));
  expect(refused, told).toHaveLength(AGENTS);
  for (const one of refused) expect(one).toMatch(name);
  const status = outputs.find((one) => one.startsWith('Yours'));
  expect(status, told).toMatch(new RegExp(`Yours \\(${name.source}\\):`));
  expect(status?.match(new RegExp(`Of ${name.source} \\(live\\):`, 'g'))).toHaveLength(AGENTS - 1);
  expect(await historyOf(world), told).toMatchObject([
    ...numbers.map((n) => ({ paths: [`part-${n}.txt`], sessions: [session] })),
    { paths: ['part-0.txt'], sessions: [session] },
  ]);
  expect(await world.output('git show HEAD~1:part-0.txt && cat part-0.txt')).toBe('by 0\nfree again');
  expect(await world.output('git status --porcelain')).toBe('');
});
