import { expect, it } from 'vitest';
import { short } from '../support/client/expectations.ts';
import { CLAUDE_HANDS, CODEX_HANDS, GEMINI_HANDS, type Hands } from '../support/client/hands.ts';
import { bothEnded, historyOf, sharedWorld } from '../support/client/sharing.ts';
import { createGates } from '../support/model/gates.ts';
import { say } from '../support/model/script.ts';

const PAIRS: readonly [string, Hands, Hands][] = [
  ['Codex waits for Claude Code', CLAUDE_HANDS, CODEX_HANDS],
  ['Claude Code waits for Codex', CODEX_HANDS, CLAUDE_HANDS],
  ['Claude Code waits for Gemini CLI', GEMINI_HANDS, CLAUDE_HANDS],
];
const SETTLE = "git handoff commit -m '<message>' -- a.txt";

/** A has changed a file, so B may not change it. A continues with other work, commits what B asked for, and B continues. */
it.each(PAIRS)(
  'a session in the way hears of the request and commits, and the other continues: %s',
  async (_, first, second) => {
    const world = await sharedWorld([first, second]);
    const gates = createGates();
    const byA = { from: 'hello', to: 'hello of A' };
    const byB = { from: byA.to, to: 'hello of B' };
    const refused = second.change(world, 'a.txt', byB, { opens: 'B is there', waitsFor: 'A has written' });
    const [a, b] = await bothEnded(
      first.run(
        world,
        {
          turns: [
            ...first.change(world, 'a.txt', byA, { opens: 'A is there', waitsFor: 'B is there' }),
            first.shell('node --version', { opens: 'A has written', waitsFor: 'B was refused' }),
            first.shell(SETTLE),
            first.shell('node --version', { opens: 'A has committed', waitsFor: 'B has written' }),
            say('done'),
          ],
        },
        gates,
      ),
      second.run(
        world,
        {
          turns: [
            ...refused,
            ...second.change(world, 'a.txt', byB, { opens: 'B was refused', waitsFor: 'A has committed' }),
            say('done', { opens: 'B has written' }),
          ],
        },
        gates,
      ),
    );
    expect(b.outputs[refused.length - 1], world.guardLog()).toContain(
      `${short(a.session)} changed it just now`,
    );
    expect(a.requests, world.guardLog()).toEqual([
      expect.stringContaining(`${second.client} ${short(b.session)} wants to edit a.txt`),
    ]);
    expect(a.requests[0]).toContain(SETTLE);
    expect(b.requests).toEqual([]);
    expect(await historyOf(world)).toMatchObject([{ paths: ['a.txt'], sessions: [a.session] }]);
    expect(await world.output('cat a.txt')).toBe('hello of B');
  },
  60_000,
);
