import { type SessionId, parseSessionId } from './names.ts';

/**
 * The id under which a person writes: one per e-mail address, not readable as one. `sha256` returns
 * hex; it is handed in because the domain has no libraries.
 */
export function personId(email: string, sha256: (text: string) => string): SessionId | undefined {
  const address = email.trim().toLowerCase();
  return address === '' ? undefined : parseSessionId(`person-${sha256(address).slice(0, 12)}`);
}
