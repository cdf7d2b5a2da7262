import type { EventOf } from '../../domain/journal/events.ts';
import type { HeadPlace } from '../../domain/ledger/tree-status.ts';
import {
  type SessionId,
  canMean,
  refName,
  shortOid,
  switchBack,
  peerNames,
  peerName,
  sessionOfOwner,
} from '../../domain/names.ts';
import { escapeLine, listed } from '../../domain/messages.ts';
import { type LoggedCommit, headCommit } from '../../git/log.ts';
import { readClients } from '../../sessions/records.ts';
import {
  type Ledgers,
  lookTimeoutMs,
  markNotified,
  openLedgers,
  type WorkPlace,
} from '../../changes/windows.ts';
import {
  type SessionGroups,
  claimsOn,
  conversationOf,
  type Request,
  openRequests,
  wishText,
} from '../../domain/ledger/ownership.ts';
import { readTreeStatus } from '../../git/worktrees.ts';
import type { TreeCall } from '../call.ts';
import { type Typed, typedAt } from '../checks/typed.ts';
import type { OpenLedger } from '../facts.ts';
import { readPeople } from '../presence.ts';

/** Requests as lines for the session that is asked, and the ids under which they are recorded as heard. */
type Handed = Readonly<Record<'lines' | 'ids', readonly string[]>>;

/** The most lines in one answer; the rest follow with the next call. */
const MAX_LINES = 5;
/** The most characters that a text shows of a commit's subject. */
const MAX_SUBJECT = 60;

/**
 * News that this owner has not heard. A session also gets the news for its sub-agents that have ended.
 * `isAddressee`: the calling agent gets what is addressed to the owner.
 */
function undelivered({ all, self }: Ledgers, isAddressee: boolean): EventOf<'news'>[] {
  const session = sessionOfOwner(self.session);
  const own = conversationOf(session, all);
  const isOthers = (by: SessionId) =>
    by !== self.session && (sessionOfOwner(by) === session || !own.has(sessionOfOwner(by)));
  const isOfSession = (to: SessionId) =>
    session === self.session && sessionOfOwner(to) === session && !all.some((one) => one.session === to);
  return all
    .flatMap(({ session: by, news }) => news.map((one) => ({ by, ...one })))
    .filter(
      ({ id, by, to }, at, events) =>
        (to === undefined ? isOthers(by) : isAddressee && (to === self.session || isOfSession(to))) &&
        !self.notified.has(id) &&
        // Two sessions that read the status at the same time may have recorded the same event.
        events.findIndex((one) => one.id === id) === at,
    )
    .sort((a, b) => a.at - b.at);
}

/** The fact that HEAD is not where this session last saw it. */
interface MovedHead {
  readonly id: string;
  /** `undefined`: the session that moved HEAD has said so itself. */
  readonly text: string | undefined;
}

/** Says where HEAD moved, if this session has not heard of it. Does not guess who moved it. */
export async function movedHead(
  call: TreeCall,
  { place: { top }, ledgers: { all, self } }: OpenLedger,
  head: HeadPlace,
): Promise<MovedHead | undefined> {
  const seen = self.head;
  if (seen === undefined || (seen.ref === head.ref && seen.oid === head.oid)) return undefined;
  const id = `head:${head.ref}@${head.oid ?? ''}`;
  if (self.notified.has(id)) return undefined;
  if (othersMoved({ all, self }, head, seen.at)) return { id, text: undefined };
  if (seen.ref !== head.ref) return { id, text: switchedText(seen, head) };
  const timeoutMs = lookTimeoutMs(call);
  const commit = await headCommit({ cwd: top, timeoutMs }).catch(() => undefined);
  const what =
    commit?.oid === head.oid
      ? `: ${commitText(commit, self.session, await readClients({ cwd: top }, timeoutMs))}`
      : '; it is not known who moved it';
  const places = `${refName(head.ref)} is at ${shortOid(head.oid)} now (was ${shortOid(seen.oid)})`;
  return { id, text: `${places}${what}. Check the commit before you build on it: git log --oneline -3` };
}

/** Whether another session or agent has said, at or after `since`, that it moved HEAD to this place. */
export function othersMoved(
  { all, self }: Pick<Ledgers, 'all' | 'self'>,
  { ref, oid }: HeadPlace,
  since: number,
): boolean {
  const moves = all.filter(({ session }) => session !== self.session).flatMap((ledger) => ledger.moves);
  return moves.some((move) => move.at >= since && move.ref === ref && move.oid === oid);
}

