import { resolve, join } from 'node:path';
import { isShellIn } from '../changes/windows.ts';
import { jsonFields } from '../domain/journal/events.ts';
import { type SessionId, parseSessionId } from '../domain/names.ts';
import type { SettingEntry } from '../domain/settings.ts';
import { escapeLine, shellWord } from '../domain/messages.ts';
import { statOf, quietly, readText } from '../host/disk.ts';
import { rewriteText } from '../host/folders.ts';
import { type Budget, type Io, inTime, readInput } from '../host/io.ts';
import { keptTable } from '../host/processes.ts';
import { trace } from '../host/log.ts';
import { consumeBypass } from '../sessions/bypass.ts';
import type { Context } from '../sessions/caller.ts';
import { recordBypass, recordRefusal } from '../sessions/happenings.ts';
import type { CommitWords } from '../shell/commit-words.ts';
import {
  type HookAnswer,
  type HookCall,
  PASSED,
  type StartedHook,
  hookConfig,
  logHook,
  type EarlierHooks,
} from './hook-call.ts';
import { nameInPrepared, nameInEdited } from './name-session.ts';
import { judgeCommit } from './pre-commit.ts';
import { checkPush } from './pre-push.ts';
import { gitPid, mustCheck, runningCommit } from './whose-commit.ts';

type HookWords = Pick<StartedHook, 'clientPid' | 'gitDir' | 'commonDir' | 'args'>;

/** The exit status that refuses a commit or push; Node itself never ends with it. git-hooks/ask.sh has the same number. */
export const REFUSED = 77;

/**
 * Runs one of our git hooks in its own process. If anything goes wrong or takes too long, the commit or push passes, with a line
 * in the log and a warning to whoever commits or pushes. Returns the exit status: 0 goes on, `REFUSED` refuses.
 */
export async function gitHook(name: string, words: HookWords, io: Io, budget: Budget): Promise<number> {
  const { cwd, env, clock } = io;
  const context = { cwd, env, processes: keptTable(), now: clock(), clock, budget };
  const input = () => readInput(io, budget);
  const { refused, lines } = await answerHook({ ...context, ...words, name, readInput: input });
  // We refuse even if stderr is closed.
  await io.stderr.write(lines.map((line) => `${line}\n`).join('')).catch(() => undefined);
  return refused ? REFUSED : 0;
}

async function answerHook(started: StartedHook): Promise<HookAnswer> {
  const { cwd, commonDir } = started;
  const earlier = isPush(started) ? undefined : readEarlierHooks(started);
  const budget = isPush(started) ? started.budget : restOfCommit(started.budget, earlier);
  // An earlier hook of this commit used up the time, and has said so.
  if (budget === undefined) return PASSED;
  const config = hookConfig(cwd, budget, earlier?.settings);
  let words: { readonly found: CommitWords | undefined } | undefined;
  const known = () => (words ??= { found: runningCommit(started) }).found;
  const call: HookCall = { ...started, budget, earlier, config, words: known };
  const answer = await failOpen(call, () => runHook(call));
  trace('verdict', () => `${call.name}: ${answer.refused ? 'refused' : 'go on'}`);
  const isThere = (session: SessionId) =>
    (call.env['GIT_PREFIX'] ?? '') === '' && isShellIn(commonDir, session, cwd);
  if (answer.lines.length === 0 || (answer.session !== undefined && isThere(answer.session))) return answer;
  return { ...answer, lines: answer.lines.map((line) => placed(line, cwd)) };
}

const isPush = ({ name }: StartedHook) => name === 'pre-push';

async function runHook(call: HookCall): Promise<HookAnswer> {
  switch (call.name) {
    case 'pre-commit':
      // git has not yet read the message of `-F -`. prepare-commit-msg gets it in a file, and checks this commit.
      return mustCheck(call) && call.words()?.file !== '-' ? checkCommit(call) : PASSED;
    case 'prepare-commit-msg':
      return prepareMessage(call);
    case 'commit-msg':
      return nameInEdited(call);
    case 'pre-push':
      return decideUnlessAllowed(call, () => checkPush(call));
    default:
      return PASSED;
  }
}

/** Checks the commit if pre-commit has not, and names the session if no editor follows. */
async function prepareMessage(call: HookCall): Promise<HookAnswer> {
  const { env, earlier } = call;
  // For `git handoff commit` we check as late as possible that HEAD has not moved.
  const isAsked = (env['GIT_HANDOFF_EXPECT'] ?? '') !== '' || earlier === undefined;
  const checked = isAsked && mustCheck(call) ? await checkCommit(call) : undefined;
  if (checked?.refused === true || env['GIT_EDITOR'] !== ':') return checked ?? PASSED;
  try {
    await nameInPrepared(call, checked);
  } catch (error) {
    // If the check failed as well, it has printed a warning already.
    if (checked?.isUnknown !== true) throw error;
  }
  return checked ?? PASSED;
}

/** Checks a commit, and leaves the result for the later hooks of the same commit. */
async function checkCommit(call: HookCall): Promise<HookAnswer> {
  const answer = await failOpen(call, () => decideUnlessAllowed(call, () => judgeCommit(call)));
  if (!answer.refused && answer.isUnknown !== true) leaveForLaterHooks(call, answer.session);
  return answer;
}

/** Returns the answer of `decide` or, if it fails or takes too long, one that lets the commit or push pass. */
async function failOpen(call: HookCall, decide: () => Promise<HookAnswer>): Promise<HookAnswer> {
  try {
    const answer = await inTime(decide(), call.budget);
    return answer === 'late' ? passUnchecked(call, 'git did not answer in time') : answer;
  } catch (error) {
    return passUnchecked(call, error instanceof Error ? error.message : String(error));
  }
}

