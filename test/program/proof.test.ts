import { expect, it } from 'vitest';
import { adapters } from '../../bench/proof/adapter.mjs';
import { play } from '../../bench/proof/play.mjs';
import { kinds } from '../../bench/proof/scenarios.mjs';
import { cell } from '../../bench/proof/table.mjs';

/** What each tool leaves of a scenario, as the table of docs/proof.md has it. */
async function rowOf(report: string): Promise<Record<string, string>> {
  const all = (await kinds()).flatMap(({ scenarios }) => scenarios);
  const scenario = all.find((one) => one.report === report);
  if (scenario === undefined) throw new Error(`no scenario ${report}`);
  const tools = await adapters();
  const cells: [string, string][] = [];
  for (const tool of tools) cells.push([tool.name, cell((await play(scenario, tool)).counts)]);
  return Object.fromEntries(cells);
}

it('shows a commit that takes another’s file, with every tool', async () => {
  expect(await rowOf('pjt222/agent-almanac#592')).toMatchObject({
    nothing: '1 mixed',
    worktrees: '-',
    'handoff-guard': '1 mixed',
    'git-handoff': '-',
  });
});

it('shows notes that overwrite each other, with every tool', async () => {
  expect(await rowOf('Digital-Process-Tools/claude-remember#614')).toMatchObject({
    nothing: '1 note',
    worktrees: '-',
    'handoff-guard': '-',
    'git-handoff': '-',
  });
});
