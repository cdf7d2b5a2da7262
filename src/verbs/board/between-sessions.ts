import { basename } from 'node:path';
import { openRequests, wishText } from '../../domain/ledger/requests.ts';
import { type DirtyPath } from '../../domain/ledger/tree-status.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { ListedWorktree } from '../../git/worktrees.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { type DirtyWork, askerOf, belongingOf, lookAtWork } from '../../changes/dirty-work.ts';
import { otherTrees } from '../../changes/other-trees.ts';
import { pathsInBoth } from '../../changes/changed-elsewhere.ts';
import type { Lanes } from './lanes.ts';
import type { Board, BoardContended, BoardMeeting, BoardRequest } from '../../ui/board/shape.ts';

/** What sessions at work have to do with each other now. */
type BetweenSessions = Pick<Board, 'contended' | 'meetings' | 'requests'>;

/** Whose board it is. */
interface Beside {
  readonly commonDir: string;
  readonly sessions: readonly JudgedSession[];
  readonly lanes: Lanes;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A look at one worktree may take so long. Milliseconds. */
const LOOK_MS = 5000;

/**
 * Paths with uncommitted changes of two live sessions, and what they want of each other: one `git status` for each worktree
 * that has two. Paths that two worktrees have changed, as the guard has noted them.
 */
export async function betweenSessions(
  worktrees: readonly ListedWorktree[],
  beside: Beside,
): Promise<BetweenSessions> {
  const inUse = worktrees.flatMap((worktree) => {
    const id = knownWorktreeId(worktree.gitDir);
    const live = beside.sessions.filter((one) => one.worktreeId === id && one.liveness === 'live');
    return live.length === 0 ? [] : [{ ...worktree, sessions: live.length }];
  });
  const [works, meetings] = await Promise.all([
    settled(inUse.filter(({ sessions }) => sessions > 1).map((tree) => lookAt(tree, beside))),
    settled(inUse.map((tree) => meetingsOf(tree, beside))),
  ]);
  return {
    contended: works.flatMap((work) => contendedIn(work, beside)),
    requests: works.flatMap((work) => requestsIn(work, beside)),
    meetings: inPairs(meetings.flat()),
  };
}

/** A worktree that git cannot look at must not hide the others. */
async function settled<T>(all: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(all);
  return results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

const lookAt = ({ path, gitDir }: ListedWorktree, { commonDir, sessions, now }: Beside) =>
  lookAtWork({ top: path, gitDir, commonDir }, sessions, now);

const shown = (top: string) => escapeLine(basename(top));

function contendedIn(work: DirtyWork, { sessions, lanes }: Beside): BoardContended[] {
  const asker = askerOf(undefined, sessions);
  return [...work.snapshot.dirty.values()].flatMap((dirty: DirtyPath) => {
    const { state, claims } = belongingOf(work, dirty, asker);
    if (state !== 'contended') return [];
    const by = claims.flatMap(({ session }) => lanes.find(session) ?? []);
    return [{ worktree: shown(work.tree.top), path: escapeLine(dirty.path), by }];
  });
}

function requestsIn({ ledgers, snapshot, tree }: DirtyWork, { sessions, lanes }: Beside): BoardRequest[] {
  const live = (id: string) =>
    sessions.some(({ record, liveness }) => record.session === id && liveness === 'live')
      ? lanes.find(id)
      : undefined;
  return openRequests(ledgers).flatMap(({ from, to, wish, path, handedAt }): BoardRequest[] => {
    const [asking, asked] = [live(from), live(to)];
    if (asking === undefined || asked === undefined || !snapshot.dirty.has(path)) return [];
    const name = escapeLine(path);
    const deed = wishText('', wish, '').trim();
    const handed = handedAt === undefined ? {} : { handedAt };
    return [{ worktree: shown(tree.top), path: name, from: asking, to: asked, deed, ...handed }];
  });
}

/** What one worktree's changes come to beside those of the others; each pair of worktrees is met from both sides. */
async function meetingsOf(
  { path: top, gitDir }: ListedWorktree,
  { commonDir, sessions, lanes, now }: Beside,
): Promise<BoardMeeting[]> {
  const id = knownWorktreeId(gitDir);
  const paths = new Set(
    [...(id === undefined ? [] : pathsInBoth({ commonDir, worktreeId: id }).values())].flat(),
  );
  const options = { asking: undefined, timeoutMs: LOOK_MS, now };
  const others = await otherTrees({ top, gitDir, commonDir }, [...paths], sessions, options);
  return others.flatMap((other) =>
    other.meetings.flatMap(({ path, outcome, sessions: changers }): BoardMeeting[] => {
      const by = changers.flatMap(({ record }) => lanes.find(record.session) ?? []);
      if (outcome === undefined) return [];
      return [{ worktrees: [shown(other.top), shown(top)], path: escapeLine(path), outcome, by }];
    }),
  );
}

/** Once for each path and two worktrees, with the sessions of both. */
function inPairs(meetings: readonly BoardMeeting[]): BoardMeeting[] {
  const pairs = new Map<string, BoardMeeting>();
  for (const meeting of meetings) {
    const worktrees = [...meeting.worktrees].sort();
    const key = [meeting.path, ...worktrees].join('\0');
    const by = [...new Set([...(pairs.get(key)?.by ?? []), ...meeting.by])];
    pairs.set(key, { ...meeting, worktrees, by });
  }
  return [...pairs.values()];
}
