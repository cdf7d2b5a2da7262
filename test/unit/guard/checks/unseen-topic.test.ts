import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkPlace } from '../../../../src/changes/work-place.ts';
import { COMMANDS_ANYWHERE } from '../../../../src/guard/checks/of-commands.ts';
import { SELF, oid, refuses, table } from '../../../support/guard-table.ts';

const ref = 'refs/handoffs/main/auth-refresh';
const git = {
  topic: (_: string, word: string) =>
    Promise.resolve(word === 'auth-refresh' ? { name: `main/${word}`, ref, oid: oid(2) } : undefined),
};
/** What the sub-agent saw when it last looked. */
const seen = (tips: Record<string, string>) => ({
  agent: 'helper',
  git,
  arrange: ({ commonDir }: WorkPlace) => {
    const folder = join(commonDir, 'handoff', 'agents');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${SELF}.helper.json`), JSON.stringify(tips));
  },
});
const write = { command: 'git handoff write auth-refresh -m done' };
const refused = [
  refuses(['main/auth-refresh moved since', 'git handoff show main/auth-refresh'], { owners: [] }),
];

table(COMMANDS_ANYWHERE, 'unseen-topic', [
  ['a sub-agent writes over a tip that it has not seen', { ...write, ...seen({ [ref]: oid(1) }) }, refused],
  ['it writes over a topic that came into being since', { ...write, ...seen({}) }, refused],
  ['it writes over the tip that it saw', { ...write, ...seen({ [ref]: oid(2) }) }, []],
  ['it writes another topic', { command: 'git handoff write a-note -m done', ...seen({}) }, []],
  ['it only reads', { command: 'git handoff show auth-refresh', ...seen({}) }, []],
  ['nobody knows what it saw', { ...write, agent: 'helper', git }, []],
  ['the session itself writes', { ...write, git, arrange: seen({}).arrange }, []],
]);
