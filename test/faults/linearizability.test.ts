import { statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultWorld, KEPT, REF, TOPIC } from '../support/faults/fault-world.ts';
import { startGroup } from '../support/faults/process-group.ts';
import { amount, Random, seeded, Tally } from '../support/faults/seed.ts';
import { type Run, START } from '../support/repository.ts';

/** One call on a register: a read, or a compare-and-swap. All times are from one clock, in any unit. */
type Operation = ReadOperation | SwapOperation;

interface Span {
  readonly start: number;
  readonly end: number;
}

interface ReadOperation extends Span {
  readonly kind: 'read';
  readonly value: string;
}

interface SwapOperation extends Span {
  readonly kind: 'swap';
  readonly old: string;
  readonly next: string;
  /** `unknown`: the caller died, so the swap took effect at any time after its start, or never. */
  readonly outcome: 'done' | 'refused' | 'unknown';
}

/**
 * Whether the operations can be ordered so that each did what it reported to a single register. An operation that ended
 * before another began must also precede it (Wing and Gong 1993, with the memo of Lowe 2017).
 */
function isLinearizable(history: readonly Operation[], initial: string): boolean {
  const seen = new Set<string>();
  const search = (done: bigint, value: string): boolean => {
    const open = history.flatMap((operation, at) => (done & (1n << BigInt(at)) ? [] : [{ operation, at }]));
    const required = open.filter(({ operation }) => !isOptional(operation));
    if (required.length === 0) return true;
    const key = `${done} ${value}`;
    if (seen.has(key)) return false;
    seen.add(key);
    const firstEnd = Math.min(...required.map(({ operation }) => operation.end));
    return open.some(({ operation, at }) => {
      const next = operation.start <= firstEnd ? applied(operation, value) : undefined;
      return next !== undefined && search(done | (1n << BigInt(at)), next);
    });
  };
  return search(0n, initial);
}

const isOptional = (operation: Operation) => operation.kind === 'swap' && operation.outcome === 'unknown';

/** The value after the operation; `undefined` if the operation cannot have found this value and reported its result. */
function applied(operation: Operation, value: string): string | undefined {
  if (operation.kind === 'read') return operation.value === value ? value : undefined;
  if (operation.outcome === 'refused') return operation.old === value ? undefined : value;
  return operation.old === value ? operation.next : undefined;
}

/** A lock that stays unchanged for this long is abandoned: git holds one for milliseconds. */
const ABANDONED_MS = 1500;
/** A write is killed at most this many milliseconds after its start, which is about the time that a whole write takes. */
const KILL_WITHIN_MS = 220;

interface ClientOptions {
  /** The share of writes that are killed, 0 to 1. */
  readonly killed: number;
  /** The defect that the checker must find: writes forget the value that they read. */
  readonly dropsExpectation: boolean;
}

/** A handoff as a register: its value is the note, read by `show` and swapped by `write --expect`. */
class CliRegister {
  readonly history: Operation[] = [];
  /** How many writes did nothing because of a dead writer's lock. */
  blocked = 0;
  readonly #world: FaultWorld;
  #mending: Promise<void> = Promise.resolve();

  constructor(world: FaultWorld) {
    this.#world = world;
  }

