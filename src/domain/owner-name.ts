import { meantId, shortId } from './names.ts';
import { escapeLine } from './surfacing.ts';

/** What is known of an owner beside its id. */
interface Known {
  /** The client of a session. */
  readonly client?: string | null | undefined;
  /** What a person is called. */
  readonly name?: string | null | undefined;
}

/** The clients of sessions that are on record. */
export interface WithClients {
  readonly clients?: ReadonlyMap<string, string> | undefined;
}

/**
 * An owner as messages name it: "claude a1f0c3d2", or "session a1f0c3d2" where no record tells the client; a person by
 * name. A person's id is a hash, which tells nobody anything.
 */
export function ownerName(id: string, { client, name }: Known = {}): string {
  if (id.startsWith('person-')) return escapeLine(name ?? 'a person');
  const known = client ?? 'unknown';
  return escapeLine(`${known === 'unknown' ? 'session' : known} ${shortId(id)}`);
}

/** A session that works here or beside, by the records that were read. A commit's trailer may have its short id. */
export function peerName(id: string, { clients = new Map() }: WithClients): string {
  return ownerName(id, { client: clients.get(meantId(id, clients.keys()) ?? id) });
}

/** Several of them, each once. */
export function peerNames(ids: Iterable<string>, records: WithClients): string {
  return [...new Set(ids)].map((id) => peerName(id, records)).join(', ');
}
