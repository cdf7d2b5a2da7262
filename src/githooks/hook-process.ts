import { wholeSettings } from '../domain/settings.ts';
import type { BinaryText } from '../git/binary-text.ts';
import { noteLateGit } from '../git/limits.ts';
import { type Budget, type Io, beforeAnswer, readInput } from '../host/io.ts';
import { keptTable } from '../host/processes.ts';
import { gitHook } from './git-hook.ts';
import { committerSession } from './identity.ts';

/** What a git hook's process was started with. */
export interface ShimWords {
  readonly clientPid: number;
  readonly settings: string | undefined;
  /** The shim lists by a pipe what will be needed. */
  readonly isPiped: boolean;
  /** git hung in this worktree at the last two calls: the shim asked it nothing. */
  readonly isHung: boolean;
  /** What the shim found out, and the hook's arguments. */
  readonly gitDir: string | undefined;
  readonly commonDir: string | undefined;
  /** The shim reads an answer from the first line of the output. */
  readonly answer: boolean;
  readonly args: readonly string[];
}

/** Runs a git hook in a process of its own: reads what its shim says and pipes in, and answers as the shim expects. */
export async function hookProcess(name: string, words: ShimWords, io: Io, budget: Budget): Promise<number> {
  const { clientPid, gitDir, commonDir, args, answer } = words;
  const { cwd, env, clock } = io;
  const context = { cwd, env, clientPid, processes: keptTable(), now: clock(), clock, budget };
  if (name === 'identity') {
    const id = await committerSession(context, gitDir);
    if (id !== undefined) await io.stdout.write(`${id}\n`);
    return 0;
  }
  const place = { gitDir, commonDir };
  const { settings, records } = await readPiped(words, io, budget);
  const read = { settings, listed: records, readInput: () => readInput(io, budget) };
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

/**
 * What a git hook reads while Node starts comes by descriptor 3: the settings, with a dot behind the last; before a commit
 * refs follow, behind a NUL.
 */
async function readPiped(
  { isPiped, isHung, settings }: ShimWords,
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
  return {
    settings: wholeSettings(bytes.toString('utf8', 0, end < 0 ? bytes.length : end)),
    records: end < 0 ? undefined : bytes.toString('latin1', end + 1),
  };
}
