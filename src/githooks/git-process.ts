import { type CommitWords, parseCommitWords } from '../shell/commit-words.ts';
import { commandLine } from '../host/command-line.ts';
import { ancestorsOf, processTable } from '../host/processes.ts';
import type { Context } from '../sessions/caller.ts';

/** The git process that runs the hook: GIT_HANDOFF_GIT_PID, which the installed hook sets from its own parent. */

/** A hook of the user's own may stand between git and us. */
const MAX_BETWEEN = 4;

/** What the running `git commit` was told; `undefined` when it cannot be told. */
export function runningCommit(context: Context): CommitWords | undefined {
  const first = gitPid(context) ?? context.clientPid;
  for (const { pid } of ancestorsOf(first, processTable()).slice(0, MAX_BETWEEN)) {
    const line = commandLine(pid);
    const words = line === undefined ? undefined : parseCommitWords(line.words, line.exact);
    if (words !== undefined) return words;
  }
  return undefined;
}

export function gitPid({ env }: Context): number | undefined {
  const pid = Number(env['GIT_HANDOFF_GIT_PID']);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}
