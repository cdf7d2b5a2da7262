import { Failure } from '../../../domain/failure.ts';
import type { SessionLedger } from '../../../domain/ledger/claims.ts';
import { sameState } from '../../../domain/ledger/file-state.ts';
import { namedPeer, namesOwn } from '../../../domain/ledger/ownership.ts';
import type { Oid, SessionId } from '../../../domain/names.ts';
import { peerName } from '../../../domain/owner-name.ts';
import { headCommit } from '../../../git/commit-sessions.ts';
import { changedPaths, parentsOf } from '../../../git/commit-paths.ts';
import type { CommitScene } from './scene.ts';

/**
 * Only a session's own commit may be amended by it.
 *
 * @throws Failure `not-owner` when HEAD's commit is another's, or nothing says whose it is
 */
export async function requireOwnCommit(scene: CommitScene): Promise<void> {
  const { top } = scene.work.tree;
  const head = await headCommit(top);
  if (head === undefined) {
    throw new Failure('usage', 'there is no commit yet to amend', {
      hint: "git handoff commit -m '<message>'",
    });
  }
  const { oid, sessions } = head;
  const owners = [...scene.owners];
  const { own, foreign } = scene.asker.sides;
  const others = [...own, ...foreign].filter((id) => !scene.owners.has(id));
  const sides = { own: scene.owners, foreign: new Set(others) };
  const stranger = sessions.find((id) => !namesOwn(id, sides));
  const isOwn =
    sessions.length > 0
      ? stranger === undefined
      : scene.work.lone?.session === scene.self || (await isOnRecord(scene, oid, owners));
  if (isOwn) return;
  const whose =
    stranger === undefined
      ? 'is not known to be this session’s'
      : `was made by ${peerName(namedPeer(stranger, scene.asker.sides) ?? stranger, scene.asker.sides)}`;
  throw new Failure('not-owner', `the commit ${oid.slice(0, 12)} at HEAD ${whose}; it stays as it is`, {
    hint: "git handoff commit -m '<message>'",
  });
}

/** Without a trailer, the ledger tells: HEAD was moved there, or a commit like it was let through. */
async function isOnRecord(scene: CommitScene, oid: Oid, owners: readonly SessionId[]): Promise<boolean> {
  const { top } = scene.work.tree;
  const ledgers = scene.work.ledgers.filter(({ session }) => owners.includes(session));
  if (ledgers.some(({ moves }) => moves.some((move) => move.oid === oid))) return true;
  const [parent = null] = await parentsOf(top, oid);
  const found = ledgers.flatMap(({ commits }) => commits).filter((commit) => commit.parent === parent);
  if (found.length === 0) return false;
  const made = await changedPaths(top, parent, oid);
  return found.some((commit) => fits(commit, made));
}

function fits(
  { paths }: SessionLedger['commits'][number],
  made: Awaited<ReturnType<typeof changedPaths>>,
): boolean {
  return paths.every(([path, state]) => {
    const there = made.find((change) => change.path === path);
    return there !== undefined && sameState(there.index, state);
  });
}
