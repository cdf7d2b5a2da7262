import { join, relative, sep } from 'node:path';
import { type BelongsTo, type Belonging, changeKind, isStaged } from '../../domain/ledger/ownership.ts';
import type { DirtyPath } from '../../domain/ledger/tree-status.ts';
import { escapeLine, Failure, timestamp } from '../../domain/messages.ts';
import { type SessionId, sessionOfOwner } from '../../domain/names.ts';
import type { RemoteSummary } from '../../domain/tracking/relation.ts';
import { readSettingsAndRemotes } from '../../git/config.ts';
import { HANDOFFS, PRUNED, REMOTE, parsePath } from '../../git/namespace.ts';
import { listBookkeeping } from '../../git/migrate-ref-lists.ts';
import { lstatOf } from '../../host/disk.ts';
import { isInitialised } from '../../host/folders.ts';
import type { Budget } from '../../host/io.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { compareWithRemotes } from '../../notes/delete-notes.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../verb.ts';
import {
  type WorkTree,
  askerOf,
  belongingOf,
  lookAtWork,
  settleClaims,
  isNamed,
} from '../../changes/dirty-work.ts';
import { ownersOf, unrecordedClaims } from '../../changes/session-parts.ts';
import { type OtherTree, overlapsElsewhere } from '../../changes/overlaps.ts';
import type { AlsoChangedShape, DirtyPathShape, NamedSessionShape, RequestShape } from '../shapes.ts';
import { requestShapes } from './sessions.ts';
import { namedSession } from '../handoff-shape.ts';
import { findOwner, judgedSessions, openWorkspace, pathHere, requireWorkTree } from '../workspace.ts';

interface StatusOptions {
  /** The paths to show. A folder means all that is in it, an empty list every path. */
  readonly paths: readonly string[];
  readonly session: string | undefined;
}

export interface StatusValue {
  /** Top of the working tree, absolute. */
  readonly worktree: string;
  /** The folder in the working tree where the command was started: empty, or ending in `/`. */
  readonly prefix: string;
  readonly branch: string;
  /** The session that asks; `null`: a person. */
  readonly session: string | null;
  /** The sessions that own a change here, or that made or got a request. */
  readonly sessions: readonly NamedSessionShape[];
  readonly items: readonly DirtyPathShape[];
  readonly requests: readonly RequestShape[];
  /** What a sync would move, for each configured remote that was asked before. */
  readonly remotes: readonly RemoteSummary[];
}

const ORDER: readonly BelongsTo[] = ['mine', 'contended', 'other', 'left', 'nobody'];

/** Lists the dirty paths of this working tree with their owners, the asking session's first. */
export async function status(options: StatusOptions, context: Context): Promise<CommandResult<StatusValue>> {
  const { cwd } = context;
  const [{ repository, sessions, notices }, { settings, remotes }] = await Promise.all([
    openWorkspace(context),
    readSettingsAndRemotes(cwd),
  ]);
  const tree = await requireWorkTree(repository);
  const named = options.paths.map((path) => pathHere(path, cwd, repository, tree));
  const self = findOwner(context, { repository, sessions }, options.session);
  const judged = judgedSessions({ repository, sessions }, settings, context.now);
  const [work, waiting] = await Promise.all([
    lookAtWork(tree, judged, context.now),
    remotes.size === 0 ? [] : summariseRemotes(cwd, remotes, context.budget),
  ]);
  await settleClaims(work);
  const asker = askerOf(self, judged, tree.commonDir);
  const paths = [...work.status.dirty.keys()];
  const looking = { asking: self, timeoutMs: context.budget.left(), now: context.now };
  const others = await overlapsElsewhere(tree, work.status.dirty.values(), judged, looking);
  for (const [at, name] of named.entries()) requireThere(options.paths[at] ?? '', name, tree, paths);
  const own = self === undefined ? new Set<SessionId>() : ownersOf(self, asker, judged);
  const running = self === undefined ? [] : await unrecordedClaims(self, work, own, context.now);
  const items = [...work.status.dirty.values()]
    .filter(({ path }) => named.length === 0 || named.some((name) => isNamed(path, name)))
    .map((dirty) => dirtyShape(dirty, belongingOf(work, dirty, asker, running), others))
    .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || (a.path < b.path ? -1 : 1));
  const isOwner = (session: string, path: string) =>
    items.some((item) => item.path === path && item.owners.includes(session));
  const requests = requestShapes(work.ledgers, judged, tree.top, isOwner);
  const names = [...items.flatMap(({ owners }) => owners), ...requests.flatMap(({ from, to }) => [from, to])];
  const value = {
    worktree: tree.top,
    prefix: prefixIn(tree.top, cwd),
    branch: repository.branch,
    session: self ?? null,
    sessions: namedSessions(names, judged),
    items,
    requests,
    remotes: waiting,
  };
  const off = isInitialised(repository.commonDir)
    ? []
    : ['sessions are not registered in this repository; to register them: git handoff init'];
  return { value, notices: [...notices, ...off] };
}

