import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { shortId } from '../../domain/names.ts';
import type { CommitScene } from './scene.ts';

/**
 * @throws Failure `not-owner` when a named path is another live session's
 */
export function requireOwnership({ shares, typed }: CommitScene): void {
  const [first] = shares.refused;
  if (first === undefined) return;
  const { path, claim } = first;
  const more = shares.refused.length > 1 ? ` (and ${shares.refused.length - 1} more)` : '';
  throw new Failure(
    'not-owner',
    `${path}${more} holds uncommitted changes of session ${shortId(claim.session)}`,
    { hint: `git handoff take -- ${typed(path)}` },
  );
}

const UNFINISHED = [
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
] as const;

/**
 * Somebody, maybe another session, is in the middle of it. git makes no partial commit then, and its own commit command
 * would finish the work of whoever began it.
 */
export function requireNothingUnfinished({ work }: CommitScene): void {
  const found = UNFINISHED.find(([file]) => existsSync(join(work.tree.gitDir, file)));
  if (found === undefined) return;
  throw new Failure('usage', `${found[1]} is not finished here; whoever began it has to finish or abort it`, {
    hint: 'git status',
  });
}
