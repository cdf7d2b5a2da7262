import { expect, it } from 'vitest';
import { adapters } from '../../bench/proof/adapter.mjs';
import { play } from '../../bench/proof/play.mjs';
import { kinds } from '../../bench/proof/scenarios.mjs';
import { cell } from '../../bench/proof/table.mjs';

/** What each tool loses in a scenario, as in the table of docs/proof.md. */
async function rowOf(report: string): Promise<Record<string, string>> {
  const all = (await kinds()).flatMap(({ scenarios }) => scenarios);
  const scenario = all.find((one) => one.report === report);
  if (scenario === undefined) throw new Error(`no scenario ${report}`);
  const tools = await adapters();
  const cells: [string, string][] = [];
  for (const tool of tools) cells.push([tool.name, cell((await play(scenario, tool)).counts)]);
  return Object.fromEntries(cells);
}

it('shows for every tool a commit that takes another’s file', async () => {
  expect(await rowOf('pjt222/agent-almanac#592')).toMatchObject({
    nothing: '1 mixed',
    worktrees: '-',
    'handoff-guard': '1 mixed',
    'git-handoff': '-',
  });
});

it('shows for every tool notes that overwrite each other', async () => {
  expect(await rowOf('Digital-Process-Tools/claude-remember#614')).toMatchObject({
    nothing: '1 note',
    worktrees: '-',
    'handoff-guard': '-',
    'git-handoff': '-',
  });
});
