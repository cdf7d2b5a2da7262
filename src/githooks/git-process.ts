import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type CommitWords, parseCommitWords } from '../shell/commit-words.ts';
import { commandLine, standardInput } from '../host/command-line.ts';
import { exists, readText } from '../host/disk.ts';
import { bypassFolder } from '../host/folders.ts';
import { ancestorsOf } from '../host/processes.ts';
import type { Context } from '../sessions/caller.ts';
import type { HookCall, HookPlace } from './hook-call.ts';

/** The git process that runs the hook: GIT_HANDOFF_GIT_PID, which the installed hook sets from its own parent. */

/** A hook of the user's own may stand between git and us. */
const MAX_BETWEEN = 4;

/** What the running `git commit` was told; `undefined` when it cannot be told. */
export function runningCommit(context: Context): CommitWords | undefined {
  const first = gitPid(context) ?? context.clientPid;
  for (const { pid } of ancestorsOf(first, context.processes()).slice(0, MAX_BETWEEN)) {
    const line = commandLine(pid);
    const words = line === undefined ? undefined : parseCommitWords(line.words, line.exact);
    if (words !== undefined) return words;
  }
  return undefined;
}

/** Where `git handoff commit` keeps the message for git, until that has ended. */
const OUR_MESSAGE = /^\/.*\/git-commit-\w{6}\/message$/;

/** The message of the running commit, where its `-F` cannot be typed again; else `undefined`. */
export function passingMessage(
  call: HookCall,
  place: HookPlace,
  words: CommitWords | undefined,
): string | undefined {
  const file = words?.file;
  if (file === '-') return typedMessage(call, place);
  return file !== undefined && OUR_MESSAGE.test(file) ? readText(file) || undefined : undefined;
}

/**
 * The message that the running `git commit -F -` is given: git reads it after its hook pre-commit, and hands it to
 * prepare-commit-msg in a file. `undefined` when it cannot be told.
 */
function typedMessage(call: HookCall, { commonDir }: HookPlace): string | undefined {
  const [file, source] = call.args;
  // What a person may have allowed goes on, and git needs it then.
  if (exists(bypassFolder(commonDir))) return undefined;
  if (call.name !== 'prepare-commit-msg') {
    const pid = gitPid(call);
    return pid === undefined ? undefined : standardInput(pid);
  }
  try {
    return source === 'message' && file !== undefined
      ? readFileSync(resolve(call.cwd, file), 'utf8')
      : undefined;
  } catch {
    return undefined;
  }
}

export function gitPid({ env }: Context): number | undefined {
  const pid = Number(env['GIT_HANDOFF_GIT_PID']);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}
