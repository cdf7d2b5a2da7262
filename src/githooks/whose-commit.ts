import { join, resolve } from 'node:path';
import { isRevertMessage } from '../domain/commit-message.ts';
import { type SessionId, namedSessions } from '../domain/names.ts';
import type { ProcessId } from '../domain/session.ts';
import { readBeginners } from '../changes/operations.ts';
import { type Operation, unfinishedOperation } from '../git/operations.ts';
import { commandLine, ancestorsOf } from '../host/processes.ts';
import { readText } from '../host/disk.ts';
import { knownWorktreeId } from '../host/folders.ts';
import { type Context, findSession } from '../sessions/caller.ts';
import { listSessions } from '../sessions/records.ts';
import { loneProcess } from '../sessions/lone-session.ts';
import { type CommitWords, parseCommitWords } from '../shell/commit-words.ts';
import { type HookCall, type StartedHook, settingsOf } from './hook-call.ts';

/**
 * Whether we check a commit: yes, unless a session that works here alone makes it. A commit that git makes from existing ones
 * (merge, rebase, cherry-pick, revert, am) is checked only if git has stopped or another session began the operation.
 */
export function mustCheck(call: HookCall): boolean {
  const { gitDir } = call;
  const isLone = isLoneCommit(call);
  const operation = unfinishedOperation(gitDir);
  if (operation !== undefined) {
    if (mayBeOthers(call, operation, isLone)) return true;
    return !isLone && (isPreCommit(call) || isCommitCommand(call));
  }
  const [, source] = call.args;
  if (source === 'merge' || isLone) return false;
  return isPreCommit(call) || !isReverting(gitDir) || isCommitCommand(call);
}

/** git runs pre-commit only for commits that somebody makes, but prepare-commit-msg also for each commit that it picks. */
const isPreCommit = ({ name }: HookCall) => name === 'pre-commit';

/** True while git makes new commits from existing ones: they keep the session ids that they have. */
export function isReplaying(gitDir: string): boolean {
  const operation = unfinishedOperation(gitDir);
  return (operation !== undefined && operation.name !== 'merge') || isReverting(gitDir);
}

const isReverting = (gitDir: string) => isRevertMessage(readText(join(gitDir, 'MERGE_MSG')));

/** Whether a lone session makes this commit: the environment names only it, or names no session and its client runs git. */
function isLoneCommit(call: HookCall): boolean {
  const lone = loneProcess(call.gitDir);
  if (lone === undefined) return false;
  return isOnlyNamed(call, lone.session) || (!isAnyNamed(call) && isAncestor(call, lone.process));
}

/** Whether another session may have begun the unfinished operation: a record says so, or another session works here alone. */
function mayBeOthers(call: HookCall, operation: Operation, isLone: boolean): boolean {
  const { gitDir, commonDir } = call;
  const worktreeId = knownWorktreeId(gitDir);
  const beginners = readBeginners(
    worktreeId === undefined ? undefined : { commonDir, worktreeId },
    operation,
  );
  if (beginners.length > 0) return !beginners.some((session) => isOnlyNamed(call, session));
  return !isLone && loneProcess(gitDir) !== undefined;
}

const named = ({ env }: HookCall) => namedSessions((name) => env[name]);

const isAnyNamed = (call: HookCall) => named(call).length > 0;

/** Whether the environment names this session and no other; a client may use several variables. */
function isOnlyNamed(call: HookCall, session: SessionId): boolean {
  return isAnyNamed(call) && named(call).every((one) => one === session);
}

function isAncestor(call: HookCall, process: ProcessId | undefined): boolean {
  if (process === undefined) return false;
  const ancestors = ancestorsOf(gitPid(call) ?? call.clientPid, call.processes());
  return ancestors.some(({ pid, start }) => pid === process.pid && start === process.start);
}

/** Whether `git commit` runs the hook, and not a merge or a pick. `true` if git's command line cannot be read. */
function isCommitCommand(call: HookCall): boolean {
  const pid = gitPid(call);
  const line = pid === undefined ? undefined : commandLine(pid);
  return line === undefined || line.words.includes('commit');
}

/** The session whose commit git is making; `undefined` for a person, or where git-handoff is switched off. */
export async function committerOf(call: HookCall): Promise<SessionId | undefined> {
  const lone = loneProcess(call.gitDir);
  if (lone !== undefined && (!isAnyNamed(call) || isOnlyNamed(call, lone.session))) {
    if (isAncestor(call, lone.process)) return lone.session;
    // A person commits while the session is here.
    if (!isAnyNamed(call)) return undefined;
  }
  const [settings, sessions] = await Promise.all([
    settingsOf(call),
    listSessions({ cwd: call.cwd }, call.budget.left()),
  ]);
  return settings.enabled === true ? findSession(call, sessions, undefined)?.id : undefined;
}

/** The git process that runs the hook: GIT_HANDOFF_GIT_PID, which the installed hook sets from its own parent. */
export function gitPid({ env }: Context): number | undefined {
  const pid = Number(env['GIT_HANDOFF_GIT_PID']);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

/** How many ancestor processes we search for the git command: one of the user's own hooks may run between git and us. */
const MAX_BETWEEN = 4;

/** The arguments of the running `git commit`; `undefined` when they cannot be read. */
export function runningCommit(hook: StartedHook): CommitWords | undefined {
  const message = hook.name === 'prepare-commit-msg' ? preparedMessage(hook) : undefined;
  return runningCommand(hook, (argv, exact) => parseCommitWords(argv, exact, message));
}

const preparedMessage = ({ cwd, args }: StartedHook) => readText(resolve(cwd, args[0] ?? ''));

/** Parses the command line of the git process that runs the hook; `undefined` when it cannot be read. */
export function runningCommand<Words>(
  context: Context,
  parse: (argv: readonly string[], exact: boolean) => Words | undefined,
): Words | undefined {
  const first = gitPid(context) ?? context.clientPid;
  for (const { pid } of ancestorsOf(first, context.processes()).slice(0, MAX_BETWEEN)) {
    const line = commandLine(pid);
    const words = line === undefined ? undefined : parse(line.words, line.exact);
    if (words !== undefined) return words;
  }
  return undefined;
}

/** The file in which `git handoff commit` keeps the message until git has ended. */
const OUR_MESSAGE = /^\/.*\/git-commit-\w{6}\/message$/;

/**
 * The message of the running commit if its `-F` cannot be typed again: it is standard input, or a file that we delete. The
 * message of `-F -` is known only in prepare-commit-msg, where git passes it in a file.
 */
export function passingMessage(call: HookCall, words: CommitWords | undefined): string | undefined {
  // If an editor follows, git has added comments to the message.
  if (words?.file === '-' && call.name === 'prepare-commit-msg' && call.env['GIT_EDITOR'] === ':')
    return preparedMessage(call) || undefined;
  return words?.file !== undefined && OUR_MESSAGE.test(words.file)
    ? readText(words.file) || undefined
    : undefined;
}
