import { randomInt } from 'node:crypto';

/** `GIT_HANDOFF_FAULTS=long` asks for the large numbers; otherwise the small ones apply, which CI has time for. */
const LONG = process.env['GIT_HANDOFF_FAULTS'] === 'long';

/** Returns the number for a short or a long run. */
export function amount(short: number, long: number): number {
  return LONG ? long : short;
}

/** One seed for the whole run: `GIT_HANDOFF_SEED` repeats the choices of an earlier run. */
export const SEED = Number(process.env['GIT_HANDOFF_SEED'] ?? randomInt(2 ** 31));

/** Random choices that a seed repeats (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number at least 0, less than `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /** `count` of the items (all when there are fewer), each at most once, in random order. */
  sample<Item>(items: readonly Item[], count: number): Item[] {
    const rest = [...items];
    const drawn: Item[] = [];
    while (drawn.length < count && rest.length > 0) drawn.push(...rest.splice(this.below(rest.length), 1));
    return drawn;
  }
}

/** What a fault test counted. It is printed, to show how much a run did. */
export type Figures = Readonly<Record<string, number>>;

/**
 * Runs a test body with its own random choices, which do not depend on other tests. Prints its figures; a failure
 * says how to repeat it.
 */
export async function seeded(
  name: string,
  body: (random: Random) => Promise<Figures> | Figures,
): Promise<void> {
  let own = SEED;
  for (const byte of Buffer.from(name)) own = Math.imul(own, 31) + byte;
  try {
    const figures = Object.entries(await body(new Random(own)));
    const text = figures.map(([what, count]) => `${what} ${count}`).join(', ');
    process.stdout.write(`${name}: ${text} (seed ${SEED})\n`);
  } catch (error) {
    if (error instanceof Error) error.message += `\nreplay: GIT_HANDOFF_SEED=${SEED} npm run test:faults`;
    throw error;
  }
}

/** Counts by name. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string): void {
    this.#counts.set(what, this.of(what) + 1);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  get figures(): Figures {
    return Object.fromEntries(this.#counts);
  }
}
