/** Marks words of ours for the eye. Where nobody looks they stay as they are. */
export interface Paint {
  /** What is the reader's own, or in order. */
  readonly good: (text: string) => string;
  /** What is another's, or in the way. */
  readonly bad: (text: string) => string;
  /** What to look at, and the names of objects. */
  readonly mark: (text: string) => string;
}

const asItIs = (text: string): string => text;

export const PLAIN: Paint = { good: asItIs, bad: asItIs, mark: asItIs };

const ESCAPE = '\x1b';

const inColour =
  (code: number) =>
  (text: string): string =>
    `${ESCAPE}[${code}m${text}${ESCAPE}[m`;

/** git's own: green, red, yellow. */
export const COLOURS: Paint = { good: inColour(32), bad: inColour(31), mark: inColour(33) };

/** How many columns a text takes, whatever its colour. */
export function width(text: string): number {
  if (!text.includes(ESCAPE)) return text.length;
  const [plain = '', ...coloured] = text.split(ESCAPE);
  return coloured.reduce((sum, part) => sum + part.length - part.indexOf('m') - 1, plain.length);
}
