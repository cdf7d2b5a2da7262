import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolCall } from '../../../../src/agents/dialect.ts';
import { putBeginner } from '../../../../src/changes/operations.ts';
import type { WorkPlace } from '../../../../src/changes/windows.ts';
import type { SessionId } from '../../../../src/domain/names.ts';
import { unfinishedOperation } from '../../../../src/git/operations.ts';
import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import { FILES_IN_TREE } from '../../../../src/guard/checks/of-files.ts';
import { NOW, PEER, SELF, THIRD, oid, refuses, table, tells } from '../../../support/guard-table.ts';

/** A merge that a session began an hour ago, with `src/a.ts` in conflict. */
const mergeOf = (session: SessionId) => ({
  git: { unmerged: () => Promise.resolve(['src/a.ts']) },
  arrange: (place: WorkPlace) => {
    const { gitDir } = place;
    const file = join(gitDir, 'MERGE_HEAD');
    writeFileSync(file, `${oid(3)}\n`);
    utimesSync(file, (NOW - 3600_000) / 1000, (NOW - 3600_000) / 1000);
    const operation = unfinishedOperation(gitDir);
    if (operation !== undefined) putBeginner(place, session, operation);
  },
});
const write = (path: string): { tool: ToolCall } => ({ tool: { kind: 'write', path, content: '' } });
const refused = [
  refuses(['session bbbbbbbb began a merge here 1 hour ago', 'src/a.ts', 'Nothing was changed']),
];

table(FILES_IN_TREE, 'open-conflict', [
  ['a peer’s conflict is written to', { ...write('src/a.ts'), ...mergeOf(PEER) }, refused],
  ['another path is', { ...write('src/b.ts'), ...mergeOf(PEER) }, []],
  ['one’s own conflict is', { ...write('src/a.ts'), ...mergeOf(SELF) }, []],
  ['that of a session that is over is', { ...write('src/a.ts'), ...mergeOf(THIRD) }, []],
  [
    'contention only warns',
    { ...write('src/a.ts'), ...mergeOf(PEER), settings: { contention: 'warn' } },
    [tells('git-handoff: session bbbbbbbb', 'src/a.ts')],
  ],
  ['contention is off', { ...write('src/a.ts'), ...mergeOf(PEER), settings: { contention: 'off' } }, []],
  ['nobody began anything', write('src/a.ts'), []],
]);
table(COMMANDS_IN_TREE, 'open-conflict', [
  ['a command writes to a peer’s conflict', { command: 'echo x >src/a.ts', ...mergeOf(PEER) }, refused],
  ['it removes the folder around it', { command: 'rm -r src', ...mergeOf(PEER) }, refused],
  ['it makes it executable', { command: 'chmod +x src/a.ts', ...mergeOf(PEER) }, refused],
  ['it writes elsewhere', { command: 'echo x >src/b.ts', ...mergeOf(PEER) }, []],
  ['one’s own conflict is written to', { command: 'echo x >src/a.ts', ...mergeOf(SELF) }, []],
]);
