import type { OpenClaim } from '../domain/ledger/claims.ts';
import type { Wish } from '../domain/ledger/file-state.ts';
import type { SessionId } from '../domain/names.ts';
import { type LedgerPlace, appendEntries, readLedger } from './ledger.ts';

/** What a refused call wanted, and whose changes it was refused for. */
export interface AskedFor {
  readonly place: LedgerPlace;
  readonly wish: Wish;
  readonly claims: readonly Pick<OpenClaim, 'session' | 'path' | 'since'>[];
}

/** The owners of these changes find a request with their next call; what they were asked already is not asked again. */
export function recordRequest(from: SessionId, { place, wish, claims }: AskedFor, now: number): void {
  const { requests } = readLedger(place, from);
  const isAsked = ({ session, path, since }: AskedFor['claims'][number]) =>
    requests.some(({ to, paths, at }) => to === session && at >= since && paths.includes(path));
  const fresh = claims.filter((claim) => claim.session !== from && !isAsked(claim));
  const entries = [...new Set(fresh.map(({ session }) => session))].map((to) => {
    const theirs = fresh.filter(({ session }) => session === to);
    // The claim was there before, whatever the clocks of the two calls say.
    const at = Math.max(now, ...theirs.map(({ since }) => since));
    return { t: 'request', to, wish, paths: [...new Set(theirs.map(({ path }) => path))], at } as const;
  });
  appendEntries(place, from, entries);
}
