import type { Oid, SessionId } from '../domain/names.ts';
import type { RescueLimits } from '../domain/settings.ts';
import { type StashEntry, listStash } from '../git/stash.ts';
import { appendSessionEvents, readAllJournals, readJournal } from '../sessions/journal.ts';
import { type Rescue, type RescuePlace, keepRescues, listRescues } from './rescues.ts';

/** The stash as it is now. */
export interface SeenStash {
  readonly entries: readonly StashEntry[];
  /** The entries that nobody had seen before. */
  readonly fresh: readonly StashEntry[];
  readonly rescues: readonly Rescue[];
}

/** Reads the stash, and which of its entries have been kept. */
export async function readStash(cwd: string, timeoutMs?: number): Promise<SeenStash> {
  const [entries, rescues] = await Promise.all([listStash(cwd, timeoutMs), listRescues(cwd, timeoutMs)]);
  const pinned = new Set(rescues.filter(({ kind }) => kind === 'stash').map(({ oid }) => oid));
  return { entries, fresh: entries.filter(({ oid }) => !pinned.has(oid)), rescues };
}

/**
 * Keeps every new entry with a ref of its own, so that it is still there if somebody drops it.
 *
 * @param now milliseconds since the epoch
 */
export async function keepStash(
  place: RescuePlace,
  { entries, fresh, rescues }: SeenStash,
  limits: RescueLimits,
  now: number,
): Promise<void> {
  // The oldest first: numbers grow with time.
  const oids = fresh
    .slice(0, MAX_NEW)
    .map(({ oid }) => oid)
    .reverse();
  const held = new Set(entries.map(({ oid }) => oid));
  if (oids.length > 0) await keepRescues(place, 'stash', oids, { known: rescues, limits, now, held });
}

/** Reads the stash and keeps its new entries. */
export async function pinStash(
  place: RescuePlace,
  limits: RescueLimits,
  now: number,
  timeoutMs?: number,
): Promise<SeenStash> {
  const seen = await readStash(place.cwd, timeoutMs);
  await keepStash(place, seen, limits, now);
  return seen;
}

/** Most entries that one call pins; the next calls pin the others. */
const MAX_NEW = 200;

/** The session that made each entry of the stash, as far as it is known. */
export function readStashOwners(commonDir: string): ReadonlyMap<Oid, SessionId> {
  return new Map(
    readAllJournals(commonDir).flatMap(({ session, stashed }) =>
      [...stashed].map((oid) => [oid, session] as const),
    ),
  );
}

/** Records that a session is about to make an entry, and which entries are there before and not its own. */
export function expectStash(commonDir: string, session: SessionId, before: readonly Oid[], at: number): void {
  appendSessionEvents(commonDir, session, [{ t: 'stashing', before, at }]);
}

/** The entries before the session's running command, which may make more; `undefined` when no such command runs. */
export function entriesBeforeCommand(commonDir: string, session: SessionId): readonly Oid[] | undefined {
  return readJournal(commonDir, session).stashing;
}

/** Records that the session's command is over, and made these entries. */
export function noteStashOwner(
  commonDir: string,
  session: SessionId,
  entries: readonly Oid[],
  at: number,
): void {
  appendSessionEvents(commonDir, session, [{ t: 'stashed', entries, at }]);
}
