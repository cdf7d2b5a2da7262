import type { OpenClaim } from '../domain/ledger/claims.ts';
import type { Wish } from '../domain/ledger/file-state.ts';
import type { SessionId } from '../domain/names.ts';
import { peerName } from '../domain/owner-name.ts';
import { knownWorktreeId } from '../host/folders.ts';
import { clientsOf, listSessions } from '../sessions/records.ts';
import { appendEvents, type LedgerPlace, readLedger } from '../sessions/journal.ts';
import { event } from './news.ts';

/** What was let through, where, and whose work it concerns. */
interface LetThrough {
  readonly cwd: string;
  readonly gitDir: string;
  readonly commonDir: string;
  /** Who did it; `undefined`: a person. */
  readonly session: SessionId | undefined;
  /** Whose work it concerns; `undefined`: that of every other session of this worktree. */
  readonly owners: readonly SessionId[] | undefined;
  /** What is said, given whom it is said of. */
  readonly text: (who: string) => string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly timeoutMs: number;
}

/** Tells the sessions whose work is concerned, each at its next call, in the worktree where it is at work. */
export async function tellOwners(done: LetThrough): Promise<void> {
  const { cwd, gitDir, commonDir, session, owners, text, now, timeoutMs } = done;
  if (owners?.length === 0) return;
  const here = knownWorktreeId(gitDir);
  const sessions = await listSessions({ cwd }, timeoutMs);
  const who = session === undefined ? 'somebody' : peerName(session, { clients: clientsOf(sessions) });
  const others = sessions.filter(({ record }) => record.ended === null && record.session !== session);
  const isConcerned = ({ worktreeId, record }: (typeof others)[number]) =>
    owners === undefined ? worktreeId === here : owners.includes(record.session);
  const places = new Map<SessionId, string>();
  for (const stored of others.filter(isConcerned)) {
    const { worktreeId, record } = stored;
    if (worktreeId === here || !places.has(record.session)) places.set(record.session, worktreeId);
  }
  for (const [owner, worktreeId] of places) {
    // A person has no ledger: then it stands in the owner's own.
    appendEvents({ commonDir, worktreeId }, session ?? owner, [event(text(who), now, owner)]);
  }
}

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
  appendEvents(place, from, entries);
}
