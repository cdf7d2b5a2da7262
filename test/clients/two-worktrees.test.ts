import { appendFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { short } from '../support/client/expectations.ts';
import { CLAUDE_HANDS, CODEX_HANDS, type HandRun } from '../support/client/hands.ts';
import { bothEnded, sharedWorld } from '../support/client/sharing.ts';
import type { World } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { say } from '../support/model/script.ts';

/** Claude Code changes a.txt, and then Codex changes `file` in another worktree. */
async function play(file: string): Promise<{ world: World; there: World; a: HandRun; b: HandRun }> {
  const world = await sharedWorld([CLAUDE_HANDS, CODEX_HANDS]);
  const there = { ...world, repository: `${world.root}/other` };
  await world.output(`echo hello >b.txt && git add b.txt && git commit --quiet --message=more`);
  await world.output(`git worktree add --quiet -b topic '${there.repository}'`);
  const trusted = `\n[projects.${JSON.stringify(there.repository)}]\ntrust_level = "trusted"\n`;
  appendFileSync(`${world.home}/.codex/config.toml`, trusted);
  const gates = createGates();
  const byA = { from: 'hello', to: 'hello of A' };
  const byB = { from: 'hello', to: 'hello of B' };
  const [a, b] = await bothEnded(
    CLAUDE_HANDS.run(
      world,
      {
        turns: [
          ...CLAUDE_HANDS.change(world, 'a.txt', byA, { opens: 'A is there', waitsFor: 'B is there' }),
          CLAUDE_HANDS.shell('node --version', { opens: 'A has written', waitsFor: 'B has written' }),
          say('done', { opens: 'A is over', waitsFor: 'B is over' }),
        ],
      },
      gates,
    ),
    CODEX_HANDS.run(
      there,
      {
        turns: [
          CODEX_HANDS.shell('node --version', { opens: 'B is there', waitsFor: 'A has written' }),
          ...CODEX_HANDS.change(there, file, byB, {}),
          CODEX_HANDS.shell('node --version', { opens: 'B has written', waitsFor: 'A has written' }),
          say('done', { opens: 'B is over', waitsFor: 'A is over' }),
        ],
      },
      gates,
    ),
  );
  return { world, there, a, b };
}

it('Codex hears with its first edit that Claude Code has changed the same lines in another worktree', async () => {
  const { world, there, a, b } = await play('a.txt');
  expect(b.overlaps, world.guardLog()).toEqual([
    expect.stringMatching(
      `a.txt is also changed in ${world.repository} \\(branch main\\), where claude ${short(a.session)} works: not committed.`,
    ),
  ]);
  expect(b.overlaps[0]).toContain('It conflicts with yours.');
  expect(a.overlaps).toEqual([]);
  const { status, stdout } = await there.shell(
    `cd '${there.repository}' && git handoff overlap '${world.repository}'`,
  );
  expect(status).toBe(1);
  expect(stdout).toContain('conflict  a.txt');
});

it('sessions in two worktrees that change different files hear nothing', async () => {
  const { a, b } = await play('b.txt');
  expect([a.overlaps, b.overlaps, a.requests, b.requests]).toEqual([[], [], [], []]);
});
