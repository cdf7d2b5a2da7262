import { resolve } from 'node:path';
import { escapeLine, shellWord } from '../domain/surfacing.ts';
import { exists } from '../host/disk.ts';
import { bypassFolder } from '../host/folders.ts';
import { inTime } from '../host/io.ts';
import { trace } from '../host/trace.ts';
import { markChecked, restOfCommit } from './commit-time.ts';
import { type HookAnswer, type HookCall, type HookPlace, logHook, hookPlace } from './hook-call.ts';

const PASSED: HookAnswer = { refused: false, session: undefined, lines: [] };

/**
 * Runs one of our git hooks. Whatever goes wrong, and whatever takes too long, the commit or push passes, with one
 * line in the log and one for whoever waits.
 */
export async function gitHook(given: HookCall): Promise<HookAnswer> {
  const isPush = given.name === 'pre-push';
  const place = await hookPlace(given);
  const call = isPush ? given : { ...given, budget: restOfCommit(given, place.gitDir) };
  const unknown = (why: string): HookAnswer => {
    logHook(call, place, 'open', `let through unchecked: ${why}`);
    if (!isPush) markChecked(call, place.gitDir, '?');
    return {
      refused: false,
      session: undefined,
      lines: [notCheckedText(isPush ? 'push' : 'commit', why)],
      isUnknown: true,
    };
  };
  try {
    const answer = await inTime(decideOrLift(call, place), call.budget);
    if (answer === 'late') return unknown('git did not answer in time');
    trace('verdict', () => `${call.name}: ${answer.refused ? 'refused' : 'go on'}`);
    return { ...answer, lines: answer.lines.map((line) => placed(line, place)) };
  } catch (error) {
    return unknown(error instanceof Error ? error.message : String(error));
  }
}

/** For whoever commits or pushes: nothing passes silently. */
function notCheckedText(what: 'commit' | 'push', why: string): string {
  return `warning: git-handoff did not check this ${what}: ${escapeLine(why)}`;
}

/** git's hooks do not know the folder of the shell in which a hint will be typed. */
function placed(line: string, { cwd }: HookPlace): string {
  return line.replace(
    /^(hint: (?:[A-Z_]+=\S+ )?git) /,
    `$1 -C ${shellWord(resolve(cwd)).replaceAll('$', '$$$$')} `,
  );
}

/** A person may have allowed what is refused. */
async function decideOrLift(call: HookCall, place: HookPlace): Promise<HookAnswer> {
  const answer = await dispatch(call, place);
  // Without a reason it is no refusal: `git handoff commit` starts over.
  if (!answer.refused || answer.lines.length === 0) return answer;
  const isLiftable = exists(bypassFolder(place.commonDir));
  const left = isLiftable ? await (await import('./lift-hook.ts')).liftHook(call, place, answer) : answer;
  if (left.refused) await leaveWord(call, place, left);
  return left;
}

/** Those for whose sake it is refused hear of it. It is refused whatever becomes of that. */
async function leaveWord(call: HookCall, place: HookPlace, { session, asked }: HookAnswer): Promise<void> {
  if (session === undefined || asked === undefined) return;
  try {
    (await import('../changes/requests.ts')).leaveWord(session, asked, call.now);
  } catch (error) {
    logHook(call, place, 'open', `no request was left: ${String(error)}`, session);
  }
}

async function dispatch(call: HookCall, place: HookPlace): Promise<HookAnswer> {
  switch (call.name) {
    case 'pre-commit':
    case 'prepare-commit-msg':
      return (await import('./pre-commit.ts')).checkCommit(call, place);
    case 'pre-push':
      return (await import('./pre-push.ts')).checkPush(call, place);
    default:
      return PASSED;
  }
}
