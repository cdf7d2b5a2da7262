import { type Budget, type Io, readInput } from '../host/io.ts';
import { keptTable } from '../host/processes.ts';
import { gitHook } from './git-hook.ts';

/** What a git hook's process was started with: what sh found out, and the hook's arguments. */
interface HookWords {
  /** The process that started the launcher. */
  readonly clientPid: number;
  readonly gitDir: string | undefined;
  readonly commonDir: string | undefined;
  readonly args: readonly string[];
}

/** The exit status that refuses a commit or push: Node never ends with it by itself. git-hooks/ask.sh has it, too. */
export const REFUSED = 77;

/** Runs a git hook in a process of its own. Its exit status: 0 goes on, `REFUSED` refuses. */
export async function hookProcess(name: string, words: HookWords, io: Io, budget: Budget): Promise<number> {
  const { cwd, env, clock } = io;
  const context = { cwd, env, processes: keptTable(), now: clock(), clock, budget };
  const { refused, lines } = await gitHook({
    ...context,
    ...words,
    name,
    readInput: () => readInput(io, budget),
  });
  // A refusal that nobody can read is still one.
  await io.stderr.write(lines.map((line) => `${line}\n`).join('')).catch(() => undefined);
  return refused ? REFUSED : 0;
}
