import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { gemini } from '../../../../src/agents/gemini.ts';
import type { WorkPlace } from '../../../../src/changes/windows.ts';
import type { SettingEntry } from '../../../../src/domain/settings.ts';
import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import { PEER, type Situation, refuses, table } from '../../../support/guard-table.ts';

const CONFIG: SettingEntry[] = [['handoff.enabled', 'true']];
/** A repository with our hooks, in which they run. `seen` is the configuration that a call of git finds. */
const hooked = (command: string, seen: readonly SettingEntry[] | 'unknown' = CONFIG): Situation => ({
  command,
  config: CONFIG,
  files: {
    '.git/hooks/pre-commit': '#!/bin/sh\n# git-handoff\n',
    '.git/hooks/prepare-commit-msg': '#!/bin/sh\n# git-handoff\n',
    '.git/handoff/install.json': JSON.stringify({ files: [{ role: 'git-hook', path: '' }] }),
  },
  arrange: ({ commonDir }: WorkPlace) => {
    for (const hook of ['pre-commit', 'prepare-commit-msg']) chmodSync(join(commonDir, 'hooks', hook), 0o755);
  },
  git: {
    settings: (_, overrides) =>
      Promise.resolve(overrides === undefined ? CONFIG : seen === 'unknown' ? undefined : seen),
  },
});
const unchecked = (...words: string[]) => [
  refuses(['No hook of git-handoff would check this commit', ...words]),
];
const kept = (what: string) => [
  refuses([
    what,
    "would keep git-handoff's hooks from judging commits",
    'session bbbbbbbb is at work',
    'Nothing was changed',
  ]),
];
const there = { worktrees: { wt: 'topic' }, peers: [{ session: PEER, worktree: 'wt' }] };

table(COMMANDS_IN_TREE, 'past-hooks', [
  [
    'a commit is told another folder of hooks',
    hooked('git -c core.hooksPath=/dev/null commit -m x', [...CONFIG, ['core.hookspath', '/dev/null']]),
    unchecked(
      'it changes core.hooksPath',
      'session bbbbbbbb is at work in this worktree. Nothing was run.',
      'git handoff commit -m x',
    ),
  ],
  [
    'it is told that git-handoff is off',
    hooked('git -c handoff.enabled=false commit -m x', [['handoff.enabled', 'false']]),
    unchecked('it changes handoff.enabled'),
  ],
  [
    'it is told settings from a variable',
    hooked('GIT_CONFIG_PARAMETERS="$(settings)" git commit -m x', 'unknown'),
    unchecked(),
  ],
  ['it is told what changes nothing', hooked('git -c color.ui=false commit -m x'), []],
  ['the hooks run', hooked('git commit -m x'), []],
  ['--no-verify leaves one that looks', hooked('git commit --no-verify -m x'), []],
  [
    'the hooks are no longer executable',
    { ...hooked('git commit -m x'), arrange: () => undefined },
    unchecked('are missing, changed or not executable', 'git handoff commit -m x'),
  ],
  [
    'git-handoff is switched off',
    { ...hooked('git commit -m x'), config: [['handoff.enabled', 'false']] },
    unchecked('handoff.enabled is false'),
  ],
  [
    'core.hooksPath leads elsewhere',
    { ...hooked('git commit -m x'), config: [...CONFIG, ['core.hookspath', '/elsewhere']] },
    unchecked('core.hooksPath is /elsewhere'),
  ],
  [
    'a rebase goes on without them',
    { ...hooked('git rebase --continue'), arrange: () => undefined },
    unchecked("git handoff commit -m '<message>'"),
  ],
  ['init made no hooks', { command: 'git commit -m x', config: CONFIG }, []],
  [
    'the commit is made in a folder that nobody knows',
    { ...hooked('cd "$(some-tool)"; git commit -m x'), arrange: () => undefined },
    unchecked(),
  ],
  [
    'it is made there after a repository was',
    { ...hooked('d=$(some-tool); git init "$d"; cd "$d"; git commit -m x'), arrange: () => undefined },
    [],
  ],
  [
    'the client’s shell runs no hooks at all',
    { ...hooked('git commit -m x'), arrange: () => undefined, client: gemini },
    [],
  ],
  [
    'the peer works in another worktree',
    { ...hooked('git commit -m x'), arrange: () => undefined, ...there },
    [],
  ],
  ['the session is alone', { ...hooked('git commit -m x'), arrange: () => undefined, peers: [] }, []],
  [
    'a command switches git-handoff off',
    hooked('git config handoff.enabled false'),
    kept('`git config handoff.enabled`'),
  ],
  [
    'it moves the hooks',
    hooked('git config set core.hooksPath /elsewhere'),
    kept('`git config core.hooksPath`'),
  ],
  [
    'it does so for all repositories',
    hooked('git config --global core.hooksPath /elsewhere'),
    kept('`git config core.hooksPath`'),
  ],
  ['it sets what is set', hooked('git config handoff.enabled true'), []],
  ['it switches git-handoff on', { ...hooked('git config handoff.enabled true'), config: [] }, []],
  ['it unsets what is not set', hooked('git config --unset core.hooksPath'), []],
  ['it sets something else', hooked('git config user.name Ann'), []],
  ['it uninstalls git-handoff', hooked('git handoff uninstall --yes'), kept('`git handoff uninstall`')],
  ['it asks what that would do', hooked('git handoff uninstall --dry-run'), []],
  ['it removes a hook', hooked('rm .git/hooks/pre-commit'), kept('rm on')],
  ['it removes all hooks', hooked('rm -r .git/hooks'), kept('rm on')],
  ['it writes the configuration', hooked('echo >>.git/config'), kept('> on')],
  ['it takes a hook’s mode', hooked('chmod -x .git/hooks/pre-commit'), kept('a change of the mode of')],
  ['it gives a hook’s mode', hooked('chmod +x .git/hooks/pre-commit'), []],
  ['it gives a hook’s mode, and commits', hooked('chmod +x .git/hooks/pre-commit; git commit -m x'), []],
  ['it removes another hook', hooked('rm .git/hooks/post-merge'), []],
  ['it removes a hook, alone', { ...hooked('rm .git/hooks/pre-commit'), peers: [] }, []],
]);
