import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { quietly, readText } from './disk.ts';
import { share } from './folders.ts';
import { namedProcess, processWords } from './process-lock.ts';
import { processTable, stillRuns } from './processes.ts';

/** A command that runs in the foreground, in its own process group. */
interface Command {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The file that names the group while it runs, so that `endLeftGroup` finds it if we were killed by SIGKILL. */
  readonly groupFile: string;
}

interface Outcome {
  readonly status: number;
  /** Why the command could not be started. */
  readonly error?: string;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** How long the group may go on after a signal before it is killed. Milliseconds. */
const GRACE_MS = 5000;
/** How long processes that a command leaves behind may go on after a signal. */
const END_MS = 1000;

/**
 * Runs a command with our standard descriptors and returns its exit status as a shell would. Signals go to its whole group.
 * When the command is over, we end the group, with whatever the command left in the background.
 */
export async function runCommand({
  argv,
  cwd,
  env,
  groupFile,
}: Command): Promise<Outcome & { readonly isInterrupted: boolean }> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const [program = '', ...words] = argv;
  const timers: NodeJS.Timeout[] = [];
  let pid: number | undefined;
  const pass = (signal: NodeJS.Signals) => {
    const group = pid;
    if (group === undefined) return;
    signalGroup(group, signal);
    timers.push(setTimeout(() => signalGroup(group, 'SIGKILL'), GRACE_MS));
  };
  // We listen before the command starts: otherwise a signal at that moment would end us and leave the command running.
  for (const signal of SIGNALS) process.on(signal, pass);
  try {
    const child = spawn(program, words, { cwd, env, stdio: 'inherit', detached: true });
    ({ pid } = child);
    if (pid !== undefined) {
      writeFileSync(groupFile, processWords('group', pid));
      share(groupFile);
    }
    return { ...(await outcomeOf(child)), isInterrupted: timers.length > 0 };
  } finally {
    timers.forEach(clearTimeout);
    if (pid !== undefined) await endGroup(pid);
    rmSync(groupFile, { force: true });
    for (const signal of SIGNALS) process.off(signal, pass);
  }
}

function outcomeOf(child: ChildProcess): Promise<Outcome> {
  return new Promise((resolve) => {
    child.once('error', ({ code, message }: NodeJS.ErrnoException) =>
      resolve({ status: code === 'ENOENT' ? 127 : 126, error: message }),
    );
    child.once('exit', (code, signal) =>
      resolve({ status: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) }),
    );
  });
}

/** Ends the group of a run whose `git handoff` was killed, if the group's first process still runs. */
export async function endLeftGroup(groupFile: string): Promise<void> {
  const table = processTable();
  const left = namedProcess(readText(groupFile), table);
  if (left !== undefined && stillRuns(left, table) === true) await endGroup(left.pid);
  rmSync(groupFile, { force: true });
}

async function endGroup(pid: number): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM')) return;
  for (let waited = 0; waited < END_MS; waited += 20) {
    await pause(20);
    if (!signalGroup(pid, 0)) return;
  }
  signalGroup(pid, 'SIGKILL');
}

/** Sends a signal to a group; returns whether the group exists. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  return quietly(() => process.kill(-pid, signal)) ?? false;
}
