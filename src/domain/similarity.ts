/** How alike two contents are, measured much as git does to find renames (gitdiffcore(7)). Pure. */

/** The pieces of a content, with the number of bytes that each stands for. */
export interface Pieces {
  readonly counts: ReadonlyMap<string, number>;
  readonly bytes: number;
}

/** A line, or at most 64 bytes of a longer one, as in git. */
const PIECE = /[^\n]{0,63}\n|[^\n]{1,64}/g;

/** Cuts a content into pieces: text and binary alike. */
export function piecesOf(content: Buffer): Pieces {
  const counts = new Map<string, number>();
  for (const [piece] of content.toString('latin1').matchAll(PIECE))
    counts.set(piece, (counts.get(piece) ?? 0) + piece.length);
  return { counts, bytes: content.length };
}

/** Returns how much of the larger content is also in the smaller one, in percent. */
export function similarity(a: Pieces, b: Pieces): number {
  let shared = 0;
  for (const [piece, bytes] of a.counts) shared += Math.min(bytes, b.counts.get(piece) ?? 0);
  return Math.floor((100 * shared) / Math.max(a.bytes, b.bytes, 1));
}
