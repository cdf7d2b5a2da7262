/**
 * A name as stores that do not tell case or invisible characters apart have it (macOS, Windows): equal ones may be one file
 * there.
 */
export function foldedName(name: string): string {
  return (
    name
      .normalize('NFKC')
      .replace(/\p{Cf}/gu, '')
      // Upper case first: it takes long s and ligatures apart.
      .toUpperCase()
      .toLowerCase()
  );
}
