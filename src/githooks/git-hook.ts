import { resolve } from 'node:path';
import { shellWord } from '../domain/surfacing.ts';
import { exists } from '../host/disk.ts';
import { bypassFolder } from '../host/folders.ts';
import { inTime } from '../host/io.ts';
import { type HookAnswer, type HookCall, type HookPlace, logHook, placeOf } from './hook-call.ts';

/** A commit or push may not wait for us longer than the deadline; then it passes. */
const PASSED: HookAnswer = { refused: false, session: undefined, lines: [] };

/**
 * Runs one of our git hooks. Whatever goes wrong, and whatever takes too long, the commit or push passes, with one
 * line in the log; `undefined`: nobody could tell.
 */
export async function gitHook(call: HookCall): Promise<HookAnswer | undefined> {
  const place = await placeOf(call);
  const log = (detail: string) => logHook(call, place, 'open', detail);
  try {
    const answer = await inTime(decideOrLift(call, place), call.budget);
    if (answer !== 'late') return { ...answer, lines: answer.lines.map((line) => placed(line, place)) };
    log('the deadline passed; let through unchecked');
  } catch (error) {
    log(`let through unchecked: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
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
  // Without a reason it is no refusal: `git handoff commit` begins anew.
  if (!answer.refused || answer.lines.length === 0 || !exists(bypassFolder(place.commonDir))) return answer;
  return (await import('./lift-hook.ts')).liftHook(call, place, answer);
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
