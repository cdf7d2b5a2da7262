import { askerOf, belongingOf, lookAtWork } from '../../changes/dirty-work.ts';
import { ago, escapeLine, listed, shellWord, timestamp } from '../../domain/messages.ts';
import { listWorktrees, type ListedWorktree } from '../../git/worktrees.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import { readLedgers } from '../../sessions/journal.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import type { CommandResult } from '../verb.ts';
import type { RequestShape, SessionShape, AllowShape } from '../shapes.ts';
import { openJudged } from '../workspace.ts';
import type { SessionLedger } from '../../domain/ledger/claims.ts';
import { openRequests, wishText } from '../../domain/ledger/ownership.ts';
import { type SessionId, shortId, peerName, sessionOfOwner } from '../../domain/names.ts';
import { type Rendered, type TextContext, columns } from '../../ui/terminal.ts';

interface SessionsOptions {
  readonly all: boolean;
  readonly session: string | undefined;
}

interface SessionsValue {
  readonly items: readonly SessionShape[];
  readonly requests: readonly RequestShape[];
}

const ORDER = ['live', 'unknown', 'dead', 'ended'];

/** Lists the sessions of this repository and its worktrees, live ones first. */
export async function sessions(
  options: SessionsOptions,
  context: Context,
): Promise<CommandResult<SessionsValue>> {
  const [{ repository, sessions: stored, judged, notices }, worktrees] = await Promise.all([
    openJudged(context),
    listWorktrees({ cwd: context.cwd }),
  ]);
  const self = findSession(context, stored, options.session)?.id;
  const { commonDir } = repository;
  const looks = await Promise.all(worktrees.map((one) => lookAt(one, commonDir, judged, context.now)));
  const places = new Map(looks.map((look) => [look.id, look]));
  const items = judged
    .filter(({ liveness }) => options.all || liveness !== 'ended')
    .sort((a, b) => rank(a) - rank(b) || b.record.startedAt - a.record.startedAt)
    .map(({ record, liveness, silentMs, worktreeId }): SessionShape => {
      const { session, client, pid, parent, succeeds, startedAt, ended } = record;
      const place = places.get(worktreeId);
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
        self: session === self,
        uncommitted: [...(place?.changed.get(session) ?? [])],
      };
    });
  return { value: { items, requests: looks.flatMap(({ requests }) => requests) }, notices };
}

const rank = ({ liveness }: JudgedSession) => ORDER.indexOf(liveness);

/** A worktree, with the uncommitted paths of each of its sessions, and their requests. */
interface Look extends ListedWorktree {
  readonly id: string | undefined;
  readonly changed: ReadonlyMap<string, ReadonlySet<string>>;
  readonly requests: readonly RequestShape[];
}

/** Runs one `git status`, if the worktree has sessions. If git cannot read the worktree, all claimed paths count as changed. */
async function lookAt(
  worktree: ListedWorktree,
  commonDir: string,
  sessions: readonly JudgedSession[],
  now: number,
): Promise<Look> {
  const { path: top, gitDir } = worktree;
  const id = knownWorktreeId(gitDir);
  const tree = { top, gitDir, commonDir };
  const isUsed = id !== undefined && sessions.some(({ worktreeId }) => worktreeId === id);
  if (!isUsed) return { ...worktree, id, changed: new Map(), requests: [] };
  const work = await lookAtWork(tree, sessions, now).catch(() => undefined);
  const ledgers = work?.ledgers ?? readLedgers({ commonDir, worktreeId: id });
  const asker = askerOf(undefined, sessions, commonDir);
  const claims =
    work === undefined
      ? ledgers.flatMap((ledger) => [...ledger.claims.values()])
      : [...work.status.dirty.values()].flatMap((dirty) => belongingOf(work, dirty, asker).claims);
  const changed = new Map<string, Set<string>>();
  // A sub-agent's change also counts as its session's.
  for (const { session, path } of claims)
    for (const owner of [session, sessionOfOwner(session)])
      changed.set(owner, (changed.get(owner) ?? new Set()).add(path));
  const isChanged = (session: string, path: string) => changed.get(session)?.has(path) === true;
  return { ...worktree, id, changed, requests: requestShapes(ledgers, sessions, top, isChanged) };
}

