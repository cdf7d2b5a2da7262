import { readFileSync } from 'node:fs';
import { guard } from './guard/guard.ts';
import type { Listed } from './guard/scene.ts';
import type { BinaryText } from './git/binary-text.ts';
import type { Io } from './host/io.ts';

/**
 * Entry of the client hooks and the git hooks: `guard` and `hook <name>`. It says nothing where it has nothing to say,
 * and whatever goes wrong allows the call (start.ts).
 */

/** The whole process, Node's start included. Milliseconds. */
const DEADLINE_MS = 800;
/** A push waits for the network anyway, and reads more commits. */
const PUSH_DEADLINE_MS = 5000;

/**
 * Runs one call of a hook and returns the exit status: 1 for a git hook that refuses, else 0.
 *
 * @throws whatever went wrong; the call is allowed then
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const words = readWords(argv, io);
  if (words.verb === 'guard') return guardCall(words, io);
  return words.verb === 'hook' ? gitHookCall(words, io) : 0;
}

interface Words {
  readonly verb: string | undefined;
  readonly rest: readonly string[];
  readonly clientPid: number;
  readonly client: string | undefined;
  readonly settings: string | undefined;
  /** Refs as the launcher listed them. */
  readonly listed: Listed;
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
  const pid = Number(value('--client-pid'));
  const piped = options.includes('--settings-pipe') ? readPiped() : { settings: value('--settings') };
  return {
    verb: argv[0],
    rest: argv.slice(1),
    clientPid: Number.isSafeInteger(pid) && pid > 0 ? pid : io.parentPid,
    client: value('--client'),
    settings: piped.settings,
    listed: { records: piped.records, pipe: options.includes('--refs-pipe') ? 5 : undefined },
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
function readPiped(): { settings?: string | undefined; records?: BinaryText | undefined } {
  try {
    const bytes = readFileSync(3);
    const end = bytes.indexOf(0);
    const text = bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
    return {
      settings: text === '.\n' || text.endsWith('\n.\n') ? text.slice(0, -'.\n'.length) : undefined,
      records: end < 0 ? undefined : bytes.toString('latin1', end + 1),
    };
  } catch {
    return {};
  }
}

/** Everything that the launcher piped in; an unreadable stdin is an empty payload. */
function readPayload({ stdin }: Io): string {
  try {
    return stdin.readAll().toString('utf8');
  } catch {
    return '';
  }
}

async function guardCall({ clientPid, client, settings, listed }: Words, io: Io): Promise<number> {
  const { env, cwd } = io;
  const budget = io.budget(DEADLINE_MS);
  const text = readPayload(io);
  const now = io.clock();
  await io.stdout.write(await guard({ text, client, settings, listed, clientPid, env, cwd, now, budget }));
  return 0;
}

async function gitHookCall(words: Words, io: Io): Promise<number> {
  const { clientPid, settings, listed, gitDir, commonDir, args, answer } = words;
  const [name = ''] = words.rest;
  const { cwd, env, clock } = io;
  const budget = io.budget(name === 'pre-push' ? PUSH_DEADLINE_MS : DEADLINE_MS);
  const context = { cwd, env, clientPid, now: clock(), clock, budget };
  if (name === 'identity') {
    const { committerSession } = await import('./githooks/identity.ts');
    const id = await committerSession(context);
    if (id !== undefined) await io.stdout.write(`${id}\n`);
    return 0;
  }
  const { gitHook } = await import('./githooks/git-hook.ts');
  const place = { gitDir, commonDir };
  const read = { settings, listed: listed.records, readInput: () => readPayload(io) };
  const said = await gitHook({ ...context, ...place, ...read, name, args });
  const word = said === undefined ? '' : said.refused ? 'refused' : (said.session ?? '-');
  const lines = said?.lines.map((line) => `${line}\n`).join('') ?? '';
  // Before a line that somebody may wait for, nothing is said: the shim takes the two outputs as one.
  const first = answer && word !== '' ? `answer: ${word}\n` : '';
  // A refusal that nobody can read is still one.
  await io.stdout.write(first).catch(() => undefined);
  await io.stderr.write(lines).catch(() => undefined);
  // The launcher looks closer at a process that failed: for one that is read that is wasted time.
  return said?.refused === true && !answer ? 1 : 0;
}
