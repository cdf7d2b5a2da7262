import type { Budget, Feed } from './io.ts';
import { type Source, openSource } from './pipe.ts';

const NOTHING = Buffer.alloc(0);

/**
 * Reads a feed from a descriptor.
 *
 * @param first what was read of it already
 */
export function feedFrom(descriptor: number, first?: Buffer): Feed {
  let source: Source | undefined;
  let isOver = false;
  let chunks = first === undefined ? [] : [first];
  const keep = (chunk: Buffer | undefined) => {
    if (chunk?.length === 0) isOver = true;
    else if (chunk !== undefined) chunks.push(chunk);
  };
  const gather = () => {
    source ??= openSource(descriptor);
    for (let known = -1; !isOver && known < chunks.length;) {
      known = chunks.length;
      keep(source.poll());
    }
  };
  /** Waits for more input and takes everything that has arrived; false if none came in time, or it is over. */
  const wait = async (budget: Budget): Promise<boolean> => {
    source ??= openSource(descriptor);
    const known = chunks.length;
    if (!isOver) keep(await source.next(budget));
    gather();
    return chunks.length > known;
  };
  /** All that has come, as one piece. */
  const joined = () => (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
  /** Whether an end may have come with a piece, or a part of it with the one before. */
  const endsIn = (at: number, end: string) => {
    const [before, chunk] = [chunks[at - 1] ?? NOTHING, chunks[at] ?? NOTHING];
    const half = end.length - 1;
    const seam = [before.subarray(before.length - half), chunk.subarray(0, half)];
    return chunk.includes(end) || Buffer.concat(seam).includes(end);
  };
  const take: Feed['take'] = async (budget, end, parse) => {
    let at = 0;
    do {
      for (; at < chunks.length; at += 1) {
        if (!endsIn(at, end)) continue;
        const bytes = joined();
        const found = parse(bytes);
        if (found === undefined) continue;
        chunks = [bytes.subarray(found.length)];
        return found.value;
      }
    } while (await wait(budget));
    return undefined;
  };
  return {
    take,
    part: (budget) =>
      take(budget, '\0', (bytes) => {
        const end = bytes.indexOf(0);
        return { value: bytes.subarray(0, end), length: end + 1 };
      }),
    async rest(budget) {
      while (await wait(budget));
      return isOver ? Buffer.concat(chunks.splice(0)) : undefined;
    },
    gather,
  };
}