/** Names a commit and the sessions in its trailers: `"Limit the rate", by claude aaaaaaaa`. */
export function commitText(
  { subject, sessions }: LoggedCommit,
  self: SessionId,
  clients: ReadonlyMap<SessionId, string>,
): string {
  const others = sessions.filter((id) => !canMean(id, sessionOfOwner(self)));
  const who =
    sessions.length === 0
      ? 'by no known session'
      : others.length === 0
        ? 'by this session'
        : `by ${peerNames(others, { clients })}`;
  return `"${escapeLine(subject).slice(0, MAX_SUBJECT)}", ${who}`;
}

function switchedText(seen: HeadPlace, head: HeadPlace): string {
  return (
    `This working tree is on ${refName(head.ref)} now; it was on ${refName(seen.ref)}. It is not known who switched it. ` +
    `To go back: ${switchBack(seen.ref, seen.oid)}`
  );
}

/**
 * Returns other sessions' news and requests for the session, each once. What is addressed to the session waits for its main
 * agent, because a sub-agent would not pass it on. `moved`: the news that HEAD has moved, if it has.
 */
export async function deliverNews(
  call: TreeCall,
  place: WorkPlace,
  ledgers: Ledgers,
  moved?: MovedHead,
): Promise<readonly string[]> {
  const isAddressee = call.event.agent === undefined || ledgers.self.session !== call.session;
  const news = undelivered(ledgers, isAddressee).slice(0, MAX_LINES);
  const handed = isAddressee ? await deliver(call, { place, ledgers }) : NOTHING;
  const ids = [...news.map(({ id }) => id), ...(moved === undefined ? [] : [moved.id]), ...handed.ids];
  markNotified(place, ledgers.self.session, ids, call.now);
  return [
    ...news.map(({ text }) => text),
    ...(moved?.text === undefined ? [] : [moved.text]),
    ...handed.lines,
  ];
}

/** Returns, for the session's start text, the requests that it has not heard yet. */
export async function deliverRequests(call: TreeCall, place: WorkPlace): Promise<readonly string[]> {
  const { lines, ids } = await deliver(call, { place, ledgers: openLedgers(place, call.session) });
  markNotified(place, call.session, ids, call.now);
  return lines;
}

const NOTHING: Handed = { lines: [], ids: [] };

/** The most requests in one answer; the rest follow with the next call. */
const MAX_REQUESTS = 3;

/** The requests that the owner has not heard, from sessions at work. If git fails, the requests wait for the next call. */
async function deliver(call: TreeCall, { place, ledgers: { all, self } }: OpenLedger): Promise<Handed> {
  const asked = openRequests(all).filter(({ to, handedAt }) => to === self.session && handedAt === undefined);
  if (asked.length === 0) return NOTHING;
  try {
    const look = { paths: asked.map(({ path }) => path), timeoutMs: lookTimeoutMs(call), now: call.now };
    // A request is settled once the work is committed or undone, which the last full status may not show yet.
    const [people, { dirty }] = await Promise.all([readPeople(call), readTreeStatus(place.top, look)]);
    const isOpen = ({ from, path, owner }: Request) =>
      people.foreign.has(from) &&
      dirty.has(path) &&
      claimsOn(path, all, people, dirty.get(path)?.head).own.some(({ session }) => session === owner);
    const groups = new Map<string, Request[]>();
    for (const request of asked.filter(isOpen)) {
      const like = `${request.from} ${request.wish}`;
      groups.set(like, [...(groups.get(like) ?? []), request]);
    }
    const handed = [...groups.values()].slice(0, MAX_REQUESTS);
    const typed = typedAt(call);
    const lines = handed.map((requests) => requestText(requests, typed, people));
    return { lines, ids: handed.flat().map(({ id }) => id) };
  } catch (error) {
    call.log('open', `requests were not delivered: ${String(error)}`);
    return NOTHING;
  }
}

function requestText(requests: readonly Request[], { git, paths }: Typed, people: SessionGroups): string {
  const [{ from, wish }] = requests as readonly [Request];
  const names = requests.map(({ path }) => path);
  const wanted = wishText(peerName(from, people), wish, listed(names.map(escapeLine)));
  return `${wanted}, where you have uncommitted changes. When they are ready, commit them: ${git} handoff commit -m '<message>'${paths(names)}`;
}