/**
 * Returns the open requests between live sessions in one worktree.
 *
 * @param worktree the top of the worktree
 * @param isChanged whether a session still has an uncommitted change at a path
 */
export function requestShapes(
  ledgers: readonly SessionLedger[],
  sessions: readonly JudgedSession[],
  worktree: string,
  isChanged: (session: string, path: string) => boolean,
): RequestShape[] {
  const isLive = (id: SessionId) =>
    sessions.some(({ record, liveness }) => record.session === sessionOfOwner(id) && liveness === 'live');
  return openRequests(ledgers)
    .filter(({ from, to, owner, path }) => isLive(from) && isLive(to) && isChanged(owner, path))
    .map(({ from, to, wish, path, at, handedAt }) => {
      const times = { askedAt: timestamp(at), handedAt: handedAt === undefined ? null : timestamp(handedAt) };
      return { from, to, wish, path, worktree, ...times };
    });
}

/**
 * Returns a line for each kind of request from one session to another. A request that was handed over may still be unread.
 *
 * @param named a session as the list names it
 * @param typed a request's path as it is typed in the folder of the command
 */
export function requestLines(
  requests: readonly RequestShape[],
  named: (session: string) => string,
  typed: (request: RequestShape) => string,
  now: number,
): string {
  const groups = new Map<string, RequestShape[]>();
  for (const request of requests) {
    const { from, to, wish, handedAt } = request;
    const like = `${from} ${to} ${wish} ${handedAt ?? ''}`;
    groups.set(like, [...(groups.get(like) ?? []), request]);
  }
  return [...groups.values()]
    .map((group) => {
      const [{ from, to, wish, askedAt, handedAt }] = group as [RequestShape];
      const asked = `asked ${ago(Date.parse(askedAt), now)}`;
      const handed =
        handedAt === null
          ? `waits for the next call of ${named(to)}`
          : `handed to ${named(to)} ${ago(Date.parse(handedAt), now)}`;
      return `${wishText(named(from), wish, listed(group.map(typed)))} (${asked}, ${handed})\n`;
    })
    .join('');
}

/** Prints a line for each session, with a star for the one that asks. */
export function renderSessions({ items, requests }: SessionsValue, { now }: TextContext): Rendered {
  if (items.length === 0) return 'no session is registered here\n';
  const clients = new Map(items.map(({ session, client }) => [session, client]));
  const named = (id: string) => peerName(id, { clients });
  const asked = requestLines(requests, named, ({ path }) => shellWord(path), now);
  const table = columns(
    items.map((item) => [
      item.self ? '*' : ' ',
      escapeLine(shortId(item.session)),
      item.liveness,
      escapeLine(item.client),
      escapeLine(item.branch ?? '-'),
      `since ${ago(Date.parse(item.startedAt), now)}`,
      escapeLine(item.worktree ?? '-'),
      uncommitted(item.uncommitted),
    ]),
  );
  return asked === '' ? table : `${table}\n${asked}`;
}

const MAX_NAMES = 5;

function uncommitted(paths: readonly string[]): string {
  if (paths.length === 0) return '';
  const names = paths.slice(0, MAX_NAMES).map(shellWord).join(' ');
  return `${paths.length} uncommitted: ${names}${paths.length > MAX_NAMES ? ' …' : ''}`;
}

/** Says whose next refusal is allowed, and until when. */
export function renderAllowed({ session, until }: AllowShape, { clients }: TextContext): Rendered {
  const who = session === null ? 'whichever session is refused first' : peerName(session, { clients });
  return `allowed once, for ${who}, until ${until}\n`;
}
