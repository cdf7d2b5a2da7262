import { appendEvents } from '../../sessions/journal.ts';
import { type MovedHead, type News, newsFor } from './news.ts';
import { type Ledgers, type WorkPlace, openLedgers, lookTimeoutMs } from '../../changes/work-place.ts';
import { type SessionGroups, claimsOn } from '../../domain/ledger/ownership.ts';
import { type Request, openRequests, wishText } from '../../domain/ledger/requests.ts';
import { peerName } from '../../domain/names.ts';
import { escapeLine, listed } from '../../domain/surfacing.ts';
import { readTreeStatus } from '../../git/work-tree.ts';
import type { TreeCall } from '../call.ts';
import { type Typed, typedIn } from '../checks/typed.ts';
import type { OpenLedger } from '../facts.ts';
import { readPeople } from '../presence.ts';

/**
 * What the others have to tell the session at this call, each once. What only it is told waits for its main agent: a
 * sub-agent would keep it to itself.
 *
 * @param moved what became of HEAD
 */
export async function deliverNews(
  call: TreeCall,
  place: WorkPlace,
  ledgers: Ledgers,
  moved?: MovedHead,
): Promise<readonly string[]> {
  const isMain = call.event.agent === undefined;
  const { lines, entries } = newsFor(ledgers, { moved, isMain }, call.now);
  const asked = isMain ? newRequests(ledgers) : [];
  const handed = await deliver(call, { place, ledgers }, asked);
  appendEvents(place, call.session, [...entries, ...handed.entries]);
  return [...lines, ...handed.lines];
}

/** Requests that the session has not heard yet, for its start text. */
export async function deliverRequests(call: TreeCall, place: WorkPlace): Promise<readonly string[]> {
  const ledgers = openLedgers(place, call.session);
  const { lines, entries } = await deliver(call, { place, ledgers }, newRequests(ledgers));
  appendEvents(place, call.session, entries);
  return lines;
}

/** What the session is asked for, and has not heard. */
function newRequests({ all, self }: Ledgers): Request[] {
  return openRequests(all).filter(({ to, handedAt }) => to === self.session && handedAt === undefined);
}

async function deliver(call: TreeCall, open: OpenLedger, asked: readonly Request[]): Promise<News> {
  try {
    if (asked.length > 0) return await handOver(call, open, asked);
  } catch (error) {
    call.log('open', `requests wait for the next call: ${String(error)}`);
  }
  return { lines: [], entries: [] };
}

/** More of them come with the next call. */
const MAX_REQUESTS = 3;

/** The requests of sessions that are at work, as the one who is asked reads them, and what remembers that it has. */
async function handOver(
  call: TreeCall,
  { place, ledgers }: OpenLedger,
  asked: readonly Request[],
): Promise<News> {
  const paths = asked.map(({ path }) => path);
  const timeoutMs = lookTimeoutMs(call);
  // What was committed or undone since the last look at everything is no reason to ask any more.
  const [people, { dirty }] = await Promise.all([
    readPeople(call),
    readTreeStatus(place.top, { paths, timeoutMs, now: call.now }),
  ]);
  const isOpen = ({ from, path, owner }: Request) =>
    people.foreign.has(from) &&
    dirty.has(path) &&
    claimsOn(path, ledgers.all, people, dirty.get(path)?.head).own.some(({ session }) => session === owner);
  const groups = new Map<string, Request[]>();
  for (const request of asked.filter(isOpen)) {
    const like = `${request.from} ${request.wish}`;
    groups.set(like, [...(groups.get(like) ?? []), request]);
  }
  const handed = [...groups.values()].slice(0, MAX_REQUESTS);
  const typed = typedIn(call, place);
  const lines = handed.map((requests) => requestText(requests, typed, people));
  const ids = handed.flat().map(({ id }) => id);
  return { lines, entries: ids.length === 0 ? [] : [{ t: 'notified', ids, at: call.now }] };
}

function requestText(requests: readonly Request[], { git, paths }: Typed, people: SessionGroups): string {
  const [{ from, wish }] = requests as readonly [Request];
  const names = requests.map(({ path }) => path);
  const wanted = wishText(peerName(from, people), wish, listed(names.map(escapeLine)));
  return `${wanted}, where you have uncommitted changes. When they are ready, commit them: ${git} handoff commit -m '<message>'${paths(names)}`;
}
