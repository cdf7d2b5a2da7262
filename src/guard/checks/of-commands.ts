import { exists } from '../../host/disk.ts';
import { beginnersFile } from '../../host/folders.ts';
import { mayGoAround, mayHitUnnamed } from '../../shell/hook-ways.ts';
import { changesTree } from '../../shell/tree-verb-names.ts';
import type { Call, TreeCall } from '../call.ts';
import type { AnalysedFacts, CommandFacts } from '../facts.ts';
import type { Check } from '../judge.ts';
import { contentionOfCommand } from './contention-of-command.ts';
import { handoffFilesOfCommand } from './handoff-files.ts';

/** What a command is judged by, in this order: first what nobody can lift. */
export const COMMANDS_ANYWHERE: readonly Check<Call, AnalysedFacts>[] = [
  {
    rule: 'identity',
    when: (_, { isOn, effects }) => isOn && effects.identity.length > 0,
    load: async () => (await import('./identity.ts')).identity,
  },
  {
    rule: 'persons-verb',
    when: (_, { effects }) => effects.handoffCalls.length > 0,
    load: async () => (await import('./persons-verb.ts')).personsVerb,
  },
  {
    rule: 'handoff-files',
    when: (_, { effects }) => effects.paths.length > 0,
    load: () => handoffFilesOfCommand,
  },
  {
    rule: 'handoff-refs',
    when: (_, { effects }) => effects.refs.length > 0,
    load: async () => (await import('./handoff-refs.ts')).handoffRefs,
  },
  {
    rule: 'unseen-topic',
    when: ({ tree, event }, { effects }) =>
      tree !== undefined && event.agent !== undefined && effects.handoffCalls.length > 0,
    load: async () => (await import('./unseen-topic.ts')).unseenTopic,
  },
];

/** Then in each worktree that the command touches. */
export const COMMANDS_IN_TREE: readonly Check<TreeCall, CommandFacts>[] = [
  {
    rule: 'worktree-removal',
    when: (_, { isFirst, effects }) => isFirst && (removes(effects) || has(effects, REMOVING)),
    load: async () => (await import('./worktree-removal.ts')).worktreeRemoval,
  },
  {
    rule: 'branch-move',
    when: (_, { isFirst, effects }) => isFirst && has(effects, MOVING),
    load: async () => (await import('./branch-move.ts')).branchMove,
  },
  {
    rule: 'stash',
    when: (_, { isFirst, effects }) => isFirst && has(effects, STASHING),
    load: async () => (await import('./stash.ts')).stash,
  },
  {
    rule: 'past-hooks',
    when: (_, { effects }) => mayGoAround(effects),
    load: async () => (await import('./past-hooks.ts')).pastHooks,
  },
  {
    rule: 'open-conflict',
    when: ({ tree }, { looks }) => looks.forLedger !== undefined && exists(beginnersFile(tree.gitDir)),
    load: async () => (await import('./open-conflict.ts')).openConflictOfCommand,
  },
  {
    rule: 'contention-of-command',
    when: ({ settings }, { looks }) => settings.contention !== 'off' && looks.forLedger !== undefined,
    load: () => contentionOfCommand,
  },
  {
    rule: 'raw-commit',
    when: ({ dialect }, { looks, effects }) =>
      !dialect.runsGitHooks && looks.forLedger !== undefined && has(effects, COMMITTING),
    load: async () => (await import('./raw-commit.ts')).rawCommit,
  },
  {
    rule: 'unnamed-changes',
    when: (_, { looks, effects }) => looks.forLedger !== undefined && mayHitUnnamed(effects),
    load: async () => (await import('./unnamed-changes.ts')).unnamedChanges,
  },
  {
    rule: 'ignored-files',
    when: (_, { looks, effects }) => looks.forLedger !== undefined && has(effects, CLEANING),
    load: async () => (await import('./ignored-files.ts')).ignoredFiles,
  },
  {
    rule: 'tree-verb',
    when: (_, { looks, effects }) =>
      looks.forLedger !== undefined && effects.gitCalls.some(({ verb }) => changesTree(verb)),
    load: async () => (await import('./tree-verb.ts')).treeVerb,
  },
  {
    rule: 'strict-head',
    when: ({ settings }) => settings.headCheck === 'strict',
    load: async () => (await import('./strict-head.ts')).strictHead,
  },
  {
    rule: 'open-window',
    when: (_, { looks }) => looks.forLedger !== undefined,
    load: async () => (await import('../effects/open-window.ts')).window,
  },
  {
    rule: 'save-first',
    when: (_, { isFirst, effects }) =>
      isFirst && (removes(effects) || effects.gitCalls.some(({ verb }) => changesTree(verb))),
    load: async () => (await import('../effects/rescue/save-first.ts')).rescue,
  },
];

const REMOVING = ['worktree', 'clean'];
const MOVING = ['branch', 'reset', 'switch', 'checkout', 'update-ref'];
const STASHING = ['stash'];
const COMMITTING = ['commit'];
const CLEANING = ['clean'];

function has({ gitCalls }: CommandFacts['effects'], verbs: readonly string[]): boolean {
  return gitCalls.some(({ verb }) => verbs.includes(verb));
}

function removes({ paths }: CommandFacts['effects']): boolean {
  return paths.some(({ kind }) => kind === 'remove');
}
