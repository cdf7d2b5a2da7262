import { Failure } from '../../../domain/failure.ts';
import type { FileState } from '../../../domain/ledger/file-state.ts';
import { claimsOn, strong } from '../../../domain/ledger/ownership.ts';
import type { Share } from '../../../domain/ledger/shares.ts';
import type { Operation } from '../../../git/operations.ts';
import { stagedPaths, unmergedPaths } from '../../../git/staged.ts';
import { operationText } from '../../../changes/begun-operation.ts';
import { withoutOperation } from '../../../changes/finishing.ts';
import { findStale } from '../../../changes/stale-paths.ts';
import type { CommitPlan } from './attempt.ts';
import { composeContended } from './compose.ts';
import type { CommitScene } from './scene.ts';

/**
 * What finishes a merge or a pick of this session's: everything that is staged, but for other sessions' work. Of files
 * that both changed this session's hunks go in.
 *
 * @throws Failure `usage` when paths are named, for git makes no partial commit then; `refused` while paths are in
 * conflict
 */
export async function planFinish(
  scene: CommitScene,
  operation: Operation,
  pathspecs: readonly string[],
): Promise<{ plan: CommitPlan; passed: readonly Share[] }> {
  const what = operationText(operation.name);
  if (pathspecs.length > 0) {
    throw new Failure('usage', `${what} is in progress here and is committed as a whole`, {
      hint: 'git handoff commit --no-edit',
    });
  }
  const { work, asker, typedPaths } = scene;
  const { tree, snapshot, place } = work;
  const unmerged = await unmergedPaths(tree.top);
  if (unmerged.length > 0) {
    const more = unmerged.length > 1 ? ` (and ${unmerged.length - 1} more)` : '';
    throw new Failure('refused', `${unmerged[0]}${more} is in conflict; nothing was committed`, {
      hint: `git add${typedPaths(unmerged)}`,
    });
  }
  const { self } = scene;
  const at = { cwd: tree.top, gitDir: tree.gitDir, head: snapshot.head, ledger: place, self };
  const judged = await withoutOperation(at, operation, await stagedPaths(tree.top));
  const sides = judged.map((staged) => ({
    staged,
    ...claimsOn(staged.path, work.ledgers, asker.sides, staged.head),
  }));
  const candidates = sides
    .filter(({ own, foreign }) => own.length === 0 && strong(foreign).length === 0)
    .map(({ staged: { path, head, index }, own }) => ({ path, head, next: index, own }));
  const { top: cwd, gitDir, commonDir } = tree;
  const where = { cwd, gitDir, commonDir, head: snapshot.head, seen: [], sides: asker.sides };
  const { stale } = await findStale(where, candidates);
  const entries = new Map<string, FileState>();
  const contended = new Set<string>();
  for (const { staged, own, foreign } of sides) {
    const { path, head } = staged;
    const isOthers = strong(foreign).length > 0;
    if (isOthers && own.length > 0) contended.add(path);
    else if (isOthers || stale.has(path)) entries.set(path, head);
  }
  const { shares } = scene;
  const both = shares.contended.filter(({ dirty }) => contended.has(dirty.path));
  const composed = await composeContended(
    { ...scene, shares: { ...shares, whole: [], contended: both } },
    { done: 'committed', command: undefined },
  );
  for (const [path, state] of composed.entries) entries.set(path, state);
  return { plan: { whole: [], entries, isPrivate: true, finishes: true }, passed: composed.passed };
}
