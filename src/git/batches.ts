/** Splits a list into parts of at most `size` items. */
export function inBatches<T>(all: readonly T[], size: number): (readonly T[])[] {
  const batches: (readonly T[])[] = [];
  for (let at = 0; at < all.length; at += size) batches.push(all.slice(at, at + size));
  return batches;
}

/** Acts on each item, two at a time, because a git process keeps one core busy. The results keep the list's order. */
export async function twoAtOnce<T, R>(all: readonly T[], act: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = all.entries();
  const lane = async () => {
    for (const [at, one] of left) results[at] = await act(one);
  };
  await Promise.all([lane(), lane()]);
  return results;
}
