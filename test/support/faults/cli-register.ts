import { statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { START, type Run } from '../repository.ts';
import { type FaultWorld, KEPT, REF, TOPIC } from './fault-world.ts';
import type { Operation } from './linearizability.ts';
import { startGroup } from './process-group.ts';
import type { Random } from './seed.ts';

/** A lock that stays as it is for this long has nobody behind it: git holds one for milliseconds. */
const ABANDONED_MS = 1500;
/** A kill comes at most this late after the start of a write, about as long as one takes. Milliseconds. */
const KILL_WITHIN_MS = 220;

export interface ClientOptions {
  /** Share of the writes that are killed, 0 to 1. */
  readonly killed: number;
  /** The defect that the checker must find: writes forget the value that they read. */
  readonly dropsExpectation: boolean;
}

/** A handoff as a register: its value is the note, read by `show` and swapped by `write --expect`. */
export class CliRegister {
  readonly history: Operation[] = [];
  /** Writes that a dead writer's lock kept from doing anything. */
  blocked = 0;
  readonly #world: FaultWorld;
  #mending: Promise<void> = Promise.resolve();

  constructor(world: FaultWorld) {
    this.#world = world;
  }

  /** One client: reads, then swaps what it read for a text of its own, again and again. */
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

  /** What a person does who is told of a lock: waits, then calls the doctor. */
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

/** `undefined`: a lock was in the way, nothing was done. */
function outcomeOf({ status, stderr }: Run): 'done' | 'refused' | 'unknown' | undefined {
  if (status === 0) return 'done';
  if (status === 4) return 'refused';
  if (status === null) return 'unknown';
  if (status === 7 && stderr.includes('.lock')) return undefined;
  throw new Error(`write: exit ${status}\n${stderr}`);
}

/** Tells a lock from the next one of the same name. */
function stamp(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.ino} ${found.mtimeMs}`;
}
