import { guard } from './guard/guard.ts';
import { endChildren } from './git/run.ts';
import { type Budget, CALL_MS, type Io, readInput, processIo, asCall, runningCall } from './host/io.ts';
import { openTrace, trace } from './host/log.ts';

/**
 * Entry of the clients' hooks (`guard`) and git hooks (`hook <name>`). A call that needs no answer prints nothing. If anything
 * goes wrong, the guard allows the call (start.ts); a git hook ends with 1, and git-hooks/ lets the commit or push pass.
 */

/** Milliseconds for the check of a push: we read more commits for it, and a push waits for the network anyway. */
const PUSH_MS = 30_000;

/** Runs the call that the process was started for (start.ts). */
export const main = (argv: readonly string[]): Promise<number> => run(argv, processIo());

/**
 * Runs one call of a hook and returns its exit status.
 *
 * @param argv the pid of the launcher's parent, and the words that the launcher was given
 * @throws whatever went wrong; the call is then allowed
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const words = readWords(argv);
  const budget = io.budget(words.rest[0] === 'pre-push' ? PUSH_MS : CALL_MS);
  return asCall(budget, openTrace(io.env, io.stderr), async () => {
    trace('call', () => argv.slice(1).join(' '));
    try {
      if (words.verb === 'guard') return await guardCall(words, io, budget);
      if (words.verb === 'hook') return await gitHookCall(words, io, budget);
      return 0;
    } finally {
      const call = runningCall();
      if (call !== undefined) {
        const { recorded } = call;
        // We notify subscribers (the user's program) only once the answer is out.
        if (recorded.length > 0)
          await (await import('./sessions/happenings.ts')).notifySubscribers(recorded, io.env);
        endChildren(call);
      }
    }
  });
}

interface Words {
  readonly verb: string | undefined;
  /** The words after the verb; after `hook`, the first one is the git hook's name. */
  readonly rest: readonly string[];
  /** The process that started a client's hook. */
  readonly clientPid: number;
  readonly client: string | undefined;
  /** The folders that git-hooks/ found; empty for a client's hook. */
  readonly gitDir: string;
  readonly commonDir: string;
  readonly args: readonly string[];
}

function readWords([parent = '', ...argv]: readonly string[]): Words {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const options = argv.slice(0, end);
  const option = (name: string) => {
    const at = options.findIndex((word) => word === name || word.startsWith(`${name}=`));
    const word = options[at] ?? '';
    if (at < 0) return undefined;
    return word === name ? options[at + 1] : word.slice(name.length + 1);
  };
  return {
    verb: argv[0],
    rest: argv.slice(1),
    // If the launcher's parent is a shell (src/install/guard-command.ts), the shell passes the client's pid.
    clientPid: Number(option('--client-pid') ?? parent),
    client: option('--client'),
    gitDir: option('--git-dir') ?? '',
    commonDir: option('--common-dir') ?? '',
    args: argv.slice(end + 1),
  };
}

async function guardCall({ client, clientPid }: Words, io: Io, budget: Budget): Promise<number> {
  const { env, cwd } = io;
  const text = await readInput(io, budget);
  await io.stdout.write(await guard({ text, client, clientPid, env, cwd, now: io.clock(), budget }));
  return 0;
}

async function gitHookCall(words: Words, io: Io, budget: Budget): Promise<number> {
  const { gitHook } = await import('./githooks/git-hook.ts');
  return gitHook(words.rest[0] ?? '', words, io, budget);
}
