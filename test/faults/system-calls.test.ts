import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultWorld, TOPIC } from '../support/faults/fault-world.ts';
import { amount, type Random, seeded, Tally } from '../support/faults/seed.ts';
import {
  type Injection,
  NO_STRACE,
  type Position,
  positions,
  readTrace,
  straceWords,
  wasInjected,
} from '../support/faults/strace.ts';

/**
 * A `git` that precedes the real one on PATH, and runs the first call of one git command under strace. Later calls of that
 * command run as usual: a failed write needs them to save its text.
 */
class GitShim {
  readonly trace: string;
  readonly #world: FaultWorld;
  readonly #folder: string;
  readonly #once: string;

  constructor(world: FaultWorld) {
    this.#world = world;
    this.#folder = join(world.root, 'shim');
    this.#once = join(world.root, 'shim-used');
    this.trace = join(world.root, 'shim-trace');
    mkdirSync(this.#folder);
  }

  /** The environment in which the command is traced, with the injection if there is one. */
  aim(command: string, calls: readonly string[], injection?: Injection): Record<string, string> {
    rmSync(this.#once, { recursive: true, force: true });
    rmSync(this.trace, { force: true });
    const path = this.#world.env()['PATH'] ?? '';
    const git = `PATH='${path}' git "$@"`;
    const script = [
      '#!/bin/sh',
      `case " $* " in *' ${command} '*) mkdir '${this.#once}' 2>/dev/null || exec env ${git}`,
      `exec ${straceWords(this.trace, calls, injection).join(' ')} env ${git} ;; esac`,
      `exec env ${git}`,
    ];
    const file = join(this.#folder, 'git');
    writeFileSync(file, `${script.join('\n')}\n`);
    chmodSync(file, 0o755);
    return { PATH: `${this.#folder}:${path}` };
  }
}

interface TracedWrite {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether the program began to read its stdin. */
  readonly hasRead: boolean;
}

/** Runs a whole write under `words`. Its stdin is a file, whose offset shows whether anybody read it. */
function writeBehind(
  world: FaultWorld,
  text: string,
  words: readonly string[],
  extra: Readonly<Record<string, string>> = {},
): TracedWrite {
  const note = join(world.root, 'note');
  writeFileSync(note, text);
  const stdin = openSync(note, 'r');
  try {
    const { status, stdout, stderr } = spawnSync('env', [...words, 'git-handoff', 'write', TOPIC], {
      cwd: world.path,
      env: world.env({ CLAUDE_CODE_SESSION_ID: world.session, ...extra }),
      stdio: [stdin, 'pipe', 'pipe'],
      encoding: 'utf8',
    });
    return { status, stdout, stderr, hasRead: readSync(stdin, Buffer.alloc(1)) === 0 };
  } finally {
    closeSync(stdin);
  }
}

const ERRORS = ['ENOSPC', 'EIO', 'EACCES', 'EROFS'];
const WHOLE_CALLS = ['openat', 'rename', 'fsync', 'mkdir', 'link'];
const KILLED_CALLS = ['rename', 'link', 'fsync', 'write', 'openat'];
const GIT_COMMANDS = ['cat-file', 'for-each-ref', 'unpack-objects', 'update-ref'];
const INJECTIONS = amount(40, 4000);
const WRITE_INJECTIONS = amount(24, 1000);
let world: FaultWorld;

beforeEach(() => {
  world = new FaultWorld();
  world.mustWrite('the beginning\n');
});
afterEach(() => world.remove());

/** Expects that a write reported as done is done, and that otherwise the text is kept, or was never read. */
function judge(before: string, text: string, { status, stdout, stderr, hasRead }: TracedWrite): string {
  const where = world.whereabouts(text, stderr);
  const told = `exit ${status}\n${stdout}${stderr}`;
  expect(status, told).not.toBeNull();
  expect(stderr, told).not.toContain('could NOT be kept');
  if (status === 0) {
    expect(where, told).toBe('tip');
    return 'tolerated';
  }
  if (where === 'tip') return 'applied, reported as failed';
  expect(world.tip()).toBe(before);
  if (hasRead) expect(where, told).toBeDefined();
  return where === undefined ? 'not started' : `text kept (${where})`;
}

/** Makes one write with one failing call, and removes the locks that it leaves. */
function play(tally: Tally, random: Random, name: string, write: (text: string) => TracedWrite): void {
  const before = world.tip();
  const text = `${name} ${random.next()}\n`;
  const done = write(text);
  tally.add(judge(before, text, done));
  if (done.status === 70) tally.add('taken for our own fault');
  if (world.locks().length > 0) world.mendLocks();
}

const why = NO_STRACE === undefined ? '' : ` (skipped: ${NO_STRACE})`;

describe.skipIf(NO_STRACE)(`a system call that fails${why}`, () => {
  it(`in any process of a write is reported, with the text kept: ${INJECTIONS} of them`, () =>
    seeded('failed calls', (random) => {
      const tally = new Tally();
      const trace = join(world.root, 'trace');
      writeBehind(world, 'to count the calls\n', straceWords(trace, WHOLE_CALLS));
      const all = positions(readTrace(trace)).flatMap((at) => ERRORS.map((error) => ({ ...at, error })));
      for (let round = 0; round < INJECTIONS; round++) {
        // Each call gets as many rounds, however often it occurs: frequent calls mostly load libraries.
        const kind = WHOLE_CALLS[round % WHOLE_CALLS.length];
        const { call, when, error } = random.pick(all.filter((at) => at.call === kind));
        const words = straceWords(trace, [call], { call, when, fault: `error=${error}` });
        play(tally, random, `${call} ${when} ${error}`, (text) => writeBehind(world, text, words));
        tally.add(wasInjected(trace) ? 'injected' : 'not reached');
      }
      world.mustWrite('the end\n');
      world.expectSound();
      return tally.figures;
    }));

  // Not in Node: a failing write(2) would hit the pipes with which libuv and V8 wake their threads, and Node would abort or hang.
  it(`in a write(2) of git is reported, with the text kept: ${WRITE_INJECTIONS} of them`, () =>
    seeded('failed write(2)', (random) => {
      const tally = new Tally();
      const shim = new GitShim(world);
      for (let round = 0; round < WRITE_INJECTIONS; round++) {
        const command = GIT_COMMANDS[round % GIT_COMMANDS.length] ?? '';
        const error = random.pick(ERRORS);
        const injection = { call: 'write', when: 1 + random.below(6), fault: `error=${error}` } as const;
        const env = shim.aim(command, ['write'], injection);
        const name = `${command} write ${injection.when} ${error}`;
        play(tally, random, name, (text) => writeBehind(world, text, [], env));
        tally.add(wasInjected(shim.trace) ? 'injected' : 'not reached');
      }
      world.mustWrite('the end\n');
      world.expectSound();
      return tally.figures;
    }));
});

/** All positions; in a short run, all calls that change what others see, and some of the remaining ones. */
function chosen(all: readonly Position[], random: Random, others: number): Position[] {
  const isDecisive = ({ call }: Position) => call !== 'openat' && call !== 'write';
  const rest = all.filter((at) => !isDecisive(at));
  return [...all.filter(isDecisive), ...random.sample(rest, amount(others, rest.length))];
}

describe.skipIf(NO_STRACE)(`SIGKILL at a system call${why}`, () => {
  it.each(['update-ref', 'unpack-objects'])('of git %s is survived by the write', (command) =>
    seeded(`kill git ${command}`, (random) => {
      const tally = new Tally();
      const shim = new GitShim(world);
      world.write('to count the calls\n', { env: shim.aim(command, KILLED_CALLS) });
      const all = positions(readTrace(shim.trace));
      expect(all).toContainEqual({ call: command === 'update-ref' ? 'rename' : 'link', when: 2 });
      for (const { call, when } of chosen(all, random, 8)) {
        const before = world.tip();
        const text = `killed at ${call} ${when}\n`;
        const env = shim.aim(command, KILLED_CALLS, { call, when, fault: 'signal=KILL' });
        const done = world.write(text, { env });
        tally.add(wasInjected(shim.trace) ? 'killed' : 'not reached');
        const told = `${text}exit ${done.status}: ${done.stderr}`;
        const where = world.whereabouts(text, done.stderr);
        expect(where, told).toBeDefined();
        expect([0, 7], told).toContain(done.status);
        if (done.status === 0) expect(where, told).toBe('tip');
        world.expectOldOrNew(before, text, done.stdout);
        tally.add(`text at the ${where ?? 'end'}`);
        if (world.writeAgain(`after ${call} ${when}\n`)) tally.add('stale locks mended');
      }
      world.expectSound();
      return tally.figures;
    }),
  );

  it('of any process that makes the call leaves the old tip or the new one', () =>
    seeded('kill every process', (random) => {
      const tally = new Tally();
      const trace = join(world.root, 'trace');
      writeBehind(world, 'to count the calls\n', straceWords(trace, KILLED_CALLS));
      for (const { call, when } of chosen(positions(readTrace(trace)), random, 15)) {
        const before = world.tip();
        const text = `killed at ${call} ${when}\n`;
        const words = straceWords(trace, KILLED_CALLS, { call, when, fault: 'signal=KILL' });
        const { stdout } = writeBehind(world, text, words);
        tally.add(wasInjected(trace) ? 'killed' : 'not reached');
        tally.add(world.expectOldOrNew(before, text, stdout) ? 'new tip' : 'old tip');
        if (world.writeAgain(`after ${call} ${when}\n`)) tally.add('stale locks mended');
      }
      world.expectSound();
      return tally.figures;
    }));
});