/** Summarises only configured remotes: what we remember about a removed one helps nobody. */
async function summariseRemotes(
  cwd: string,
  remotes: ReadonlySet<string>,
  budget: Budget,
): Promise<RemoteSummary[]> {
  const refs = await listBookkeeping({ cwd }, [HANDOFFS, REMOTE, PRUNED]);
  const tips = refs.flatMap(({ name, oid }) => {
    const path = parsePath(name, HANDOFFS);
    return path === undefined ? [] : [{ path, oid }];
  });
  const { summary } = await compareWithRemotes({ cwd }, refs, tips, budget);
  return summary.filter(({ remote }) => remotes.has(remote));
}

/** Refuses a path that does not exist: a mistyped name must not look like a clean path. */
function requireThere(typed: string, path: string, { top }: WorkTree, dirty: readonly string[]): void {
  if (lstatOf(join(top, path)) !== undefined || dirty.some((one) => isNamed(one, path))) return;
  const message = `there is no ${escapeLine(typed)}, and no uncommitted change removed it`;
  throw new Failure('not-found', message, { hint: 'git handoff status' });
}

/** The folder in which a command was started, relative to the top of the working tree, as git prints it. */
export function prefixIn(top: string, cwd: string): string {
  const path = relative(top, cwd).replaceAll(sep, '/');
  return path === '' || path.startsWith('..') ? '' : `${path}/`;
}

function dirtyShape(
  dirty: DirtyPath,
  { state, claims, weak }: Belonging,
  others: readonly OtherTree[],
): DirtyPathShape {
  const [first] = claims;
  const owners = claims.map(({ session }) => session);
  return {
    path: dirty.path,
    change: changeKind(dirty),
    state,
    owner: state === 'contended' ? null : (owners[0] ?? null),
    owners,
    evidence: first?.evidence ?? null,
    weak,
    since: first === undefined ? null : timestamp(first.since),
    staged: isStaged(dirty),
    alsoIn: others.flatMap((other) => alsoIn(other, dirty.path)),
  };
}

function alsoIn({ top, overlaps }: OtherTree, path: string): AlsoChangedShape[] {
  const { kind, sessions = [] } = overlaps.find((one) => one.path === path) ?? {};
  if (kind === undefined || sessions.length === 0) return [];
  return [{ worktree: top, sessions: sessions.map(namedSession), kind }];
}

function namedSessions(names: readonly string[], judged: readonly JudgedSession[]): NamedSessionShape[] {
  return [...new Set(names)].map((session) => {
    const all = judged.filter(({ record }) => record.session === sessionOfOwner(session as SessionId));
    const known = all.find(({ liveness }) => liveness === 'live') ?? all[0];
    return { session, client: known?.record.client ?? null, liveness: known?.liveness ?? 'ended' };
  });
}
