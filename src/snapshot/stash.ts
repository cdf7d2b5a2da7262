import type { Oid, SessionId } from '../domain/names.ts';
import type { RescueLimits } from '../domain/settings.ts';
import { type StashEntry, listStash } from '../git/stash.ts';
import { appendSessionEvents, readAllJournals, readJournal } from '../sessions/journal.ts';
import { type Rescue, type RescuePlace, keepRescues, listRescues } from './rescues.ts';

export interface SeenStash {
  readonly entries: readonly StashEntry[];
  /** The entries that no rescue keeps yet. */
  readonly fresh: readonly StashEntry[];
  readonly rescues: readonly Rescue[];
}

/** Reads the stash, and which of its entries no rescue keeps yet. */
export async function readStash(cwd: string, timeoutMs?: number): Promise<SeenStash> {
  const [entries, rescues] = await Promise.all([listStash({ cwd, timeoutMs }), listRescues(cwd, timeoutMs)]);
  const pinned = new Set(rescues.filter(({ kind }) => kind === 'stash').map(({ oid }) => oid));
  return { entries, fresh: entries.filter(({ oid }) => !pinned.has(oid)), rescues };
}

/** Keeps every new entry as a rescue, because somebody may drop it from the stash. `now`: milliseconds since the epoch. */
export async function keepStash(
  place: RescuePlace,
  { entries, fresh, rescues }: SeenStash,
  limits: RescueLimits,
  now: number,
): Promise<void> {
  // The oldest first: numbers grow with time.
  const oids = fresh
    .slice(0, MAX_NEW)
    .reverse()
    .map(({ oid }) => oid);
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

/** The most entries that one call keeps; later calls keep the others. */
const MAX_NEW = 200;

/** Returns the session that made each stash entry, as far as it is known. */
export function readStashOwners(commonDir: string): ReadonlyMap<Oid, SessionId> {
  const journals = readAllJournals(commonDir);
  return new Map(
    journals.flatMap(({ session, stashed }) => [...stashed].map((oid) => [oid, session] as const)),
  );
}

/** Records that a session's command may make stash entries, and which entries exist before it. */
export function expectStash(commonDir: string, session: SessionId, before: readonly Oid[], at: number): void {
  appendSessionEvents(commonDir, session, [{ t: 'stashing', before, at }]);
}

/** The stash entries from before the session's running command; `undefined` if no command runs that may add entries. */
export function entriesBeforeCommand(commonDir: string, session: SessionId): readonly Oid[] | undefined {
  return readJournal(commonDir, session).stashing?.before;
}

/** Records that the session's command, now over, has made these entries. */
export function noteStashOwner(
  commonDir: string,
  session: SessionId,
  entries: readonly Oid[],
  at: number,
): void {
  appendSessionEvents(commonDir, session, [{ t: 'stashed', entries, at }]);
}
