import { expect, it } from 'vitest';
import type { ToolCall } from '../../../../src/agents/dialect.ts';
import { readLedger } from '../../../../src/sessions/journal.ts';
import type { WorkPlace } from '../../../../src/changes/windows.ts';
import { FILES_IN_TREE } from '../../../../src/guard/checks/of-files.ts';
import { SELF, does, judgedBy, table } from '../../../support/guard-table.ts';

const edit: { tool: ToolCall } = { tool: { kind: 'edit', path: 'src/a.ts' } };

table(FILES_IN_TREE, 'announce', [
  ['a file of this worktree is about to change', edit, [does('allowed')]],
  ['a file of no repository is', { tool: { kind: 'edit', path: '../../a.ts' } }, []],
  ['the session is alone', { ...edit, peers: [] }, []],
]);

it('says in the ledger what a file tool is about to write', async () => {
  let place: WorkPlace | undefined;
  const given = { ...edit, files: { 'src/a.ts': 'before\n' }, agent: 'one' };
  const found = await judgedBy(FILES_IN_TREE, 'announce', { ...given, arrange: (at) => (place = at) });
  for (const one of found) if (one.kind === 'do') expect(await one.run()).toEqual([]);
  if (place === undefined) throw new Error('there is no ledger');
  const { announced } = readLedger(place, SELF);
  expect([...announced]).toMatchObject([['src/a.ts', { agent: 'one' }]]);
});
