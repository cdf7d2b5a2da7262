/** Splits the words after `try`: its own options, and the command, which begins at the first other word or after `--`. */
export function commandOfTry(words: readonly string[]): {
  own: readonly string[];
  command: readonly string[];
} {
  const at = words.findIndex(
    (word, n) => word === '--' || (!word.startsWith('-') && words[n - 1] !== '--session'),
  );
  if (at < 0) return { own: words, command: [] };
  return { own: words.slice(0, at), command: words.slice(words[at] === '--' ? at + 1 : at) };
}
