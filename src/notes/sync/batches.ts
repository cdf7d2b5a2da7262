/** Parts of a list, each of so many items at the most. */
export function inBatches<T>(all: readonly T[], size: number): (readonly T[])[] {
  const batches: (readonly T[])[] = [];
  for (let at = 0; at < all.length; at += size) batches.push(all.slice(at, at + size));
  return batches;
}

/** Does something with each, two at a time: a git process keeps one core busy. */
export async function twoAtOnce<T>(all: readonly T[], act: (one: T) => Promise<unknown>): Promise<void> {
  for (const pair of inBatches(all, 2)) await Promise.all(pair.map(act));
}
