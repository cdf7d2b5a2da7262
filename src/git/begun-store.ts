import { closeSync, readSync, writeFileSync } from 'node:fs';

/*
 * What a write ends with, begun by the launcher (`begun_store` in bin/git-handoff): one git waits for a pack, another for the
 * words of a ref transaction, which reach it once the pack is stored. Node's first process would cost more than both.
 */

/** By which they read, and by which the last one answers. */
const PACK = 5;
const WORDS = 6;
const ANSWER = 7;

/** Either of the two is called last. */
export interface BegunStore {
  /** Whether everything is stored and the refs are moved. If not it may be so all the same, and nobody says why. */
  finish(pack: Uint8Array, words: string): boolean;
  /** Lets both end without input. */
  abandon(): void;
}

let isWaiting = false;

/** From now on `begunStore` gives what the launcher has begun. */
export function takeStoreOfLauncher(): void {
  isWaiting = true;
}

/** `undefined` where nothing waits, or any more. */
export function begunStore(): BegunStore | undefined {
  if (!isWaiting) return undefined;
  isWaiting = false;
  let open = [PACK, WORDS];
  const abandon = () => {
    open.forEach((descriptor) => closeSync(descriptor));
    open = [];
  };
  return {
    finish(pack, words) {
      try {
        writeFileSync(PACK, pack);
        writeFileSync(WORDS, words);
      } catch {
        // Whoever should have read it has ended.
        return false;
      } finally {
        abandon();
      }
      return isCommitted();
    },
    abandon,
  };
}

/** It is when git says so: its end would only be another wait. */
function isCommitted(): boolean {
  const chunk = Buffer.alloc(1024);
  for (let said = ''; ;) {
    const length = readSync(ANSWER, chunk);
    said += chunk.toString('latin1', 0, length);
    if (/^commit: ok$/m.test(said)) return true;
    if (length === 0) return false;
  }
}
