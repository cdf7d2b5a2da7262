import type { HookWords } from '../hook.ts';
import { type Budget, type Io, readInput } from '../host/io.ts';
import { keptTable } from '../host/processes.ts';
import { gitHook } from './git-hook.ts';
import { committerSession } from './identity.ts';

/** Runs a git hook in a process of its own: reads what its shim says and pipes in, and answers as the shim expects. */
export async function hookProcess(name: string, words: HookWords, io: Io, budget: Budget): Promise<number> {
  const { clientPid, gitDir, commonDir, args } = words;
  const { cwd, env, clock } = io;
  const context = { cwd, env, clientPid, processes: keptTable(), now: clock(), clock, budget };
  if (name === 'identity') {
    const id = await committerSession(context, gitDir);
    if (id !== undefined) await io.stdout.write(`${id}\n`);
    return 0;
  }
  const place = { gitDir, commonDir };
  const read = { settings: undefined, readInput: () => readInput(io, budget) };
  const said = await gitHook({ ...context, ...place, ...read, name, args });
  const lines = said.lines.map((line) => `${line}\n`).join('');
  // A refusal that nobody can read is still one.
  await io.stderr.write(lines).catch(() => undefined);
  return said.refused ? 3 : 0;
}
