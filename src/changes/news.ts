import type { LedgerEntry, LedgerEvent } from '../domain/ledger/claims.ts';
import { randomName } from '../host/random-name.ts';
import type { HeadPlace } from '../domain/ledger/snapshot.ts';
import { type SessionId, shortId } from '../domain/names.ts';
import { escapeLine } from '../domain/surfacing.ts';
import type { Ledgers } from './work-place.ts';

/** What a session must hear of the others: each once. */
export interface News {
  readonly lines: readonly string[];
  /** The entry that remembers it; appended when it has been said. */
  readonly told: readonly LedgerEntry[];
}

/** How many lines one answer holds; the rest follows with the next call. */
const MAX_LINES = 5;

/** Events of other sessions that this one has not heard. */
function unheard({ all, self }: Ledgers): LedgerEvent[] {
  return all
    .flatMap(({ events }) => events)
    .filter(
      ({ id, from, to }) =>
        (to === undefined ? from !== self.session : to === self.session) && !self.told.has(id),
    )
    .sort((a, b) => a.at - b.at);
}

/** The news of other sessions, and of a HEAD that moved since this session last looked. */
export function newsFor(ledgers: Ledgers, head: HeadPlace | undefined, now: number): News {
  const events = unheard(ledgers).slice(0, MAX_LINES);
  const lines = events.map(({ text }) => text);
  const ids = events.map(({ id }) => id);
  const moved = head === undefined ? undefined : movedHead(ledgers, head);
  if (moved !== undefined && !ledgers.self.told.has(moved.id)) {
    ids.push(moved.id);
    if (!moved.explained) lines.push(moved.text);
  }
  return { lines, told: ids.length === 0 ? [] : [{ t: 'told', ids, at: now }] };
}

/** HEAD is not where this session last saw it. `explained`: the session that moved it has said so. */
function movedHead(
  { all, self }: Ledgers,
  head: HeadPlace,
): { id: string; text: string; explained: boolean } | undefined {
  const seen = self.head;
  if (seen === undefined || (seen.ref === head.ref && seen.oid === head.oid)) return undefined;
  const id = `head:${head.ref}@${head.oid ?? ''}`;
  const explained = all.some(
    (ledger) =>
      ledger.session !== self.session &&
      ledger.moves.some((move) => move.at >= seen.at && move.ref === head.ref && move.oid === head.oid),
  );
  const text =
    seen.ref === head.ref
      ? `${refName(head.ref)} moved from ${shortOid(seen.oid)} to ${shortOid(head.oid)}, by somebody else. Look before you build on it: git log --oneline -3`
      : `This working tree is on ${refName(head.ref)} now; it was on ${refName(seen.ref)}. Somebody else switched it. To go back: git switch ${refName(seen.ref)}`;
  return { id, text, explained };
}

/** An event for all other sessions of the worktree. */
export function event(text: string, now: number, to?: SessionId): LedgerEntry {
  return { t: 'event', id: randomName(), text, at: now, ...(to === undefined ? {} : { to }) };
}

/** "session aaaaaaaa", at the beginning of a sentence. */
export function theSession(session: SessionId): string {
  return `Session ${shortId(session)}`;
}

/** A branch as people type it; a detached HEAD has no name. */
export function refName(ref: string): string {
  return ref === 'HEAD' ? 'a detached HEAD' : escapeLine(ref.replace(/^refs\/heads\//, ''));
}

export function shortOid(oid: string | null): string {
  return oid === null ? 'nothing' : oid.slice(0, 7);
}
