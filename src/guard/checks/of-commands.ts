import { unfinishedOperation } from '../../git/operations.ts';
import { mayGoAround, mayHitUnnamed } from '../../shell/git-verbs.ts';
import { changesTree } from '../../shell/tree-verbs.ts';
import type { Call, TreeCall } from '../call.ts';
import { window } from '../effects/open-window.ts';
import { rescue } from '../effects/save-first.ts';
import type { AnalysedFacts, CommandFacts } from '../facts.ts';
import type { Check } from '../judge.ts';
import { branchMove } from './branch-move.ts';
import { contentionOfCommand } from './contention-of-command.ts';
import { handoffFilesOfCommand } from './handoff-files.ts';
import { handoffRefs } from './handoff-refs.ts';
import { identity } from './identity.ts';
import { ignoredFiles } from './ignored-files.ts';
import { openConflictOfCommand } from './open-conflict.ts';
import { pastHooks } from './past-hooks.ts';
import { personsVerb } from './persons-verb.ts';
import { rawCommit } from './raw-commit.ts';
import { stash } from './stash.ts';
import { strictHead } from './strict-head.ts';
import { treeVerb } from './tree-verb.ts';
import { unnamedChanges } from './unnamed-changes.ts';
import { worktreeRemoval } from './worktree-removal.ts';

/** The checks of a command wherever it runs, in this order: first those whose refusals no bypass lifts. */
export const COMMANDS_ANYWHERE: readonly Check<Call, AnalysedFacts>[] = [
  {
    rule: 'identity',
    when: (_, { isOn, effects }) => isOn && effects.identity.length > 0,
    judge: identity,
  },
  {
    rule: 'persons-verb',
    when: (_, { effects }) => effects.handoffCalls.length > 0,
    judge: personsVerb,
  },
  {
    rule: 'handoff-files',
    when: (_, { effects }) => effects.paths.length > 0,
    judge: handoffFilesOfCommand,
  },
  {
    rule: 'handoff-refs',
    when: (_, { effects }) => effects.refs.length > 0,
    judge: handoffRefs,
  },
];

/** The checks of a command in each worktree that it touches, in this order. */
export const COMMANDS_IN_TREE: readonly Check<TreeCall, CommandFacts>[] = [
  {
    rule: 'worktree-removal',
    when: (_, { isFirst, effects }) => isFirst && (removes(effects) || has(effects, REMOVING)),
    judge: worktreeRemoval,
  },
  {
    rule: 'branch-move',
    when: (_, { isFirst, effects }) => isFirst && has(effects, MOVING),
    judge: branchMove,
  },
  {
    rule: 'stash',
    when: (_, { isFirst, effects }) => isFirst && has(effects, STASHING),
    judge: stash,
  },
  {
    rule: 'past-hooks',
    when: (_, { effects }) => mayGoAround(effects),
    judge: pastHooks,
  },
  {
    rule: 'open-conflict',
    when: ({ tree }, { looks }) =>
      looks.forLedger !== undefined && unfinishedOperation(tree.gitDir) !== undefined,
    judge: openConflictOfCommand,
  },
  {
    rule: 'contention-of-command',
    when: ({ settings }, { looks }) => settings.contention !== 'off' && looks.forLedger !== undefined,
    judge: contentionOfCommand,
  },
  {
    rule: 'raw-commit',
    when: ({ dialect }, { looks, effects }) =>
      !dialect.runsGitHooks && looks.forLedger !== undefined && has(effects, COMMITTING),
    judge: rawCommit,
  },
  {
    rule: 'unnamed-changes',
    when: (_, { looks, effects }) => looks.forLedger !== undefined && mayHitUnnamed(effects),
    judge: unnamedChanges,
  },
  {
    rule: 'ignored-files',
    when: (_, { looks, effects }) => looks.forLedger !== undefined && has(effects, CLEANING),
    judge: ignoredFiles,
  },
  {
    rule: 'tree-verb',
    when: (_, { looks, effects }) =>
      looks.forLedger !== undefined && effects.gitCalls.some(({ verb }) => changesTree(verb)),
    judge: treeVerb,
  },
  {
    rule: 'strict-head',
    when: ({ settings }) => settings.headCheck === 'strict',
    judge: strictHead,
  },
  {
    rule: 'open-window',
    when: (_, { looks }) => looks.forLedger !== undefined,
    judge: window,
  },
  {
    rule: 'save-first',
    when: (_, { isFirst, effects }) =>
      isFirst && (removes(effects) || effects.gitCalls.some(({ verb }) => changesTree(verb))),
    judge: rescue,
  },
];

const REMOVING = ['worktree', 'clean'];
const MOVING = ['branch', 'reset', 'switch', 'checkout', 'update-ref', 'worktree'];
const STASHING = ['stash'];
const COMMITTING = ['commit'];
const CLEANING = ['clean'];

function has({ gitCalls }: CommandFacts['effects'], verbs: readonly string[]): boolean {
  return gitCalls.some(({ verb }) => verbs.includes(verb));
}

function removes({ paths }: CommandFacts['effects']): boolean {
  return paths.some(({ kind }) => kind === 'remove');
}
