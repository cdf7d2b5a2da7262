import { COMMANDS_ANYWHERE } from '../../../../src/guard/checks/of-commands.ts';
import { PEER, SELF, refuses, table } from '../../../support/guard-table.ts';

const refused = (...words: string[]) => [refuses(words, { allowedBy: 'nobody', owners: undefined })];

table(COMMANDS_ANYWHERE, 'identity', [
  [
    'a command takes another session’s variable',
    { command: `export CLAUDE_CODE_SESSION_ID=${PEER}` },
    refused(
      'export changes CLAUDE_CODE_SESSION_ID, which tells git-handoff whose work this is',
      SELF.slice(0, 8),
    ),
  ],
  [
    'it switches the guard off',
    { command: 'GIT_HANDOFF=off git commit -m x' },
    refused('sets GIT_HANDOFF, which switches the guard off'),
  ],
  [
    'it calls itself another session',
    { command: `git handoff write a-note --session ${PEER} -m x` },
    refused(`--session ${PEER} names another session`),
  ],
  ['it says who it is', { command: `git handoff write a-note --session ${SELF} -m x` }, []],
  ['it says nothing of it', { command: 'git handoff write a-note -m x' }, []],
  [
    'git-handoff is switched on nowhere here',
    { command: `export CLAUDE_CODE_SESSION_ID=${PEER}`, facts: { isOn: false } },
    [],
  ],
]);
