import { guard } from './guard/guard.ts';
import type { BinaryText } from './git/binary-text.ts';
import { limitGit, noteLateGit } from './git/limits.ts';
import { type Budget, type Io, beforeAnswer, endWith, processTime } from './host/io.ts';
import { processIo } from './host/process-io.ts';

/**
 * Entry of the client hooks and the git hooks: `guard` and `hook <name>`. It says nothing where it has nothing to say,
 * and whatever goes wrong allows the call (start.ts).
 */

/**
 * From the launcher's first line to its last: it ends what hangs, and a machine that is merely busy never gets there.
 * Clients give a hook ten seconds. All our hooks of one commit have as much together (githooks/commit-time.ts).
 * Milliseconds.
 */
const CALL_MS = 8000;
/** Where git hung twice running (host/breaker.ts). Milliseconds. */
const HUNG_MS = 800;
/** A push waits for the network anyway, and reads more commits. */
const PUSH_MS = 30_000;

/** Runs the call that the process was started for (start.ts). */
export const main = (): Promise<number> => run(process.argv.slice(2), processIo());

/**
 * Runs one call of a hook and returns the exit status: 1 for a git hook that refuses, else 0.
 *
 * @throws whatever went wrong; the call is allowed then
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const words = readWords(argv, io);
  const whole = words.isHung ? HUNG_MS : words.rest[0] === 'pre-push' ? PUSH_MS : CALL_MS;
  const budget = io.budget(whole, words.begun);
  endWith(budget);
  limitGit(processTime);
  if (words.isHung) noteLateGit();
  if (words.verb === 'guard') return guardCall(words, io, budget);
  return words.verb === 'hook' ? gitHookCall(words, io, budget) : 0;
}

interface Words {
  readonly verb: string | undefined;
  readonly rest: readonly string[];
  readonly clientPid: number;
  /** The launcher's pid: the time runs since it began. */
  readonly begun: number | undefined;
  readonly client: string | undefined;
  readonly settings: string | undefined;
  /** The launcher lists by pipes what will be needed. */
  readonly isPiped: boolean;
  /** git hung in this worktree at the last two calls: the launcher asked it nothing. */
  readonly isHung: boolean;
  /** More of that: what `Listed` says. */
  readonly pipe: number | undefined;
  /** The git hooks: what the shim found out, and its arguments. */
  readonly gitDir: string | undefined;
  readonly commonDir: string | undefined;
  /** The shim reads an answer from the first line of the output. */
  readonly answer: boolean;
  readonly args: readonly string[];
}

function readWords(argv: readonly string[], io: Io): Words {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const options = argv.slice(0, end);
  const value = (name: string) => {
    const at = options.findIndex((word) => word === name || word.startsWith(`${name}=`));
    if (at < 0) return undefined;
    const word = options[at] ?? '';
    return word.startsWith(`${name}=`) ? word.slice(name.length + 1) : options[at + 1];
  };
  const pid = (name: string) => {
    const number = Number(value(name));
    return Number.isSafeInteger(number) && number > 0 ? number : undefined;
  };
  return {
    verb: argv[0],
    rest: argv.slice(1),
    clientPid: pid('--client-pid') ?? io.parentPid,
    begun: pid('--begun'),
    client: value('--client'),
    settings: value('--settings'),
    isPiped: options.includes('--settings-pipe'),
    isHung: options.includes('--hung'),
    pipe: options.includes('--more-pipe') ? 5 : undefined,
    gitDir: value('--git-dir'),
    commonDir: value('--common-dir'),
    answer: options.includes('--answer'),
    args: argv.slice(end + 1),
  };
}

/**
 * What the launcher or the git hook reads while Node starts comes by descriptor 3: the settings, with a dot behind the
 * last; at a session's start and before a commit refs follow, behind a NUL.
 */
async function readPiped(
  { isPiped, isHung, settings }: Words,
  io: Io,
  budget: Budget,
): Promise<{ settings?: string | undefined; records?: BinaryText | undefined; isLate?: true }> {
  if (isHung) return { isLate: true };
  if (!isPiped) return { settings };
  // Half of it: whoever waits for a git that hangs must be able to decide without.
  const bytes = await io.piped(3, budget.part(beforeAnswer(budget) / 2)).catch(() => undefined);
  if (bytes === undefined) {
    noteLateGit();
    return { isLate: true };
  }
  const end = bytes.indexOf(0);
  const text = bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
  return {
    settings: text === '.\n' || text.endsWith('\n.\n') ? text.slice(0, -'.\n'.length) : undefined,
    records: end < 0 ? undefined : bytes.toString('latin1', end + 1),
  };
}

/** Everything that the launcher piped in; what cannot be read in time is an empty payload. */
async function readPayload({ stdin }: Io, budget: Budget): Promise<string> {
  const bytes = await stdin.readAll(budget).catch(() => undefined);
  return bytes?.toString('utf8') ?? '';
}

async function guardCall(words: Words, io: Io, budget: Budget): Promise<number> {
  const { clientPid, client, pipe } = words;
  const { env, cwd } = io;
  const [{ settings, records, isLate }, text] = await Promise.all([
    readPiped(words, io, budget),
    readPayload(io, budget),
  ]);
  const now = io.clock();
  const listed = { records, pipe, begun: now - (CALL_MS - budget.left()) };
  await io.stdout.write(
    await guard({ text, client, settings, isLate, listed, clientPid, env, cwd, now, budget }),
  );
  return 0;
}

async function gitHookCall(words: Words, io: Io, budget: Budget): Promise<number> {
  const { clientPid, gitDir, commonDir, args, answer } = words;
  const [name = ''] = words.rest;
  const { cwd, env, clock } = io;
  const context = { cwd, env, clientPid, now: clock(), clock, budget };
  if (name === 'identity') {
    const { committerSession } = await import('./githooks/identity.ts');
    const id = await committerSession(context, gitDir);
    if (id !== undefined) await io.stdout.write(`${id}\n`);
    return 0;
  }
  const { gitHook } = await import('./githooks/git-hook.ts');
  const place = { gitDir, commonDir };
  const { settings, records } = await readPiped(words, io, budget);
  const read = { settings, listed: records, readInput: () => readPayload(io, budget) };
  const said = await gitHook({ ...context, ...place, ...read, name, args });
  const word = said.refused ? 'refused' : said.isUnknown === true ? '?' : (said.session ?? '-');
  const lines = said.lines.map((line) => `${line}\n`).join('');
  // Before a line that somebody may wait for, nothing is said: the shim takes the two outputs as one.
  const first = answer ? `answer: ${word}\n` : '';
  // A refusal that nobody can read is still one.
  await io.stdout.write(first).catch(() => undefined);
  await io.stderr.write(lines).catch(() => undefined);
  // The launcher looks closer at a process that failed: for one that is read that is wasted time.
  return said.refused && !answer ? 1 : 0;
}
