import { shortId, type SessionId, canMean, meantId, parseSessionId } from './names.ts';

/**
 * What git's hooks need to know about a commit message, and the trailers of the committing session. A message is read as
 * latin1, one character for each byte, because its encoding is not known.
 */

/** What a message contains, as far as trailers are concerned. */
export interface MessageParts {
  /** Whether the message has more than blanks, comments and our trailers. */
  readonly hasText: boolean;
  readonly namesSession: boolean;
  /** Whether a line names the session that commits, by its full or short id. */
  readonly namesCommitter: boolean;
  readonly namesModel: boolean;
  /** Whether the last line lacks its line feed. */
  readonly isTorn: boolean;
  /** Whether a paragraph may be appended: git sees no trailer, comment or end of the message after the first line. */
  readonly isPlain: boolean;
}

/** The line that ends a message: a diff may follow (git-commit(1), `--verbose`). */
const SCISSORS = ' ------------------------ >8 ------------------------';
const SESSION_LINE = /^claude-session-id: *([\w.-]*)/i;
const MODEL_LINE = /^assisted-by:/i;
/** The comment characters of `core.commentChar=auto`: git takes the first that begins no line of the message. */
const COMMENT_CHARACTERS = /^[#;@!$%^&|:]/;

/** Reads a message. `comment`: prefix of comments, or `auto`. `#` always counts: git before 2.45 ignores `core.commentString`. */
export function messageParts(text: string, session: string, comment: string): MessageParts {
  const isTorn = text !== '' && !text.endsWith('\n');
  const lines = (isTorn ? text : text.slice(0, -1)).split('\n');
  const found = { hasText: false, namesSession: false, namesCommitter: false, namesModel: false };
  let isPlain = true;
  let isBlank = false;
  for (const line of text === '' ? [] : lines) {
    if (line.endsWith(SCISSORS)) return { ...found, isTorn, isPlain: false };
    const named = SESSION_LINE.exec(line)?.[1];
    isBlank = !/[^ \t]/.test(line);
    if (named !== undefined) {
      found.namesSession = true;
      if (named === session || named === shortId(session)) found.namesCommitter = true;
    } else if (MODEL_LINE.test(line)) found.namesModel = true;
    if (isBlank) isPlain &&= found.hasText;
    else if (named !== undefined || MODEL_LINE.test(line) || isComment(line, comment)) isPlain = false;
    else if (comment === 'auto' && COMMENT_CHARACTERS.test(line)) isPlain = false;
    else if (/^signed-off-by:/i.test(line)) isPlain = false;
    else {
      if (found.hasText && /:|^\(cherry picked from commit /.test(line)) isPlain = false;
      found.hasText = true;
    }
  }
  return { ...found, isTorn, isPlain: isPlain && !isBlank };
}

const isComment = (line: string, comment: string) =>
  line.startsWith('#') || (comment !== 'auto' && comment !== '' && line.startsWith(comment));

/** Whether `git revert` wrote the message: a revert that succeeded leaves no other trace. */
export function isRevertMessage(text: string): boolean {
  return /^(?:Revert "|Reapply "|# \*\*\* SAY WHY WE ARE REVERTING )/.test(text);
}

/** The values of a commit's trailers by key; a trailer that is left out is not wanted. */
export interface Trailers {
  readonly 'Claude-Session-Id'?: string;
  readonly 'Assisted-by'?: string;
}

/** The wanted trailers that a message lacks, as lines. */
export function missingTrailers(trailers: Trailers, parts: MessageParts): string[] {
  const named = parts.namesCommitter ? undefined : trailers['Claude-Session-Id'];
  const assisted = parts.namesModel ? undefined : trailers['Assisted-by'];
  return [
    ...(named === undefined ? [] : [`Claude-Session-Id: ${named}`]),
    ...(assisted === undefined ? [] : [`Assisted-by: ${assisted}`]),
  ];
}

/** A client and its model, without anything that could end a trailer. */
const MODEL = /^[A-Za-z][\w./@+[\]:-]*$/;
const MAX_MODEL = 120;

/** Reads the session's client and model (`Claude:<model>`) from the text that src/guard/presence.ts noted. */
export function notedModel(file: string): string | undefined {
  const [line = ''] = file.split('\n', 1);
  const isModel = MODEL.test(line) && line.includes(':') && !line.endsWith(':');
  return isModel && line.length <= MAX_MODEL ? line : undefined;
}

/** Tells from a commit's message whether the commit holds several sessions' work. Pure; `check` and pre-push call it. */

/** Two sessions that count as one: one carries on the other's conversation, or was started inside the other. */
export type RelatedSessions = readonly [SessionId, SessionId];

/**
 * Returns the different sessions that a commit message names; none if there are fewer than two. It searches the whole
 * message, because squashing and forges move trailers into the body, where git does not find them.
 * `Handoff-Accepted-From: <id>` names a session whose work was taken over on purpose: that session does not count.
 */
export function mixedSessions(message: string, related: readonly RelatedSessions[] = []): SessionId[] {
  const named = messageSessions(message);
  if (named.length < 2) return [];
  const accepted = idsAfter(message, 'Handoff-Accepted-From');
  // If an id is named in full and short, the full form replaces the short one.
  const ids = new Set(named.map((id) => meantId(id, longer(id, named)) ?? id));
  const different: SessionId[] = [];
  for (const id of ids) {
    if (accepted.some((other) => canMean(id, other) || meantId(other, ids) === id)) continue;
    const family = familyOf(id, related);
    if (!different.some((other) => family.some((one) => sameId(one, other)))) different.push(id);
  }
  return different.length < 2 ? [] : different;
}

/**
 * Returns the other sessions whose work a commit holds according to its message; `undefined`: the message names none. `self`
 * and its related sessions do not count. If the message names one of these, no session in `Handoff-Accepted-From` counts.
 */
export function otherOwners(
  message: string,
  self: SessionId | undefined,
  related: readonly RelatedSessions[] = [],
): SessionId[] | undefined {
  const named = messageSessions(message);
  if (named.length === 0) return undefined;
  const family = self === undefined ? [] : familyOf(self, related);
  const others = named.filter((id) => !family.some((one) => sameId(id, one)));
  if (others.length === named.length) return others;
  const accepted = idsAfter(message, 'Handoff-Accepted-From');
  return others.filter((id) => !accepted.some((one) => sameId(id, one)));
}

const longer = (id: SessionId, ids: readonly SessionId[]) => ids.filter((one) => one.length > id.length);

/** A message that names more sessions than this is judged by the first ones, because all pairs are compared. */
const MAX_IDS = 256;

/** The sessions that a commit message names, anywhere in it, by full or short ids. */
export const messageSessions = (message: string): SessionId[] => idsAfter(message, 'Claude-Session-Id');

/** Returns the different values of a key that begins a line, in their order. */
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

/** Whether two ids may name one session: with `handoff.trailer = short`, a trailer has only eight characters. */
function sameId(a: SessionId, b: SessionId): boolean {
  return canMean(a, b) || canMean(b, a);
}

/** Returns an id and all ids that are related to it, in any number of steps. */
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
