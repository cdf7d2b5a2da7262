import { unfinishedOperation } from '../../git/operations.ts';
import { mayGoAround, mayHitUnnamed } from '../../shell/git-verbs.ts';
import { changesTree } from '../../shell/tree-verbs.ts';
import type { Call, TreeCall } from '../call.ts';
import { window } from '../effects/open-window.ts';
import { rescue } from '../effects/save-first.ts';
import type { AnalysedFacts, CommandFacts } from '../facts.ts';
import type { Check } from '../judge.ts';
import { branchMove } from './branch-move.ts';
import { contention } from './contention.ts';
import { handoffFilesOfCommand } from './handoff-files.ts';
import { handoffRefs } from './handoff-refs.ts';
import { identity } from './identity.ts';
import { ignoredFiles } from './ignored-files.ts';
import { openConflict } from './open-conflict.ts';
import { pastHooks } from './past-hooks.ts';
import { personsVerb } from './persons-verb.ts';
import { rawCommit } from './raw-commit.ts';
import { stash } from './stash.ts';
import { strictHead } from './strict-head.ts';
import { treeVerb } from './tree-verb.ts';
import { unnamedChanges } from './unnamed-changes.ts';
import { worktreeRemoval } from './worktree-removal.ts';

/** The checks of a command wherever it runs, in this order. No bypass lifts a refusal by the first two. */
export const COMMANDS_ANYWHERE: readonly Check<Call, AnalysedFacts>[] = [
  { rule: 'identity', when: (_, { isOn, effects }) => isOn && effects.identity.length > 0, judge: identity },
  { rule: 'persons-verb', when: (_, { effects }) => effects.handoffCalls.length > 0, judge: personsVerb },
  { rule: 'handoff-files', when: (_, { effects }) => effects.paths.length > 0, judge: handoffFilesOfCommand },
  { rule: 'handoff-refs', when: (_, { effects }) => effects.refs.length > 0, judge: handoffRefs },
];

/** The checks of a command in each worktree that it touches, in this order. */
export const COMMANDS_IN_TREE: readonly Check<TreeCall, CommandFacts>[] = [
  {
    rule: 'worktree-removal',
    when: (_, facts) => facts.isFirst && (removes(facts) || runs(facts, REMOVING)),
    judge: worktreeRemoval,
  },
  { rule: 'branch-move', when: (_, facts) => facts.isFirst && runs(facts, MOVING), judge: branchMove },
  { rule: 'stash', when: (_, facts) => facts.isFirst && runs(facts, ['stash']), judge: stash },
  { rule: 'past-hooks', when: (_, { effects }) => mayGoAround(effects), judge: pastHooks },
  {
    rule: 'open-conflict',
    when: ({ tree }, facts) => mayClaim(facts) && unfinishedOperation(tree.gitDir) !== undefined,
    judge: openConflict,
  },
  {
    rule: 'contention',
    when: ({ settings }, facts) => settings.contention !== 'off' && mayClaim(facts),
    judge: contention,
  },
  {
    rule: 'raw-commit',
    when: ({ dialect }, facts) => !dialect.runsGitHooks && mayClaim(facts) && runs(facts, ['commit']),
    judge: rawCommit,
  },
  {
    rule: 'unnamed-changes',
    when: (_, facts) => mayClaim(facts) && mayHitUnnamed(facts.effects),
    judge: unnamedChanges,
  },
  {
    rule: 'ignored-files',
    when: (_, facts) => mayClaim(facts) && runs(facts, ['clean']),
    judge: ignoredFiles,
  },
  { rule: 'tree-verb', when: (_, facts) => mayClaim(facts) && resets(facts), judge: treeVerb },
  { rule: 'strict-head', when: ({ settings }) => settings.headCheck === 'strict', judge: strictHead },
  { rule: 'open-window', when: (_, facts) => mayClaim(facts), judge: window },
  {
    rule: 'save-first',
    when: (_, facts) => facts.isFirst && (removes(facts) || resets(facts)),
    judge: rescue,
  },
];

const REMOVING = ['worktree', 'clean'];
const MOVING = ['branch', 'reset', 'switch', 'checkout', 'update-ref', 'worktree'];

/** Whether the command may change something, and the session keeps a ledger here. */
const mayClaim = ({ looks }: CommandFacts) => looks.forLedger !== undefined;

const runs = ({ effects }: CommandFacts, verbs: readonly string[]) =>
  effects.gitCalls.some(({ verb }) => verbs.includes(verb));

const resets = ({ effects }: CommandFacts) => effects.gitCalls.some(({ verb }) => changesTree(verb));

const removes = ({ effects }: CommandFacts) => effects.paths.some(({ kind }) => kind === 'remove');
