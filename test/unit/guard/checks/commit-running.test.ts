import { type WorkPlace, openWindow } from '../../../../src/changes/windows.ts';
import type { Oid, SessionId } from '../../../../src/domain/names.ts';
import { objectName } from '../../../../src/git/hash.ts';
import { FILES_IN_TREE } from '../../../../src/guard/checks/of-files.ts';
import { NOW, PEER, SELF, claim, table, tells } from '../../../support/guard-table.ts';

const edit = { tool: { kind: 'edit' as const, path: 'src/a.ts' } };
const MINE = 'mine\n';
const after = { mode: '100644', oid: objectName('sha1', 'blob', Buffer.from(MINE)) as Oid };
const mine = { ledgers: { [SELF]: [claim('src/a.ts', { after })] } };
/** A command of a session runs since a minute. */
const runs = (session: SessionId, commits = true) => ({
  arrange: (place: WorkPlace) => {
    const at = NOW - 60_000;
    openWindow(place, session, 'w', { head: { ref: 'HEAD', oid: null }, dirty: new Map(), at }, { commits });
  },
});
const EXPECTED = [
  tells(
    'src/a.ts is not as this session left it',
    'a commit by session bbbbbbbb is in progress (since 1 minute ago)',
  ),
];

table(FILES_IN_TREE, 'commit-running', [
  [
    'a peer’s commit has put one’s change aside',
    { ...edit, ...mine, ...runs(PEER), files: { 'src/a.ts': 'base\n' } },
    EXPECTED,
  ],
  ['it has removed the new file', { ...edit, ...mine, ...runs(PEER) }, EXPECTED],
  ['the change is there', { ...edit, ...mine, ...runs(PEER), files: { 'src/a.ts': MINE } }, []],
  ['one’s own commit runs', { ...edit, ...mine, ...runs(SELF) }, []],
  ['the peer runs something else', { ...edit, ...mine, ...runs(PEER, false) }, []],
  ['the session has changed nothing there', { ...edit, ...runs(PEER) }, []],
  ['nobody commits', { ...edit, ...mine }, []],
]);
