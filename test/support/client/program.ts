import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** How to run a program that talks in lines. */
export interface ProgramOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Written to stdin at the start; `null` ends stdin at once. */
  readonly input: string | null;
  /** Called with each line of stdout. What it returns is written to stdin; `null` ends stdin. */
  readonly onLine?: (line: string) => Promise<string | null | undefined> | string | null | undefined;
}

/** A program that has ended; `status` is `null` when a signal ended it. */
export interface Ended {
  readonly status: number | null;
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** A program that takes longer hangs, even on the busiest machine. Tests have higher time limits. */
const MOST_MS = 500_000;

/** Runs a program in a process group of its own. If it hangs, it is killed with all that it started, and nothing else. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env, onLine, input }: ProgramOptions,
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env, stdio: 'pipe', detached: true });
  const timer = setTimeout(() => killGroup(child.pid), MOST_MS);
  child.stdin.on('error', () => undefined); // the program may end before it has read everything
  const say = (words: string | null | undefined): void => {
    if (words === null) child.stdin.end();
    else if (words !== undefined) child.stdin.write(words);
  };
  say(input);
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('exit', resolve);
  });
  try {
    const all = [
      exited,
      collectLines(child.stdout, async (line) => say(await onLine?.(line))),
      text(child.stderr),
    ] as const;
    const [status, lines, stderr] = await Promise.all(all);
    return { status, lines, stderr };
  } finally {
    clearTimeout(timer);
  }
}

async function collectLines(stream: Readable, onLine: (line: string) => Promise<void>): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: stream })) {
    lines.push(line);
    await onLine(line);
  }
  return lines;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The program ended by itself at the same moment.
  }
}
