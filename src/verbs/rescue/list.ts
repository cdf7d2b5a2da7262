import { timestamp } from '../../domain/age.ts';
import { type SnapshotItem, contentOf, isOnlyStaged } from '../../domain/snapshot.ts';
import { rescuedAt } from '../../snapshot/rescues.ts';
import type { Context } from '../../sessions/caller.ts';
import { clientsOf } from '../../sessions/records.ts';
import type { CommandResult } from '../verb.ts';
import type { RescueShape } from '../shapes.ts';
import { wantedPaths } from './contents.ts';
import { type KnownRescue, type Wanted, isWanted, openRescues } from './rescues.ts';

interface RescueListOptions {
  /** A session's id or its beginning, or a number; empty: all. */
  readonly which: string;
  readonly paths: readonly string[];
  /** The greatest age. Milliseconds. */
  readonly sinceMs: number | undefined;
}

export interface RescueListValue {
  readonly items: readonly RescueShape[];
}

/** Lists what can be restored, newest first. Exit status 1: there is nothing. */
export async function listRescued(
  { which, paths, sinceMs }: RescueListOptions,
  context: Context,
): Promise<CommandResult<RescueListValue>> {
  const { all, top, workspace } = await openRescues(context);
  const wanted: Wanted = { which, paths: wantedPaths(paths, context.cwd, top) };
  const items = all
    .filter((rescue) => sinceMs === undefined || context.now - rescuedAt(rescue) <= sinceMs)
    .flatMap((rescue) => {
      const held = rescue.held.filter((item) => isWanted(rescue, item, wanted));
      return held.length > 0 ? [rescueShape(rescue, held)] : [];
    });
  const { notices, sessions } = workspace;
  return { value: { items }, notices, clients: clientsOf(sessions) };
}

/** Returns a rescue with some of its files, as `--json` shows it. */
export function rescueShape(rescue: KnownRescue, items: readonly SnapshotItem[]): RescueShape {
  const { number, ref, oid } = rescue;
  const shape = {
    number,
    ref,
    oid,
    at: timestamp(rescuedAt(rescue)),
    files: items.map((item) => {
      const { path, bytes = 0, owner = null } = item;
      return { path, mode: contentOf(item)?.mode ?? '', bytes, owner };
    }),
  };
  if (rescue.kind === 'stash') {
    const { owner, index, commit } = rescue;
    const rest = { deleted: [], staged: [], skipped: [], worktree: null, branch: null };
    return { ...shape, ...rest, kind: 'stash', reason: commit.summary, session: owner, stashIndex: index };
  }
  const { kind, command, session, worktree, skipped, ref: head } = rescue.reason;
  const pathsOf = (some: readonly SnapshotItem[]) => some.map(({ path }) => path);
  const deleted = pathsOf(rescue.items.filter(({ base, disk }) => base !== null && disk === null));
  const staged = pathsOf(rescue.items.filter(isOnlyStaged));
  const branch = head.startsWith('refs/heads/') ? head.slice('refs/heads/'.length) : null;
  const rest = { deleted, staged, skipped, worktree, branch, stashIndex: null };
  return { ...shape, ...rest, kind, reason: command, session };
}
