import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { type Run, type TestRepository, finished } from '../repository.ts';

/** A program and all that it starts, so that all can be killed at once. */
export interface ProcessGroup {
  /** Resolves when the program has ended and its pipes are closed. */
  readonly ended: Promise<Run>;
  /** Kills every process of the group (SIGKILL), and waits until none is left. */
  kill(): Promise<void>;
}

export interface GroupOptions {
  readonly session: string;
  readonly input: string;
}

/** Starts a program as the leader of a process group of its own. */
export function startGroup(
  world: TestRepository,
  program: string,
  args: readonly string[],
  { session, input }: GroupOptions,
): ProcessGroup {
  const env = world.env({ CLAUDE_CODE_SESSION_ID: session });
  const child = spawn(program, args, { cwd: world.path, env, detached: true });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = finished(child);
  return {
    ended,
    async kill() {
      if (child.pid === undefined) return;
      for (let looks = 0; signal(child.pid, looks === 0 ? 'SIGKILL' : 0) && looks < 200; looks++)
        await wait(2);
      await ended;
    },
  };
}

/** Whether the group still had a process to get the signal. */
function signal(leader: number, name: 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-leader, name);
  } catch {
    return false;
  }
}
