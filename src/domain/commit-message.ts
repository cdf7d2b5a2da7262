/**
 * What git's hooks have to know of a commit message, and the trailers of the session that commits. Messages are bytes, one
 * character each (latin1): nobody says in which encoding they are.
 */

import { shortId } from './names.ts';

/** What stands in a message, as far as trailers go. */
export interface MessageParts {
  /** Somebody wrote something: more than blanks, comments and the trailers of ours. */
  readonly hasText: boolean;
  /** A line names a session. */
  readonly namesSession: boolean;
  /** A line names the session that commits, in full or short. */
  readonly namesCommitter: boolean;
  /** A line names a model. */
  readonly namesModel: boolean;
  /** The last line has no end. */
  readonly isTorn: boolean;
  /** Nothing below the first line can be a trailer, a comment or an end of the message to git: a paragraph can be appended. */
  readonly isPlain: boolean;
}

/** Where a diff may follow that is no part of the message (git-commit(1), `--verbose`). */
const SCISSORS = ' ------------------------ >8 ------------------------';
const SESSION_LINE = /^claude-session-id: *([\w.-]*)/i;
const MODEL_LINE = /^assisted-by:/i;
/** What git may begin a comment with when `core.commentChar` is `auto`: it takes one that begins no line of the message. */
const COMMENT_CHARACTERS = /^[#;@!$%^&|:]/;

/**
 * Reads a message.
 *
 * @param comment what begins a comment besides `#`, which git before 2.45 takes where `core.commentString` is set; or `auto`
 */
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

/** The message that `git revert` writes: it leaves nothing else where it went well. */
export function isRevertMessage(text: string): boolean {
  return /^(?:Revert "|Reapply "|# \*\*\* SAY WHY WE ARE REVERTING )/.test(text);
}

/** What the trailers of a commit say, by key; a key that is left out is not wanted. */
export interface Trailers {
  readonly 'Claude-Session-Id'?: string;
  readonly 'Assisted-by'?: string;
}

/** The trailers that a message lacks, as lines. */
export function missingTrailers(trailers: Trailers, parts: MessageParts): string[] {
  const named = parts.namesCommitter ? undefined : trailers['Claude-Session-Id'];
  const assisted = parts.namesModel ? undefined : trailers['Assisted-by'];
  return [
    ...(named === undefined ? [] : [`Claude-Session-Id: ${named}`]),
    ...(assisted === undefined ? [] : [`Assisted-by: ${assisted}`]),
  ];
}

/** Excludes anything that could end a trailer. */
const MODEL = /^[A-Za-z][\w./@+[\]:-]*$/;
const MAX_MODEL = 120;

/** The session's client and model, as the guard noted them (src/guard/models.ts): the first line of its file. */
export function notedModel(file: string): string | undefined {
  const [line = ''] = file.split('\n', 1);
  const isModel = MODEL.test(line) && line.includes(':') && !line.endsWith(':');
  return isModel && line.length <= MAX_MODEL ? line : undefined;
}
