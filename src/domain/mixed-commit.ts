import { type SessionId, canMean, meantId, parseSessionId } from './names.ts';

/** Judges by a commit's message whether it holds the work of several sessions. Pure; `check` and pre-push ask. */

/** Two sessions that count as one: the one carries on the other's conversation, or was started inside it. */
export type RelatedSessions = readonly [SessionId, SessionId];

/**
 * Returns the different sessions that a commit message names; none if there are fewer than two. It searches the whole
 * message, because squashing and forges move trailers into the body, where git does not find them. Work that was taken
 * over on purpose is named by `Handoff-Accepted-From: <id>` and does not count.
 */
export function mixedSessions(message: string, related: readonly RelatedSessions[] = []): SessionId[] {
  const named = idsAfter(message, 'Claude-Session-Id');
  if (named.length < 2) return [];
  const accepted = idsAfter(message, 'Handoff-Accepted-From');
  // The full form of an id stands for its short one.
  const ids = new Set(named.map((id) => meantId(id, longer(id, named)) ?? id));
  const different: SessionId[] = [];
  for (const id of ids) {
    if (accepted.some((other) => canMean(id, other) || meantId(other, ids) === id)) continue;
    const family = familyOf(id, related);
    if (!different.some((other) => family.some((one) => sameId(one, other)))) different.push(id);
  }
  return different.length < 2 ? [] : different;
}

const longer = (id: SessionId, ids: readonly SessionId[]) => ids.filter((one) => one.length > id.length);

/** A message that names more sessions than this is judged by the first ones: comparing each with each takes time. */
const MAX_IDS = 256;

/** Returns the values of a key at the beginning of any line, each once, in their order. */
function idsAfter(message: string, key: string): SessionId[] {
  const lines = message.matchAll(new RegExp(`^[ \\t]*${key}[ \\t]*:[ \\t]*(\\S+)`, 'gim'));
  const ids = new Set<SessionId>();
  for (const [, text] of lines) {
    const id = parseSessionId(text);
    if (id !== undefined) ids.add(id);
    if (ids.size === MAX_IDS) break;
  }
  return [...ids];
}

/** Whether two ids may be one: `handoff.trailer = short` leaves eight characters. */
function sameId(a: SessionId, b: SessionId): boolean {
  return canMean(a, b) || canMean(b, a);
}

/** Returns an id with all that are related to it, over any number of steps. */
function familyOf(id: SessionId, related: readonly RelatedSessions[]): SessionId[] {
  const family = [id];
  for (const member of family) {
    for (const [a, b] of related) {
      const other = sameId(a, member) ? b : sameId(b, member) ? a : undefined;
      if (other !== undefined && !family.includes(other)) family.push(other);
    }
  }
  return family;
}
