import { COMMANDS_ANYWHERE } from '../../../../src/guard/checks/of-commands.ts';
import { refuses, table } from '../../../support/guard-table.ts';

const refused = [
  refuses('Only a person may run `git handoff allow`', { allowedBy: 'nobody', owners: undefined }),
];

table(COMMANDS_ANYWHERE, 'persons-verb', [
  ['a session allows itself a call', { command: 'git handoff allow --once' }, refused],
  ['it does so among other commands', { command: 'make; git-handoff allow' }, refused],
  ['it asks for help', { command: 'git handoff allow -h' }, []],
  ['it asks for help by the long option', { command: 'git handoff allow --help' }, []],
  ['it types another verb', { command: 'git handoff list' }, []],
]);
