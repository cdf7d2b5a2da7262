import type { LedgerEntry } from '../../domain/ledger/claims.ts';
import { type Request, wishText } from '../../domain/ledger/requests.ts';
import { peerName } from '../../domain/owner-name.ts';
import { escapeLine, listed } from '../../domain/surfacing.ts';
import type { WorkPlace } from '../../changes/work-place.ts';
import type { TreeCall } from '../call.ts';
import { readPeople } from '../people.ts';
import { typedIn } from '../checks/typed.ts';

/** More of them come with the next call. */
const MAX_REQUESTS = 3;

/** The requests of sessions that are at work, as the one who is asked reads them, and what remembers that it has. */
export async function handOver(
  call: TreeCall,
  place: WorkPlace,
  asked: readonly Request[],
): Promise<{ readonly lines: readonly string[]; readonly told: readonly LedgerEntry[] }> {
  const people = await readPeople(call);
  const groups = new Map<string, Request[]>();
  for (const request of asked.filter(({ from }) => people.foreign.has(from))) {
    const like = `${request.from} ${request.wish}`;
    groups.set(like, [...(groups.get(like) ?? []), request]);
  }
  const handed = [...groups.values()].slice(0, MAX_REQUESTS);
  const { git, paths } = typedIn(call, place);
  const lines = handed.map((requests) => requestText(requests, { git, paths }, people));
  const ids = handed.flat().map(({ id }) => id);
  return { lines, told: ids.length === 0 ? [] : [{ t: 'told', ids, at: call.now }] };
}

function requestText(
  requests: readonly Request[],
  { git, paths }: Pick<ReturnType<typeof typedIn>, 'git' | 'paths'>,
  people: Parameters<typeof peerName>[1],
): string {
  const [{ from, wish }] = requests as readonly [Request];
  const names = requests.map(({ path }) => path);
  const wanted = wishText(peerName(from, people), wish, listed(names.map(escapeLine)));
  return `${wanted}, where you have uncommitted changes. When they are ready, commit them: ${git} handoff commit -m '<message>'${paths(names)}`;
}
