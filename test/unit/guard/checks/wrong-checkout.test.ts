import { FILES_IN_TREE } from '../../../../src/guard/checks/of-files.ts';
import { table, tells } from '../../../support/guard-table.ts';

const worktrees = { wt: 'topic' };
const there = {
  tool: { kind: 'write' as const, path: '../wt/src/a.ts', content: '' },
  tree: '../wt',
  worktrees,
  facts: { isNew: true },
};

table(FILES_IN_TREE, 'wrong-checkout', [
  [
    'a session writes into another worktree for the first time',
    there,
    [
      tells(
        'src/a.ts is in another working tree',
        '/wt)',
        '/repo)',
        'this is the file of your own tree:',
        '/repo/src/a.ts',
      ),
    ],
  ],
  ['it has been there before', { ...there, facts: { isNew: false } }, []],
]);
