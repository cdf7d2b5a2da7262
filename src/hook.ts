import { wholeSettings } from './domain/settings.ts';
import { guard } from './guard/guard.ts';
import { limitGit, noteLateGit } from './git/limits.ts';
import { type Budget, type Io, beforeAnswer, endWith, processTime, readInput, type Feed } from './host/io.ts';
import { processIo } from './host/process-io.ts';

/**
 * Entry of the client hooks and the git hooks: `guard` and `hook <name>`. It says nothing where it has nothing to say,
 * and whatever goes wrong allows a call of the guard (start.ts). A git hook that fails ends with 1, and git-hooks/ lets the
 * commit or push pass.
 */

/**
 * From the launcher's first line to its last: it ends what hangs, and a machine that is merely busy never gets there.
 * Clients give a hook ten seconds. All our hooks of one commit have as much together (githooks/earlier-hooks.ts).
 * Milliseconds.
 */
const CALL_MS = 8000;
/** Where git hung twice running (host/breaker.ts). Milliseconds. */
const HUNG_MS = 800;
/** A push waits for the network anyway, and reads more commits. */
const PUSH_MS = 30_000;

/** Runs the call that the process was started for (start.ts). */
export const main = (first?: Buffer): Promise<number> => run(process.argv.slice(2), processIo(first));

/**
 * Runs one call of a hook and returns the exit status: 0, or what a git hook says by it (githooks/hook-process.ts).
 *
 * @throws whatever went wrong with a call of the guard; it is allowed then
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const words = readWords(argv, io);
  if (words.verb === 'guard') return guardCall(words, io);
  return words.verb === 'hook' ? gitHookCall(words, io) : 0;
}

async function gitHookCall(words: Words, io: Io): Promise<number> {
  const [name = ''] = words.rest;
  const budget = begin(io.budget(name === 'pre-push' ? PUSH_MS : CALL_MS), false);
  try {
    const { hookProcess } = await import('./githooks/hook-process.ts');
    return await hookProcess(name, words, io, budget);
  } catch {
    return 1;
  }
}

/** From now on whatever is started ends with this budget. */
function begin(budget: Budget, isHung: boolean): Budget {
  endWith(budget);
  limitGit(processTime);
  if (isHung) noteLateGit();
  return budget;
}

interface Words {
  /** The process that a client's hook was started by. */
  readonly clientPid: number;
  readonly settings: string | undefined;
  /** What git-hooks/ found out. */
  readonly gitDir: string | undefined;
  readonly commonDir: string | undefined;
  /** What follows `--`. */
  readonly args: readonly string[];
  readonly verb: string | undefined;
  readonly rest: readonly string[];
  /** The launcher's pid: the time runs since it began. */
  readonly begun: number | undefined;
  readonly client: string | undefined;
  /** The launcher feeds a call of the guard by standard input. */
  readonly isFed: boolean;
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
    isFed: options.includes('--fed'),
    gitDir: value('--git-dir'),
    commonDir: value('--common-dir'),
    args: argv.slice(end + 1),
  };
}

/** A call of the guard, as far as it is read before anything is decided. */
interface GuardInput {
  readonly budget: Budget;
  readonly text: string;
  readonly settings: string | undefined;
  /** git did not tell the settings in time. */
  readonly isLate?: boolean;
  /** What else git tells. */
  readonly more?: Feed | undefined;
}

async function guardCall(words: Words, io: Io): Promise<number> {
  const { clientPid, client } = words;
  const { env, cwd } = io;
  const input = words.isFed ? await readFed(words, io) : await readPlain(words, io);
  if (input === undefined) return 0;
  const { budget, more, ...said } = input;
  const now = io.clock();
  const listed = { more, begun: now - (CALL_MS - budget.left()) };
  await io.stdout.write(await guard({ ...said, client, listed, clientPid, env, cwd, now, budget }));
  return 0;
}

async function readPlain({ begun, settings }: Words, io: Io): Promise<GuardInput> {
  const budget = begin(io.budget(CALL_MS, begun), false);
  return { budget, settings, text: await readInput(io, budget) };
}

/** What the launcher's `feed` prints; `undefined`: it had nothing to ask. */
async function readFed({ begun }: Words, io: Io): Promise<GuardInput | undefined> {
  const feed = io.stdin.feed();
  const whole = io.budget(CALL_MS, begun);
  const words = (await feed.part(whole))?.toString('latin1').split(' ');
  if (words === undefined) return undefined;
  const isHung = words.includes('hung');
  const budget = begin(isHung ? io.budget(HUNG_MS, begun) : whole, isHung);
  const isUnread = words.includes('unread');
  const payload = await (isUnread ? feed.rest(budget) : feed.part(budget));
  const text = payload?.toString('utf8') ?? '';
  if (isHung || isUnread) return { budget, text, settings: undefined, isLate: isHung };
  // Half of it: whoever waits for a git that hangs must be able to decide without.
  const settings = await feed.part(budget.part(beforeAnswer(budget) / 2));
  if (settings === undefined) noteLateGit();
  return {
    budget,
    text,
    settings: settings === undefined ? undefined : wholeSettings(settings.toString('utf8')),
    isLate: settings === undefined,
    more: words.includes('more') ? feed : undefined,
  };
}
