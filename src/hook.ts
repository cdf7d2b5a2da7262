import { readFileSync, writeSync } from 'node:fs';
import { guard } from './commands/guard.ts';
import type { Listed } from './commands/guard/scene.ts';
import type { BinaryText } from './git/binary-text.ts';

/**
 * Entry of the client hooks and the git hooks: `guard` and `hook <name>`. It exits 0 whatever
 * happens, and says nothing where it has nothing to say; a git hook that refuses exits 1.
 */

/** The whole process, Node's start included. Milliseconds. */
const DEADLINE_MS = 800;
/** A push waits for the network anyway, and reads more commits. */
const PUSH_DEADLINE_MS = 5000;

let deadline = DEADLINE_MS;
const remaining = () => Math.max(1, deadline - performance.now());
/** The process gets so many milliseconds from now on, if it has fewer. */
const moreTime = (milliseconds: number) => {
  deadline = Math.max(deadline, performance.now() + milliseconds);
};
const remainingOfPush = () => Math.max(1, PUSH_DEADLINE_MS - performance.now());

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

function readWords(argv: readonly string[]): Words {
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
    clientPid: Number.isSafeInteger(pid) && pid > 0 ? pid : process.ppid,
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
function readPayload(): string {
  try {
    return readFileSync(0, 'utf8');
  } catch {
    return '';
  }
}

async function main(): Promise<void> {
  const words = readWords(process.argv.slice(2));
  const { env } = process;
  if (words.verb === 'guard') {
    const { clientPid, client, settings, listed } = words;
    finish(
      await guard({
        text: readPayload(),
        client,
        settings,
        listed,
        clientPid,
        env,
        cwd: process.cwd(),
        now: Date.now(),
        remaining,
        moreTime,
      }),
    );
  } else if (words.verb === 'hook') await gitHookCall(words);
}

async function gitHookCall(words: Words): Promise<void> {
  const { clientPid, settings, listed, gitDir, commonDir, args, answer } = words;
  const context = { cwd: process.cwd(), env: process.env, clientPid, now: Date.now() };
  const [name = ''] = words.rest;
  if (name === 'identity') {
    const { committerSession } = await import('./commands/committer-session.ts');
    const id = await committerSession(context);
    finish(id === undefined ? '' : `${id}\n`);
    return;
  }
  const { gitHook } = await import('./commands/hooks/git-hook.ts');
  const left = name === 'pre-push' ? remainingOfPush : remaining;
  const place = { gitDir, commonDir };
  const read = { settings, listed: listed.records, readInput: readPayload };
  const call = { ...context, ...place, ...read, name, args, remaining: left };
  const said = await gitHook(call);
  const word = said === undefined ? '' : said.refused ? 'refused' : (said.session ?? '-');
  const lines = said?.lines.map((line) => `${line}\n`).join('') ?? '';
  // Before a line that somebody may wait for, nothing is said: the shim takes the two outputs as one.
  const first = answer && word !== '' ? `answer: ${word}\n` : '';
  process.stderr.on('error', () => undefined);
  process.stdout.write(first, () =>
    // The launcher looks closer at a process that failed: for one that is read that is wasted time.
    process.stderr.write(lines, () => process.exit(said?.refused === true && !answer ? 1 : 0)),
  );
}

/** Children that outlive the deadline must not hold the process. */
function finish(output: string): void {
  const bytes = Buffer.from(output, 'utf8');
  let written = 0;
  // Making the stream of stdout costs 3 ms: silence needs none, and a pipe takes what is short at once.
  try {
    if (bytes.length > 0) written = writeSync(1, bytes);
  } catch {
    // A full pipe that does not block: the stream waits for its reader.
  }
  if (written === bytes.length) process.exit(0);
  process.stdout.on('error', () => process.exit(0));
  process.stdout.write(bytes.subarray(written), () => process.exit(0));
}

main().catch(() => process.exit(0));
