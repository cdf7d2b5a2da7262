import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import { dangers } from '../../../../src/guard/effects/save-first.ts';
import { does, situation, table } from '../../../support/guard-table.ts';

table(COMMANDS_IN_TREE, 'save-first', [
  ['a command may destroy something', { command: 'git reset --hard' }, [does('allowed')]],
  ['the session is alone', { command: 'git reset --hard', peers: [] }, [does('allowed')]],
  [
    'a command removes a worktree',
    { command: 'rm -rf ../wt', worktrees: { wt: 'topic' } },
    [does('allowed')],
  ],
  ['it does neither', { command: 'git status; make' }, []],
  ['it was judged in another worktree', { command: 'git reset --hard', facts: { isFirst: false } }, []],
]);

describe('what a command may destroy', () => {
  it.each<[string, string[]]>([
    ['git reset --hard', ['repo: git reset --hard']],
    ['git checkout -- src/a.ts', ['repo: git checkout -- src/a.ts']],
    ['git clean -fd', ['repo: git clean -fd']],
    ['git clean -fdx', ['repo: git clean -fdx, with what git ignores']],
    ['git stash', ['repo: git stash']],
    ['git stash push -- src/a.ts', []],
    ['git switch topic', ['repo: git switch topic']],
    ['git switch -c new', []],
    ['git checkout -b new', []],
    ['git checkout -qB new', []],
    ['git switch -c new topic', ['repo: git switch -c new topic']],
    ['git checkout -b new topic', ['repo: git checkout -b new topic']],
    ['git checkout -tb new', ['repo: git checkout -tb new']],
    ['git checkout -fb new', ['repo: git checkout -fb new']],
    ['git switch -f -c new', ['repo: git switch -f -c new']],
    ['git switch --orphan new', ['repo: git switch --orphan new']],
    ['git -C ../wt reset --hard; git reset --hard', ['wt: git reset --hard', 'repo: git reset --hard']],
    ['git reset --hard; git clean -fd', ['repo: git reset --hard']],
    ['git worktree remove --force ../wt', ['wt: git worktree remove']],
    ['rm -rf ../wt', ['wt: rm']],
    ['rm -rf src', []],
    ['git commit -m x', []],
  ])('%s', async (command, found) => {
    const { call, facts } = await situation({
      command,
      worktrees: { wt: 'topic' },
      files: { 'src/a.ts': '' },
    });
    const told = dangers(call, facts.effects).map(
      (one) =>
        `${basename(one.found.workTree)}: ${one.command}${one.ignored === undefined ? '' : ', with what git ignores'}`,
    );
    expect(told).toEqual(found);
  });
});
