import { type BegunLook, readBegunLook } from '../git/begun-look.ts';
import { limitOf, noteLateGit } from '../git/limits.ts';
import { beforeAnswer } from '../host/io.ts';
import type { TreeCall } from './call.ts';

/**
 * Reads the look that the launcher has begun at the client's worktree. Whoever asks first gets it; for everybody else, and
 * where it did not come to its end, it is `undefined`: they look themselves.
 */
export async function begunLook({ listed, tree, budget }: TreeCall): Promise<BegunLook | undefined> {
  if (listed?.more === undefined || tree.visiting === true) return undefined;
  const time = budget.part(limitOf(beforeAnswer(budget)));
  const bytes = await listed.more.rest(time).catch(() => undefined);
  if (bytes === undefined) noteLateGit();
  return readBegunLook(bytes?.toString('latin1') ?? '', listed.begun);
}
