import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { claude } from '../../../../src/agents/claude.ts';
import { gemini } from '../../../../src/agents/gemini.ts';
import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import { PEER, type Row, THIRD, judgedBy, refuses, table } from '../../../support/guard-table.ts';

/** A commit that is refused, with a hint of what to type instead. */
const typedAgain = (command: string, hint: RegExp): Row => [
  command,
  { command, client: gemini },
  [refuses(hint)],
];

table(COMMANDS_IN_TREE, 'raw-commit', [
  [
    'a peer is at work, and no hook runs in the client’s shell',
    { command: 'git commit -m x', client: gemini },
    [refuses(['No git hook runs', PEER.slice(0, 8), 'Nothing was run'])],
  ],
  [
    'several are',
    { command: 'git commit -m x', client: gemini, peers: [PEER, THIRD] },
    [refuses('session bbbbbbbb, session cccccccc', { owners: [PEER, THIRD] })],
  ],
  ['the session is alone', { command: 'git commit -m x', client: gemini, peers: [] }, []],
  ['the hooks run in its shell', { command: 'git commit -m x', client: claude }, []],
  ['it commits nothing', { command: 'git status', client: gemini }, []],
  [
    'it commits in another worktree',
    { command: 'git -C ../wt commit -m x', client: gemini, worktrees: { wt: 'topic' } },
    [],
  ],
  typedAgain(`git commit -m "it's done"`, /git handoff commit -m 'it'\\''s done'$/),
  typedAgain('git add src; git commit -m x', /git handoff commit -m x$/),
  typedAgain('git commit -am a -m b', /git handoff commit -m a -m b$/),
  typedAgain(`git commit -m 'what\n\nwhy'`, /git handoff commit -m 'what\n\nwhy'$/),
  typedAgain(
    `git commit -s '--author=A <a@b.c>' -m x`,
    /git handoff commit -m x --signoff --author='A <a@b.c>'$/,
  ),
  typedAgain('git commit -F message.txt', /git handoff commit -F \/.*\/repo\/message\.txt$/),
  typedAgain(
    'git commit -F x/git-commit-abcdef/message',
    /git handoff commit -F \/.*\/repo\/x\/git-commit-abcdef\/message$/,
  ),
  typedAgain('git commit --amend --no-edit', /git handoff commit --amend --no-edit$/),
  typedAgain('git commit --amend -m x', /git handoff commit --amend -m x$/),
  typedAgain('git commit', /git handoff commit -m '<message>'$/),
  typedAgain('git commit -m "$(fortune)"', /git handoff commit -m '<message>'$/),
  typedAgain('git commit -F -', /git handoff commit -m '<message>'$/),
]);

it('the hint keeps a message of several lines that git would have read from a pipe', async () => {
  const given = { command: `printf 'what\\n\\nwhy\\n' | git commit -F -`, client: gemini };
  const [found] = await judgedBy(COMMANDS_IN_TREE, 'raw-commit', given);
  const [, file = ''] = /-F (\S+)$/.exec(found?.kind === 'refuse' ? found.text : '') ?? [];
  expect(readFileSync(file, 'utf8')).toBe('what\n\nwhy\n');
});
