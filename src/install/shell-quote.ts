/**
 * One word for a POSIX shell, whatever bytes it holds; always quoted, so that what is stored keeps one form.
 * (Words that are shown to people go through `shellWord`, which writes control characters as bash does.)
 */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
