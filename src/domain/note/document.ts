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
 * Takes a note apart at its YAML front matter: a first line `---` (a byte order mark may stand before it),
 * and the next line that is `---` or `...`. Without such a line the first one is a thematic break of
 * Markdown, and all is body. Whether the YAML says anything is not asked here.
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
