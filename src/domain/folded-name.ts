/**
 * A name as file systems see it that ignore case or invisible characters (macOS, Windows): two names that fold to the same
 * text may be one file there.
 */
export function foldedName(name: string): string {
  return (
    name
      .normalize('NFKC')
      .replace(/\p{Cf}/gu, '')
      // Upper case first: it maps the long s and ligatures to plain letters.
      .toUpperCase()
      .toLowerCase()
  );
}
