import { findUnfinished, operationText, begunText, ownWorktree } from '../../../changes/operations.ts';
import { recordRequest } from '../../../changes/tell-owners.ts';
import { ago } from '../../../domain/age.ts';
import { Failure } from '../../../domain/failure.ts';
import { peerName, peerNames } from '../../../domain/owner-name.ts';
import { listed } from '../../../domain/surfacing.ts';
import type { Operation } from '../../../git/operations.ts';
import { type Again, withoutOrTaken } from './attempt.ts';
import type { CommitScene } from './scene.ts';

/**
 * Refuses named paths of other live sessions, which find a request for them.
 *
 * @throws Failure `not-owner`
 */
export function requireOwnership(scene: CommitScene, again: Again, now: number): void {
  const { shares } = scene;
  if (shares.refused.length === 0) return;
  const refused = shares.refused.map(({ path }) => path);
  const sessions = shares.refused.map(({ claim }) => claim.session);
  const whose = peerNames(sessions, scene.asker.sides);
  const holds = refused.length > 1 ? 'hold' : 'holds';
  const rest = [...shares.whole, ...shares.contended].map(({ dirty }) => dirty.path);
  const message = `${listed(refused)} ${holds} uncommitted changes of ${whose}; nothing was ${again.done}`;
  askOwners(scene, now);
  throw new Failure('not-owner', message, withoutOrTaken(scene, again, { rest, refused }));
}

/** It is refused whatever becomes of that. */
function askOwners({ self, work: { place }, shares }: CommitScene, now: number): void {
  if (place === undefined) return;
  const claims = shares.refused.map(({ claim }) => claim);
  try {
    recordRequest(self, { place, wish: 'commit', claims }, now);
  } catch {
    // The ledger cannot be written: the refusal itself says whose the paths are.
  }
}

/**
 * What a commit here would finish: a merge, a single pick or revert that this session began.
 *
 * @throws Failure `not-owner` when another live session began it, `usage` when nobody is known to have, and where git
 * makes one commit after the other and goes on itself
 */
export function unfinishedHere(
  { work, asker, self, typed }: CommitScene,
  now: number,
): Operation | undefined {
  const { tree, place } = work;
  const found = findUnfinished(tree.gitDir, place, asker.sides);
  if (found === undefined) return undefined;
  const { operation, others, isOwn } = found;
  if (others !== undefined) {
    throw new Failure(
      'not-owner',
      begunText(others, peerName(others.session, asker.sides), ago(others.at, now)),
      {
        hint: `git worktree add ${typed(ownWorktree(tree.top, self))}`,
      },
    );
  }
  if (isOwn && !operation.isSequence) return operation;
  const what = operationText(operation.name);
  if (isOwn) {
    throw new Failure('usage', `${what} is in progress here, in which git itself makes the commits`, {
      hint: `git -c core.editor=true ${operation.name} --continue`,
    });
  }
  throw new Failure('usage', `${what} is in progress here; whoever began it must finish or abort it`, {
    hint: 'git status',
  });
}
