/** A note as its author wrote it. `head + body` is the note again, character for character. */
interface NoteDocument {
  /** The front matter with its `---` lines, as it stands; empty when there is none. */
  readonly head: string;
  /** The YAML between them; `undefined` when there is none. */
  readonly yaml: string | undefined;
  readonly body: string;
}

const OPENING = /^\uFEFF?---[ \t]*\r?\n/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/gm;
/**
 * Longer than any front matter that is meant as such (256 references of 1,024 characters fit, quoted): a note that
 * only begins with a rule is not searched to its end.
 */
const MAX_HEAD_CHARACTERS = 640 * 1024;

/**
 * Takes a note apart at its YAML front matter: a first line `---` (a byte order mark may stand before it), and the next
 * line that is `---` or `...`. Without such a line the first one is a thematic break of Markdown, and the whole note is
 * body. The YAML itself is not checked here.
 */
export function splitNote(note: string): NoteDocument {
  const opening = OPENING.exec(note)?.[0];
  if (opening === undefined) return { head: '', yaml: undefined, body: note };
  CLOSING.lastIndex = opening.length;
  const closing = CLOSING.exec(note.slice(0, MAX_HEAD_CHARACTERS));
  if (closing === null) return { head: '', yaml: undefined, body: note };
  const end = closing.index + closing[0].length;
  return { head: note.slice(0, end), yaml: note.slice(opening.length, closing.index), body: note.slice(end) };
}

/** Whom and what a note concerns, from the options of `write`. */
export interface Address {
  readonly to: string | undefined;
  readonly tags: readonly string[];
  readonly references: readonly string[];
}

/** A note as it is written: its bytes, and what the commit says of it. */
export interface PreparedNote {
  readonly note: Uint8Array;
  readonly summary: string;
  readonly to: string | undefined;
  /** The operator in its front matter's `from`; a note without front matter is from its session only. */
  readonly from: string | undefined;
}

export interface NoteScene {
  readonly topic: string;
  /** The name to write as `from`. */
  readonly from: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Whether any of these options is given: then the note needs front matter. */
export function isAddressed({ to, tags, references }: Address): boolean {
  return to !== undefined || tags.length > 0 || references.length > 0;
}
