import { Failure, shellWord } from '../../domain/messages.ts';
import { setEntries, whileLocked } from '../../git/scratch.ts';
import { gitFailure } from '../../git/run.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../verb.ts';
import type { StagedShape } from '../shapes.ts';
import { composeShare, passedNotices, requireOwnership } from './commit/compose.ts';
import { withOwnIndex } from './commit/git-commit.ts';
import { type CommitScene, readScene } from './commit/scene.ts';

interface StageOptions {
  readonly mine: boolean;
  readonly pathspecs: readonly string[];
  readonly session: string | undefined;
}

export interface StageValue {
  readonly items: readonly StagedShape[];
}

/**
 * Stages this session's changes, all or none: whole files or, if another live session changed a file, too, only its own hunks.
 *
 * @throws Failure `usage` without `--mine`, `not-found` when no change is the session's, `not-owner` for another's path, and
 * for hunks that overlap or touch
 */
export async function stage(options: StageOptions, context: Context): Promise<CommandResult<StageValue>> {
  const { mine, pathspecs, session } = options;
  const typed = ['git handoff stage --mine', ...pathspecs.map(shellWord)].join(' ');
  if (!mine) throw new Failure('usage', 'stage needs --mine', { hint: typed });
  const scene = await readScene({ pathspecs, session, person: { hint: 'git add -p' } }, context);
  const again = { done: 'staged', command: 'git handoff stage --mine' } as const;
  requireOwnership(scene, again, context.now);
  requireOwn(scene);
  const { whole, entries, passed } = await composeShare(scene, again);
  return withOwnIndex(scene, { whole, entries }, context.now, async (_, held) => {
    const result = await whileLocked(() => setEntries(scene.work.tree.top, held));
    if (result.code !== 0) throw gitFailure('update-index', result);
    const items = [...held.keys()].map((path) => ({ path, hunks: entries.has(path) }));
    return { value: { items }, notices: [...scene.notices, ...passedNotices(passed, scene)] };
  });
}

/** Refuses unclaimed paths, in which this session has no hunks, and suggests `git add`. */
function requireOwn({ shares, untracked, typedPaths }: CommitScene): void {
  const nobodys = shares.whole.find(
    ({ mine, dirty }) => mine.length === 0 && !untracked.includes(dirty.path),
  );
  if (nobodys !== undefined) {
    const { path } = nobodys.dirty;
    throw new Failure('not-found', `${path}: none of its changes is this session’s; nothing was staged`, {
      hint: `git add${typedPaths([path])}`,
    });
  }
  if (shares.whole.length + shares.contended.length + untracked.length > 0) return;
  throw new Failure('not-found', 'nothing to stage: this session has no uncommitted change there', {
    hint: 'git handoff status',
  });
}
