/** Text of a shell command together with what is known about it without running or reading it. */
export interface Piece {
  readonly text: string;
  /**
   * The command with the effect that `text` would have if everything in it succeeded, and if every condition that only the
   * running shell can decide were true. Equal to `text` if nothing in it can fail or be false.
   */
  readonly plainText: string;
  /** The reasons why `plainText` differs, in a few words each. */
  readonly lapses: readonly string[];
  /** The reasons why the text does not say what the command changes; mostly empty. */
  readonly riddles: readonly string[];
}

/** A gap, which each case fills in its own way: with blanks, a tab, or a line continuation. */
export const GAP = '\u00b7';

/** Where a template names the file. */
export const HOLE = '\u00a4';

const EMPTY: Piece = { text: '', plainText: '', lapses: [], riddles: [] };

/** A piece of plain text. */
export function plain(text: string): Piece {
  return { ...EMPTY, text, plainText: text };
}

/** Puts pieces together: a template whose holes are pieces or plain text. */
export function piece(strings: TemplateStringsArray, ...parts: readonly (Piece | string)[]): Piece {
  return strings.reduce<Piece>((all, literal, n) => {
    const part = parts[n - 1];
    const inner = typeof part === 'string' || part === undefined ? plain(part ?? '') : part;
    return {
      text: all.text + inner.text + literal,
      plainText: all.plainText + inner.plainText + literal,
      lapses: [...all.lapses, ...inner.lapses],
      riddles: [...all.riddles, ...inner.riddles],
    };
  }, EMPTY);
}

/** Changes the text and the plain text in the same way. */
export function mapped(from: Piece, change: (text: string) => string): Piece {
  return { ...from, text: change(from.text), plainText: change(from.plainText) };
}

/** Fills the holes of a template with a piece. */
export function filled(template: Piece, word: Piece): Piece {
  return {
    text: template.text.replaceAll(HOLE, () => word.text),
    plainText: template.plainText.replaceAll(HOLE, () => word.plainText),
    lapses: [...template.lapses, ...word.lapses],
    riddles: [...template.riddles, ...word.riddles],
  };
}

/** A text that, for a reason which only the running shell knows, does nothing or something else than `plainText`. */
export function lapsed(why: string, text: string, plainText: string): Piece {
  return { text, plainText, lapses: [why], riddles: [] };
}

/** A text whose effect is defined elsewhere, such as in a file. */
export function riddle(why: string, text: string): Piece {
  return { ...plain(text), riddles: [why] };
}

/** Text in base64; the placeholders in it are filled in first (`filledIn`). */
export function encoded(text: string): string {
  return `@BASE64(${Buffer.from(text).toString('base64')})@`;
}

/** Text as octal escapes for printf, with placeholders as in `encoded`. */
export function octal(text: string): string {
  return `@OCTAL(${Buffer.from(text).toString('base64')})@`;
}

/** Fills in placeholders, including those in encoded texts. */
export function filledIn(text: string, fill: (text: string) => string): string {
  const inner = (base64: string) => Buffer.from(filledIn(Buffer.from(base64, 'base64').toString(), fill));
  const whole = text
    .replace(/@BASE64\(([^)]*)\)@/g, (_, base64: string) => inner(base64).toString('base64'))
    .replace(/@OCTAL\(([^)]*)\)@/g, (_, base64: string) =>
      single([...inner(base64)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')),
    );
  return fill(whole);
}

/** Text in single quotes. */
export function single(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Text in double quotes, with nothing to expand. */
export function double(text: string): string {
  return `"${text.replace(/[\\$`"]/g, '\\$&')}"`;
}

/** Text in `$'…'`. */
export function ansi(text: string): string {
  return `$'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
}
