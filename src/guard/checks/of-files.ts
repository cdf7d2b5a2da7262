import { realPath } from '../../host/disk.ts';
import { unfinishedOperation } from '../../git/operations.ts';
import { type Call, type TreeCall, toolPath, toolPaths } from '../call.ts';
import { announcement } from '../effects/announce.ts';
import type { CallFacts, FileFacts } from '../facts.ts';
import type { Check } from '../judge.ts';
import { contention } from './contention.ts';
import { handoffFiles } from './handoff-files.ts';
import { hookFiles } from './hook-files.ts';
import { openConflict } from './open-conflict.ts';
import { strictHead } from './strict-head.ts';

/** The checks of a file tool wherever its file is, in this order. */
export const FILES_ANYWHERE: readonly Check<Call, CallFacts>[] = [
  { rule: 'handoff-files', when: ({ settings }) => settings.enabled !== false, judge: handoffFiles },
  { rule: 'hook-files', when: (call) => call.session !== undefined && namesHook(call), judge: hookFiles },
];

/** The checks of a file tool in each worktree that has one of its files, in this order. */
export const FILES_IN_TREE: readonly Check<TreeCall, FileFacts>[] = [
  {
    rule: 'open-conflict',
    when: ({ tree }) => unfinishedOperation(tree.gitDir) !== undefined,
    judge: openConflict,
  },
  { rule: 'contention', when: ({ settings }) => settings.contention !== 'off', judge: contention },
  { rule: 'strict-head', when: ({ settings }) => settings.headCheck === 'strict', judge: strictHead },
  { rule: 'announce', when: (_, { touches }) => touches().length > 0, judge: announcement },
];

/** The names of our hooks and of git's configuration, in any folder. */
const HOOK_NAME = /\/(?:pre-commit|(?:prepare-)?commit-msg|pre-push)(?:\.legacy)?$|\/config(?:\.worktree)?$/;

/** Whether the tool names one of these files. Most calls name none of them, and skip the check. */
function namesHook(call: Call): boolean {
  const { tool = { kind: 'other' } } = call.event;
  return toolPaths(tool).some((path) => HOOK_NAME.test(realPath(toolPath(call, path), true)));
}
