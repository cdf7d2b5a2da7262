import type { LedgerEntry } from '../../domain/ledger/claims.ts';
import { type Request, wishText } from '../../domain/ledger/requests.ts';
import { type Sides, claimsOn } from '../../domain/ledger/ownership.ts';
import { peerName } from '../../domain/owner-name.ts';
import { escapeLine, listed } from '../../domain/surfacing.ts';
import { takeSnapshot } from '../../git/work-tree.ts';
import { lookingTime } from '../../changes/work-place.ts';
import type { TreeCall } from '../call.ts';
import type { OpenLedger } from '../facts.ts';
import { readPeople } from '../people.ts';
import { type Typed, typedIn } from '../checks/typed.ts';

/** More of them come with the next call. */
const MAX_REQUESTS = 3;

/** The requests of sessions that are at work, as the one who is asked reads them, and what remembers that it has. */
export async function handOver(
  call: TreeCall,
  { place, ledgers }: OpenLedger,
  asked: readonly Request[],
): Promise<{ readonly lines: readonly string[]; readonly told: readonly LedgerEntry[] }> {
  const paths = asked.map(({ path }) => path);
  const timeoutMs = lookingTime(call);
  // What was committed or undone since the last look at everything is no reason to ask any more.
  const [people, { dirty }] = await Promise.all([
    readPeople(call),
    takeSnapshot(place.top, { paths, timeoutMs, now: call.now }),
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
  return { lines, told: ids.length === 0 ? [] : [{ t: 'told', ids, at: call.now }] };
}

function requestText(requests: readonly Request[], { git, paths }: Typed, people: Sides): string {
  const [{ from, wish }] = requests as readonly [Request];
  const names = requests.map(({ path }) => path);
  const wanted = wishText(peerName(from, people), wish, listed(names.map(escapeLine)));
  return `${wanted}, where you have uncommitted changes. When they are ready, commit them: ${git} handoff commit -m '<message>'${paths(names)}`;
}