function passUnchecked(call: HookCall, why: string): HookAnswer {
  logHook(call, 'open', `let through unchecked: ${why}`);
  if (!isPush(call)) leaveForLaterHooks(call, 'unknown');
  const what = isPush(call) ? 'push' : 'commit';
  const lines = [`warning: git-handoff did not check this ${what}: ${escapeLine(why)}`];
  return { refused: false, session: undefined, lines, isUnknown: true };
}

/** Adds `-C` to a hint, because its reader may type it in another folder. */
function placed(line: string, cwd: string): string {
  return line.replace(
    /^(hint: (?:[A-Z_]+=\S+ )?git) /,
    `$1 -C ${shellWord(resolve(cwd)).replaceAll('$', '$$$$')} `,
  );
}

/** Decides. If a commit or push would be refused, it passes all the same if a person has allowed it. */
async function decideUnlessAllowed(call: HookCall, decide: () => Promise<HookAnswer>): Promise<HookAnswer> {
  const answer = await decide();
  // A refusal without lines only makes `git handoff commit` start over.
  if (!answer.refused || answer.isFinal === true || answer.lines.length === 0) return answer;
  const { commonDir, now } = call;
  const { session, lines, asked } = answer;
  const log = (kind: string, detail: string) => logHook(call, kind, detail, session);
  const allowed = await allowHookOnce(call, answer, log);
  if (allowed === undefined) recordRefusal({ commonDir, session, text: lines.join('\n'), asked, now }, log);
  return allowed ?? answer;
}

/** Lets the commit or push pass if a person has allowed what the hook refuses. */
async function allowHookOnce(
  call: HookCall,
  { session, lines, owners }: HookAnswer,
  log: (kind: string, detail: string) => void,
): Promise<HookAnswer | undefined> {
  const { now, commonDir } = call;
  const pid = gitPid(call) ?? call.clientPid;
  const key = { kind: 'git', pid, start: call.processes().startOf(pid) ?? '-' } as const;
  const consumed = consumeBypass(commonDir, { session, key, now });
  if (consumed === undefined) return undefined;
  const [first = ''] = lines;
  const what = first.replace(/^\w+: /, '');
  log('bypass', `let through: ${what}`);
  if (consumed === 'now') {
    const text = (who: string) =>
      `A person let ${who} past a refusal of ${call.name} once: ${what}. To see the result: git log -3`;
    await recordBypass({ ...call, session, owners, text, now, timeoutMs: call.budget.left(), log });
  }
  return { refused: false, session, lines: [`warning: a person let this through once: ${what}`] };
}

/* Our hooks of one commit pass their findings to each other in `<git dir>/handoff-checked`, as JSON. */

/** Milliseconds for all our hooks of one commit together; the user's own hooks and editors do not count. */
const COMMIT_MS = 8000;
/** Milliseconds that must be left to start a check. */
const LEAST_MS = 1000;

/** Milliseconds within which the system reuses no pid. */
const FRESH_MS = 2000;

type Field = 'pid' | 'start' | keyof EarlierHooks;

const fileOf = ({ gitDir }: StartedHook) => join(gitDir, 'handoff-checked');

/** What the earlier hooks of the same git process left; `undefined`: this hook is the first. */
function readEarlierHooks(hook: StartedHook): EarlierHooks | undefined {
  const { pid, start, committer, spentMs, settings } = jsonFields<Field>(readText(fileOf(hook)));
  if (pid === undefined || pid !== gitPid(hook)) return undefined;
  // Without /proc, it takes long to find out when a process started.
  if (!isFresh(hook) && start !== startOfGit(hook)) return undefined;
  const session = parseSessionId(committer);
  if (committer !== null && committer !== '?' && session === undefined) return undefined;
  return {
    committer: committer === '?' ? 'unknown' : session,
    spentMs: typeof spentMs === 'number' && spentMs > 0 ? spentMs : 0,
    settings: Array.isArray(settings) ? (settings as SettingEntry[]) : undefined,
  };
}

/**
 * What is left of the time that the hooks of this commit share; `undefined`: earlier hooks used it up, and said so. The first
 * hook always runs, because no earlier hook can have said so.
 */
function restOfCommit(budget: Budget, earlier: EarlierHooks | undefined): Budget | undefined {
  const rest = Math.min(budget.left(), COMMIT_MS) - (earlier?.spentMs ?? 0);
  return rest < LEAST_MS && earlier !== undefined ? undefined : budget.part(rest);
}

/** Leaves what this hook found for the later hooks of the same commit. */
function leaveForLaterHooks(call: HookCall, found: EarlierHooks['committer']): void {
  const pid = gitPid(call);
  if (pid === undefined) return;
  const spentMs = Math.max(0, Math.round(COMMIT_MS - Math.min(COMMIT_MS, call.budget.left())));
  const committer = found === 'unknown' ? '?' : (found ?? null);
  const left = { pid, start: startOfGit(call), committer, spentMs, settings: call.config.known() };
  // If the file cannot be written, the later hooks check again.
  quietly(() => rewriteText(fileOf(call), `${JSON.stringify(left)}\n`));
}

function isFresh(hook: StartedHook): boolean {
  const age = hook.now - (statOf(fileOf(hook))?.mtimeMs ?? 0);
  return age >= 0 && age < FRESH_MS;
}

/** When the git process started: two processes with the same pid have different starts. */
function startOfGit(context: Context): string {
  return context.processes().startOf(gitPid(context) ?? 0) ?? '-';
}
