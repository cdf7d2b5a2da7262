import type { ToolCall } from '../../../../src/agents/dialect.ts';
import type { WorkPlace } from '../../../../src/changes/windows.ts';
import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import { FILES_IN_TREE } from '../../../../src/guard/checks/of-files.ts';
import {
  NOW,
  PEER,
  SELF,
  THIRD,
  asks,
  claim,
  does,
  refuses,
  table,
  tells,
} from '../../../support/guard-table.ts';
import { beat } from '../../../../src/host/folders.ts';
import { processTable } from '../../../../src/host/processes.ts';
import { appendEvents } from '../../../../src/sessions/journal.ts';

const write = (path = 'src/a.ts'): { tool: ToolCall } => ({ tool: { kind: 'write', path, content: '' } });
const settle = does('judged');
const byPeer = { ledgers: { [PEER]: ['src/a.ts'] } };
const byAgent = { ledgers: { [SELF]: [claim('src/a.ts', { agent: 'one' })] } };

/** Records this process for the peer. */
const runsAs = (pid: number) => (place: WorkPlace) => {
  const start = processTable().runningSince(pid) ?? '';
  appendEvents(place, PEER, [{ t: 'registered', pid, start, at: NOW }]);
};

table(FILES_IN_TREE, 'contention', [
  [
    'a peer has changed the file',
    { ...write(), ...byPeer },
    [
      settle,
      refuses([
        'src/a.ts: session bbbbbbbb changed it 3 minutes ago and has not committed it. Nothing was changed.',
        'session bbbbbbbb will be told. Work on something else, and try again later. If you cannot go on without it, ask the user.',
      ]),
    ],
  ],
  [
    'its owner is asked for what it has changed',
    { ...write(), ...byPeer },
    [settle, refuses('src/a.ts', { asked: asks('edit', 'src/a.ts') })],
  ],
  [
    'the peer waits for its user',
    {
      ...write(),
      ...byPeer,
      peers: [{ session: PEER, isAtWork: false }],
      arrange: ({ commonDir }) => beat(commonDir, PEER, 'stop'),
    },
    [
      settle,
      refuses([
        'has not committed it. session bbbbbbbb went idle',
        'Nothing was changed.',
        'If the user wants you to take over that change: git handoff take -- src/a.ts',
      ]),
    ],
  ],
  ['it has changed another', { ...write('src/b.ts'), ...byPeer }, []],
  ['the session itself has', { ...write(), ledgers: { [SELF]: ['src/a.ts'] } }, []],
  ['the peer has changed it back since', { ...write(), ...byPeer, dirty: [] }, [settle]],
  [
    'the peer is no longer live: what it left is kept first',
    { ...write(), ledgers: { [THIRD]: ['src/a.ts'] } },
    [settle, does('allowed')],
  ],
  [
    'the peer is no longer live, and may not have changed it',
    { ...write(), ledgers: { [THIRD]: [claim('src/a.ts', { weak: true })] } },
    [settle],
  ],
  [
    'two peers have',
    { ...write(), peers: [PEER, THIRD], ledgers: { [PEER]: ['src/a.ts'], [THIRD]: ['src/a.ts'] } },
    [settle, refuses(['session bbbbbbbb', 'session cccccccc'], { owners: [PEER, THIRD] })],
  ],
  [
    'it changed while the peer worked alone',
    { ...write(), ledgers: { [PEER]: [claim('src/a.ts', { evidence: 'since-start' })] } },
    [settle, refuses('src/a.ts: session bbbbbbbb or the user changed it and has not committed it')],
  ],
  [
    'it may have been the peer, or not',
    { ...write(), ledgers: { [PEER]: [claim('src/a.ts', { weak: true })] } },
    [settle, tells('while a command of session bbbbbbbb ran: that session or another one changed it')],
  ],
  [
    'contention only warns',
    { ...write(), ...byPeer, settings: { contention: 'warn' } },
    [settle, tells('git-handoff: src/a.ts: session bbbbbbbb')],
  ],
  ['contention is off', { ...write(), ...byPeer, settings: { contention: 'off' } }, []],
  [
    'a patch changes several files',
    {
      tool: {
        kind: 'patch',
        files: [
          { path: 'src/b.ts', change: 'add' },
          { path: 'src/a.ts', change: 'update' },
        ],
      },
      ...byPeer,
    },
    [settle, refuses('src/a.ts')],
  ],
  [
    'git does not say in time, and the peer’s process runs',
    {
      ...write(),
      ...byPeer,
      late: true,
      files: { 'src/a.ts': 'other\n' },
      arrange: runsAs(process.pid),
    },
    [refuses(['src/a.ts', 'git status did not finish in time'])],
  ],
  [
    'git does not say in time, and nobody knows that the peer is alive',
    { ...write(), ...byPeer, late: true },
    [],
  ],
  [
    'another sub-agent has changed it',
    { ...write(), ...byAgent, agent: 'two' },
    [tells('another sub-agent of this session (one)'), does('allowed')],
  ],
  ['the same sub-agent has', { ...write(), ...byAgent, agent: 'one' }, []],
  [
    'it was told of that before',
    {
      ...write(),
      agent: 'two',
      ledgers: {
        [SELF]: [
          claim('src/a.ts', { agent: 'one' }),
          { t: 'notified', ids: ['agent:src/a.ts:one:two'], at: 1 },
        ],
      },
    },
    [],
  ],
]);

const waiting = [settle, refuses(/src\/a\.ts: session bbbbbbbb changed it.*try again later(?!.*take)/)];
const leaving = [
  settle,
  refuses(/src\/a\.ts: session bbbbbbbb changed it.*Leave it alone until it is committed(?!.*take)/),
];

table(COMMANDS_IN_TREE, 'contention', [
  ['a command writes what a peer has changed', { command: 'echo x >src/a.ts', ...byPeer }, waiting],
  [
    'it edits it in place',
    { command: "sed -i 's/a/b/' src/a.ts", files: { 'src/a.ts': '' }, ...byPeer },
    waiting,
  ],
  ['it changes its mode', { command: 'chmod +x src/a.ts', ...byPeer }, waiting],
  ['it removes it', { command: 'rm src/a.ts', ...byPeer }, leaving],
  ['it removes the folder around it', { command: 'rm -r src', ...byPeer }, leaving],
  ['it removes the whole worktree', { command: 'rm -rf "$PWD"', ...byPeer }, leaving],
  ['it removes what only begins alike', { command: 'rm -r src/a.ts.orig', ...byPeer }, []],
  ['it writes elsewhere', { command: 'echo x >src/b.ts', ...byPeer }, []],
  [
    'it writes that path of another worktree',
    { command: 'echo x >../wt/src/a.ts', worktrees: { wt: 'topic' }, ...byPeer },
    [],
  ],
  ['it reads', { command: 'cat src/a.ts', ...byPeer }, []],
  ['contention is off', { command: 'echo x >src/a.ts', ...byPeer, settings: { contention: 'off' } }, []],
]);
