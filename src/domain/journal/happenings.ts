import { wishText } from '../ledger/ownership.ts';
import { type SessionId, type WithClients, ownerId, peerName, sessionOfOwner } from '../names.ts';
import { escapeLine, listed } from '../messages.ts';
import type { EventOf, JournalLine } from './events.ts';

/**
 * Something that happened to a session or its work: a refusal, a request, a take, a loss. A journal records it, and the session
 * hears of it with its next call. Subscribers learn of it at once.
 */
export interface Happening {
  readonly event: 'request' | 'refusal' | NonNullable<EventOf<'news'>['about']>;
  /** The session that it happens to; `null`: every session of a worktree. */
  readonly session: SessionId | null;
  /** The session that does it; `null`: a person, or git-handoff itself. */
  readonly by: SessionId | null;
  readonly paths?: readonly string[];
  /** `<branch>/<topic>` */
  readonly topic?: string;
  readonly message: (records: WithClients) => string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Returns what a new line of a session's journal means to others. */
export function happeningOf(owner: SessionId, { event }: JournalLine): Happening | undefined {
  const { at } = event;
  switch (event.t) {
    case 'request': {
      const { to, wish, paths, agent } = event;
      const message = (records: WithClients) =>
        wishText(peerName(ownerId(owner, agent), records), wish, listed(paths.map(escapeLine)));
      return { event: 'request', session: sessionOfOwner(to), by: owner, paths, message, at };
    }
    case 'refused':
      return { event: 'refusal', session: owner, by: null, message: () => event.text, at };
    case 'took': {
      const { topic, from } = event;
      const message = (records: WithClients) =>
        `${peerName(owner, records)} took ${escapeLine(topic)} over from ${peerName(from, records)}`;
      return { event: 'take', session: from, by: owner, topic, message, at };
    }
    case 'news': {
      const { about, to, text, paths } = event;
      if (about === undefined) return undefined;
      const session = to === undefined ? null : sessionOfOwner(to);
      const by = session === owner ? null : owner;
      return { event: about, session, by, ...(paths && { paths }), message: () => text, at };
    }
    default:
      return undefined;
  }
}
