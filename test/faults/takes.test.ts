import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Random, SEED, Tally, amount } from '../support/faults/seed.ts';
import { typedHints } from '../support/commit-hooks-world.ts';
import { A, B, SharingWorld, TEN, contextText } from '../support/sharing-world.ts';

/** Two sessions that want each other's notes and files at random, checked against the test's own rules. */

const HISTORIES = amount(12, 200);
const WISHES = 16;
/** One history per seed, from `GIT_HANDOFF_SEED` on, so that a failed one can be repeated with its own seed. */
const SEEDS = Array.from({ length: HISTORIES }, (_, n) => SEED + n);
/** The most hints that may follow each other until the goal is reached. */
const MAX_STEPS = 3;

const TOPICS = ['auth', 'auth-refresh', 'parser'];
const FILES = ['src/a.ts', 'src/b.ts', 'shared.md', 'new one.ts'];

/** The state of a session while another one wants something from it. */
type State = 'at work' | 'idle' | 'ended';

/** What is wanted: a verb, and from whom. */
interface Wish {
  readonly what: 'write' | 'write --take' | 'take' | 'take a file' | 'close' | 'delete';
  readonly command: string;
  /** The owner of what is wanted. */
  readonly owner: string | undefined;
}

class TakesHistory {
  readonly #random: Random;
  readonly #log: string[] = [];
  readonly #states = new Map<string, State>([
    [A, 'at work'],
    [B, 'at work'],
  ]);
  /** Who last wrote or took each file with an uncommitted change. */
  readonly #files = new Map<string, string>();
  readonly #world = new SharingWorld({ calls: 'thread', ready: [A, B], files: { 'new one.ts': TEN } });

  readonly #tally: Tally;

  constructor(seed: number, tally: Tally) {
    this.#random = new Random(seed);
    this.#tally = tally;
    mkdirSync(join(this.#world.path, 'sub'));
  }

  play(): void {
    try {
      for (let n = 0; n < WISHES; n += 1) this.#step(n);
    } catch (error) {
      if (error instanceof Error) error.message += `\n\n${this.#log.join('\n')}\n\n${this.#world.guardLog()}`;
      throw error;
    } finally {
      this.#world.remove();
    }
  }

  #step(n: number): void {
    const random = this.#random;
    const [session, other] = random.below(2) === 0 ? [A, B] : [B, A];
    // Whoever makes a call is at work.
    if (this.#states.get(session) === 'ended') this.#world.begin(session);
    this.#become(session, 'at work');
    if (random.below(3) === 0) this.#edit(session, random.pick(FILES), n);
    if (this.#states.get(other) !== 'ended') this.#become(other, random.pick(['at work', 'idle', 'ended']));
    this.#want(session, this.#wish(other, n));
  }

  #become(session: string, state: State): void {
    const former = this.#states.get(session);
    if (state === 'at work' && former !== state) this.#world.prompt(session);
    if (state === 'idle') this.#world.stop(session);
    if (state === 'ended') this.#world.end(session);
    this.#states.set(session, state);
    if (former !== state) this.#log.push(`${session[0]} is ${state}`);
  }

  #edit(session: string, path: string, n: number): void {
    const text = TEN.replace('line 5', `${session[0]} ${n}`);
    const { kind } = this.#world.write(session, path, text);
    if (kind !== 'deny') this.#files.set(path, session);
  }

  /** A wish, mostly for something that the other session owns. */
  #wish(other: string, n: number): Wish {
    const random = this.#random;
    const owners = this.#noteOwners();
    const topic = this.#likely(TOPICS, owners, other);
    const owner = owners.get(topic);
    switch (random.below(7)) {
      case 0:
      case 1:
        return { what: 'write', command: `git handoff write ${topic} -m 'Goal: ${n}'`, owner };
      case 2:
        return { what: 'write --take', command: `git handoff write ${topic} --take -m 'Goal: ${n}'`, owner };
      case 3:
        return { what: 'take', command: `git handoff take ${topic}`, owner };
      case 4:
        return { what: 'close', command: `git handoff close ${topic}`, owner };
      case 5:
        return { what: 'delete', command: `git handoff delete ${topic} --yes`, owner };
      default: {
        const path = this.#likely(FILES, this.#files, other);
        return {
          what: 'take a file',
          command: `git handoff take -- '${path}'`,
          owner: this.#files.get(path),
        };
      }
    }
  }

  #likely(all: readonly string[], owners: ReadonlyMap<string, string>, other: string): string {
    const theirs = all.filter((one) => owners.get(one) === other);
    return this.#random.pick(theirs.length === 0 || this.#random.below(4) === 0 ? all : theirs);
  }

  /** Types the command, compares the result with the rules, and types every hint. */
  #want(session: string, { what, command, owner }: Wish): void {
    const isOthers = owner !== undefined && owner !== session;
    const state = isOthers ? this.#states.get(owner) : undefined;
    const { status, stderr } = this.#type(session, command);
    if (!isOthers) {
      // No other session owns what is wanted, so no refusal may say that it belongs to one.
      expect({ command, stderr }).not.toMatchObject({
        stderr: expect.stringContaining('belongs to') as string,
      });
    } else if (what.includes('take') && state !== 'at work') {
      expect({ command, status, stderr }).toMatchObject({ status: 0 });
      this.#expectNotified(owner, state);
    } else {
      expect({ command, status, stderr }).toMatchObject({ status: 3 });
      if (state === 'at work') expect(stderr).not.toMatch(/^hint: .*\btake\b/m);
    }
    if (isOthers) this.#tally.add(`${what} from one ${state}`);
    if (what === 'take a file' && status === 0) this.#files.set(/'(.*)'/.exec(command)?.[1] ?? '', session);
    if (status === 3) this.#follow(session, stderr);
  }

  /** Expects that the former owner of a taken note or file is told of the take at its next prompt. */
  #expectNotified(owner: string, state: State | undefined): void {
    if (state !== 'idle') return;
    expect(contextText(this.#world.prompt(owner))).toContain(' took ');
    this.#world.stop(owner);
  }

  #follow(session: string, refusal: string): void {
    let said = refusal;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const [hint] = typedHints(said);
      if (hint === undefined) throw new Error(`no hint: ${said}`);
      const { status, stderr } = this.#type(session, hint);
      this.#tally.add('hints');
      if (status === 0) return;
      expect(stderr).not.toBe(said);
      said = stderr;
    }
    throw new Error(`no way out of: ${refusal}`);
  }

  /** Types a command as a client does. The command must not change what the other session owns while that is at work. */
  #type(session: string, command: string): { status: number; stderr: string } {
    const world = this.#world;
    const spared = [A, B].filter((one) => one !== session && this.#states.get(one) === 'at work');
    const owned = () => ({ notes: this.#notesOf(spared), files: this.#filesOf(spared) });
    const before = owned();
    const cwd = this.#random.below(3) === 0 ? join(world.path, 'sub') : world.path;
    const typed = cwd === world.path ? command : command.replace(/ -- '/, " -- '../");
    const { before: answer, run } = world.bash(session, typed, { cwd });
    const status = run?.status ?? 3;
    const stderr = run?.stderr ?? contextText(answer);
    this.#log.push(`${session[0]}: ${typed}\n  -> ${status} ${stderr}`);
    expect({ command, ...owned() }).toEqual({ command, ...before });
    return { status, stderr };
  }

  #noteOwners(): Map<string, string> {
    const format = '%(refname:lstrip=3)%00%(trailers:key=Claude-Session-Id,valueonly)';
    const lines = this.#world.git(['for-each-ref', `--format=${format}`, 'refs/handoffs/main/']).split('\n');
    return new Map(
      lines.filter((line) => line.includes('\0')).map((line) => line.split('\0') as [string, string]),
    );
  }

  /** The tips of the notes of some sessions. */
  #notesOf(sessions: readonly string[]): string[] {
    const owners = this.#noteOwners();
    return this.#world.refs().filter((ref) => {
      const [, topic = ''] = / refs\/handoffs\/main\/(\S+)/.exec(` ${ref}`) ?? [];
      return sessions.includes(owners.get(topic) ?? '');
    });
  }

  /** Texts, on the disk and in HEAD, of files that some sessions have changed. */
  #filesOf(sessions: readonly string[]): string[] {
    const paths = [...this.#files].filter(([, owner]) => sessions.includes(owner)).map(([path]) => path);
    return [this.#world.git(['rev-parse', 'HEAD']), ...paths.map((path) => this.#world.read(path))];
  }
}

describe('sessions that want each other’s notes and files at random', () => {
  const tally = new Tally();
  afterAll(() => {
    const figures = Object.entries(tally.figures).map(([what, count]) => `${what} ${count}`);
    process.stdout.write(`takes: ${figures.sort().join(', ')} (seed ${SEED})\n`);
    // In a single history, it may happen that nobody wants anything from a session at work.
    if (HISTORIES > 1)
      expect(tally.of('take from one at work') + tally.of('take a file from one at work')).toBeGreaterThan(0);
  });

  it.each(SEEDS)(
    'take only from one that waits or has ended, lose nothing at work, and get hints that work (seed %i)',
    (seed) => new TakesHistory(seed, tally).play(),
  );
});