  /** Runs one client: it repeatedly reads the note, and replaces what it read by its own text. */
  async client(name: string, rounds: number, random: Random, options: ClientOptions): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const read = await this.#read(name);
      const killAfter = random.next() < options.killed ? random.below(KILL_WITHIN_MS) : undefined;
      const expectation = options.dropsExpectation ? [] : ['--expect', read.oid];
      await this.#swap(name, `${name} ${round}`, read.note, expectation, killAfter);
    }
  }

  async #read(session: string): Promise<{ oid: string; note: string }> {
    const start = performance.now();
    const { stdout } = await this.#start(['show', TOPIC, '--json'], session, '').ended;
    const { oid, note } = JSON.parse(stdout) as { oid: string; note: string };
    this.history.push({ kind: 'read', start, end: performance.now(), value: note });
    return { oid, note };
  }

  async #swap(
    session: string,
    next: string,
    old: string,
    expectation: readonly string[],
    killAfter: number | undefined,
  ): Promise<void> {
    const start = performance.now();
    const write = this.#start(['write', TOPIC, '--take', ...expectation], session, next);
    const rest = killAfter === undefined ? undefined : wait(killAfter).then(() => write.kill());
    const run = await write.ended;
    const end = performance.now();
    await rest;
    const outcome = outcomeOf(run);
    if (outcome === undefined) this.blocked++;
    else this.history.push({ kind: 'swap', start, end, old, next, outcome });
    if (run.status !== 0) this.#mending = this.#mending.then(() => this.#mendAbandoned());
    await this.#mending;
  }

  #start(words: readonly string[], session: string, input: string) {
    return startGroup(this.#world, process.execPath, [...START, ...words], { session, input });
  }

  /** Waits and then runs doctor, as a person does after a message about a lock. */
  async #mendAbandoned(): Promise<void> {
    const locks = [REF, KEPT].map((ref) => join(this.#world.path, '.git', `${ref}.lock`));
    const former = locks.map(stamp);
    if (former.every((lock) => lock === undefined)) return;
    await wait(ABANDONED_MS);
    const abandoned = locks.filter((lock, at) => stamp(lock) !== undefined && stamp(lock) === former[at]);
    for (const lock of abandoned) utimesSync(lock, 0, 0);
    if (abandoned.length > 0) await this.#start(['doctor', '--fix'], 'sess-doctor', '').ended;
  }
}

/** A write's outcome; `undefined`: a lock was in the way, and nothing was done. */
function outcomeOf({ status, stderr }: Run): 'done' | 'refused' | 'unknown' | undefined {
  if (status === 0) return 'done';
  if (status === 4) return 'refused';
  if (status === null) return 'unknown';
  if (status === 7 && stderr.includes('.lock')) return undefined;
  throw new Error(`write: exit ${status}\n${stderr}`);
}

/** Distinguishes a lock from a later one with the same name. */
function stamp(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.ino} ${found.mtimeMs}`;
}

const HISTORIES = amount(3, 1000);
const CLIENTS = 4;
const ROUNDS = 5;
const FIRST = 'the beginning';
let world: FaultWorld;

beforeEach(() => {
  world = new FaultWorld();
});
afterEach(() => world.remove());

/** Lets clients read and swap at the same time, until each has done its rounds. */
async function record(random: Random, killed: number, dropsExpectation = false): Promise<CliRegister> {
  world.handoff(['write', 'auth-refresh', '--take', '-m', FIRST], { session: 'sess-start' });
  const register = new CliRegister(world);
  const clients = Array.from({ length: CLIENTS }, (_, at) => {
    const own = new Random(random.below(2 ** 31));
    return register.client(`sess-${at}`, ROUNDS, own, { killed, dropsExpectation });
  });
  await Promise.all(clients);
  return register;
}

describe('reads and compare-and-swaps of one handoff', () => {
  it(`have an order that explains each of ${HISTORIES} histories with a quarter of the writers killed`, () =>
    seeded('histories', async (random) => {
      const tally = new Tally();
      for (let one = 0; one < HISTORIES; one++) {
        const { history, blocked } = await record(random, 0.25);
        expect(isLinearizable(history, `${FIRST}\n`), JSON.stringify(history)).toBe(true);
        for (const operation of history) tally.add(operation.kind === 'read' ? 'reads' : operation.outcome);
        for (let count = 0; count < blocked; count++) tally.add('blocked by a lock');
        world.mendLocks();
      }
      world.expectSound();
      return tally.figures;
    }));

  it('have no order that explains the history of writers that forget what they read', () =>
    seeded('histories without --expect', async (random) => {
      const { history } = await record(random, 0, true);
      expect(isLinearizable(history, `${FIRST}\n`)).toBe(false);
      return { operations: history.length };
    }));
});

describe('the checker of histories', () => {
  it('assumes neither that a swap of a killed caller happened nor that it did not', () => {
    const dead = { kind: 'swap', start: 0, end: 1, old: 'a', next: 'b', outcome: 'unknown' } as const;
    const read = (start: number, value: string) => ({ kind: 'read', start, end: start + 1, value }) as const;
    expect(isLinearizable([dead, read(2, 'a')], 'a')).toBe(true);
    expect(isLinearizable([dead, read(2, 'b')], 'a')).toBe(true);
    expect(isLinearizable([dead, read(2, 'b'), read(4, 'a')], 'a')).toBe(false);
    expect(isLinearizable([read(0, 'b'), { ...dead, start: 2, end: 3 }], 'a')).toBe(false);
  });
});
