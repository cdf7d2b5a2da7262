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
    if (!(error instanceof Failure) || error.hint?.startsWith('git ') !== true) throw error;
    if (error.hint.startsWith('git -C ')) throw error;
    const { code, message, lostRef, cause } = error;
    const hint = `git -C ${shellWord(cwd)}${error.hint.slice('git'.length)}`;
    throw new Failure(code, message, { hint, cause, ...(lostRef === undefined ? {} : { lostRef }) });
  }
}
