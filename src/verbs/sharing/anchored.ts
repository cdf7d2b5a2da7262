import { Failure } from '../../domain/failure.ts';
import { shellWord } from '../../domain/surfacing.ts';
import type { Context } from '../../sessions/caller.ts';

/**
 * Runs a verb that works on uncommitted changes. It may have been called by `git -C <folder> …` or `cd <folder> && …`,
 * and the next command runs elsewhere: what a failure says to type names the folder.
 */
export async function anchored<T>({ cwd }: Context, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, message, hint, otherHint, lostRef, cause } = error;
    const placed = {
      ...(hint === undefined ? {} : { hint: placedAt(cwd, hint) }),
      ...(otherHint === undefined ? {} : { otherHint: placedAt(cwd, otherHint) }),
    };
    throw new Failure(code, message, { ...placed, cause, ...(lostRef === undefined ? {} : { lostRef }) });
  }
}

const placedAt = (cwd: string, hint: string) =>
  /^git (?!-C )/.test(hint) ? `git -C ${shellWord(cwd)}${hint.slice('git'.length)}` : hint;
