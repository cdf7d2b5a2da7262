import { shortId, ownerName as nameOfOwner } from '../domain/names.ts';
import { escapeLine } from '../domain/surfacing.ts';
import type { JudgedSession } from '../sessions/records.ts';
import type { HandoffShape, NamedSessionShape } from './shapes.ts';

/** Returns an owner as lists show it: a person's name, or a session's client and short id. */
export function ownerText({
  owner,
  ownerName,
  client,
}: Pick<HandoffShape, 'owner' | 'ownerName' | 'client'>): string {
  if (client === null && !owner.startsWith('person-')) return escapeLine(shortId(owner));
  return nameOfOwner(owner, { client, name: ownerName });
}

/** Returns a session on record as answers name it. */
export function namedSession({ record, liveness }: JudgedSession): NamedSessionShape {
  return { session: record.session, client: record.client, liveness };
}
