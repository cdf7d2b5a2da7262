import { listWorktrees } from '../../git/worktrees.ts';
import { readSettings } from '../../git/config.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { otherTrees } from '../../changes/other-trees.ts';
import { pathsInBoth } from '../../changes/touched.ts';
import type { Repository } from '../../git/repository.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import type { RequestShape, SessionShape } from '../shapes.ts';
import type { SessionId } from '../../domain/names.ts';
import { timestamp } from '../../domain/age.ts';
import { readLedgers } from '../../changes/ledger.ts';
import { requestShapes } from './requests.ts';
import { workTreeOf } from './status.ts';
import { uncommittedPaths } from './uncommitted.ts';
import { judgedSessions, openWorkspace } from '../workspace.ts';

interface SessionsOptions {
  /** Ended ones too. */
  readonly all: boolean;
  readonly session: string | undefined;
}

export interface SessionsValue {
  readonly items: readonly SessionShape[];
  readonly requests: readonly RequestShape[];
}

const ORDER = ['live', 'unknown', 'dead', 'ended'];

/** Who is at work in this repository and its worktrees, live ones first. */
export async function sessions(
  options: SessionsOptions,
  context: Context,
): Promise<CommandResult<SessionsValue>> {
  const { cwd } = context;
  const [{ repository, sessions: stored, notices }, settings, worktrees] = await Promise.all([
    openWorkspace(context),
    readSettings(cwd),
    listWorktrees({ cwd }),
  ]);
  const self = findSession(context, stored, options.session)?.id;
  const judged = judgedSessions({ repository, sessions: stored }, settings, context.now);
  const places = new Map(worktrees.map((worktree) => [knownWorktreeId(worktree.gitDir), worktree]));
  const work = await uncommittedPaths(worktrees, repository.commonDir, judged, context.now);
  const meetings = await meetingsHere(context, repository, judged, self);
  const items = judged
    .filter(({ liveness }) => options.all || liveness !== 'ended')
    .sort((a, b) => rank(a) - rank(b) || b.record.startedAt - a.record.startedAt)
    .map((session) => ({
      ...shape(session, places.get(session.worktreeId)),
      self: session.record.session === self,
      uncommitted: work.get(session.worktreeId)?.get(session.record.session) ?? [],
      alsoHere: meetings.get(session.record.session) ?? [],
    }));
  const requests = worktrees.flatMap(({ path, gitDir }) => {
    const worktreeId = knownWorktreeId(gitDir);
    if (worktreeId === undefined) return [];
    const isChanged = (session: string, name: string) =>
      work.get(worktreeId)?.get(session)?.includes(name) === true;
    const ledgers = readLedgers({ commonDir: repository.commonDir, worktreeId });
    return requestShapes(ledgers, judged, path, isChanged);
  });
  return { value: { items, requests }, notices, exitCode: items.length === 0 ? 1 : 0 };
}

/** Which of this worktree's changed paths the sessions of others have changed, too. */
async function meetingsHere(
  { now, budget }: Context,
  repository: Repository,
  judged: readonly JudgedSession[],
  asking: SessionId | undefined,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const tree = await workTreeOf(repository);
  const own = knownWorktreeId(repository.gitDir);
  if (tree === undefined || own === undefined) return new Map();
  const paths = new Set([...pathsInBoth(repository.commonDir, own).values()].flat());
  const options = { asking, timeoutMs: budget.left(), now };
  const others = await otherTrees(tree, [...paths], judged, options);
  const found = new Map<string, string[]>();
  for (const { path, outcome, sessions } of others.flatMap(({ meetings }) => meetings)) {
    if (outcome === undefined) continue;
    for (const { record } of sessions)
      found.set(record.session, [...(found.get(record.session) ?? []), path]);
  }
  return found;
}

const rank = ({ liveness }: JudgedSession) => ORDER.indexOf(liveness);

function shape(
  { record, liveness, silentMs }: JudgedSession,
  place: { path: string; branch: string | undefined } | undefined,
): Omit<SessionShape, 'self' | 'uncommitted' | 'alsoHere'> {
  const { session, client, pid, parent, succeeds, startedAt, ended } = record;
  return {
    session,
    client,
    liveness,
    pid,
    branch: place?.branch ?? null,
    worktree: place?.path ?? null,
    startedAt: timestamp(startedAt),
    idleSeconds: silentMs === undefined ? null : Math.round(silentMs / 1000),
    parent,
    succeeds,
    ended: ended === null ? null : { at: timestamp(ended.at), reason: ended.reason },
  };
}
