import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import type { Repository } from '../../git/repository.ts';
import { linkedWorktrees } from '../../git/linked-worktrees.ts';
import { forgetHung, shortUntil } from '../../host/breaker.ts';
import { realPath } from '../../host/disk.ts';
import { stateFolder } from '../../host/folders.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CheckShape } from '../shapes.ts';
import { doctorLine } from './finding.ts';

/**
 * Worktrees in which git did not answer at two calls running: for a while the hooks wait less for it there. With `fix`
 * they wait as long as ever.
 */
export function checkHangs(
  { commonDir }: Repository,
  { env, now }: Pick<Context, 'env' | 'now'>,
  fix: boolean,
): CheckShape[] {
  const state = stateFolder(env);
  return linkedWorktrees(commonDir).flatMap(({ path }) => {
    const top = realPath(path);
    const until = shortUntil(state, top, now);
    if (until === undefined) return [];
    const time = new Date(until).toISOString().replace(/\.\d+Z$/, 'Z');
    const what = `git hung at two calls running in ${escapeLine(top)}`;
    if (fix) {
      forgetHung(state, top);
      return [doctorLine('hangs', 'fixed', `${what}; hooks wait for it again`)];
    }
    const detail = `${what}: until ${time} hooks wait 0.8 s for it, and pass what they cannot check. When it answers again: git handoff doctor --fix`;
    return [doctorLine('hangs', 'problem', detail, `git -C ${shellWord(top)} status`)];
  });
}
