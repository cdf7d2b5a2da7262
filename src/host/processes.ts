import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import type { ProcessId } from '../domain/session.ts';
import { quietly } from './disk.ts';
import { timeLeft } from './io.ts';

/** The processes, from /proc or one run of `ps`. Only a pid and a start time together identify a process; names do not. */
export interface ProcessTable {
  readonly bootId: string | null;
  readonly pidNs: string | null;
  /** The name of the machine or container. */
  readonly host: string;
  /** Returns when a process started, also for a zombie: it has ended, but its parent has not waited for it. */
  readonly startOf: (pid: number) => string | undefined;
  /** Like `startOf`, but `undefined` for a zombie. If a container's first process reaps nothing, zombies stay for ever. */
  readonly runningSince: (pid: number) => string | undefined;
  readonly parentOf: (pid: number) => number | undefined;
}

const MAX_DEPTH = 64;

/** Whether a process belongs to another user. Linux may hide such a process (proc(5), `hidepid`): then we cannot identify it. */
function isHidden(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether a process still runs; `undefined` if the system hides that from this user. */
export function stillRuns(
  { pid, start }: ProcessId,
  { runningSince }: Pick<ProcessTable, 'runningSince'>,
): boolean | undefined {
  const since = runningSince(pid);
  return since === undefined && isHidden(pid) ? undefined : since === start;
}

/** Returns the process table of this machine. */
export function processTable(): ProcessTable {
  return existsSync('/proc/self/stat') ? linuxTable() : psTable(process.env);
}

/** Returns a function that reads the process table at its first call, and then keeps it. */
export function keptTable(): () => ProcessTable {
  let table: ProcessTable | undefined;
  return () => (table ??= processTable());
}

interface Row {
  readonly parent: number | undefined;
  readonly start: string;
  /** Whether it is a zombie or dead. */
  readonly ended: boolean;
}

const questions = (rowOf: (pid: number) => Row | undefined) => ({
  host: hostname(),
  startOf: (pid: number) => rowOf(pid)?.start,
  runningSince: (pid: number) => {
    const row = rowOf(pid);
    return row?.ended === true ? undefined : row?.start;
  },
  parentOf: (pid: number) => rowOf(pid)?.parent,
});

/** Reads each process only once, because we often ask for a session's ancestors. */
function linuxTable(): ProcessTable {
  const kept = new Map<number, Row>();
  const rowOf = (pid: number) => {
    const row = kept.get(pid) ?? linuxRow(pid);
    if (row !== undefined) kept.set(pid, row);
    return row;
  };
  let boot: string | undefined;
  let namespace: string | undefined;
  return {
    ...questions(rowOf),
    get bootId() {
      return (boot ??= quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())) ?? null;
    },
    get pidNs() {
      return (namespace ??= quietly(() => readlinkSync('/proc/self/ns/pid'))) ?? null;
    },
  };
}

/** Reads /proc/<pid>/stat. The command name in it may contain blanks and parentheses (proc(5)). */
function linuxRow(pid: number): Row | undefined {
  // Node reads UTF-8 faster than other encodings. The command name need not be UTF-8, but we do not use it.
  const text = quietly(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  // A process whose first thread has ended also shows Z while its other threads run.
  const ended = /^[ZXx]$/.test(fields[0] ?? '') && Number(fields[17]) <= 1;
  return { parent: Number(fields[1]) || undefined, start: fields[19] ?? '', ended };
}

/**
 * Returns the process table from one run of `ps`. Uses only PATH of `env`: start times that different processes have stored must
 * be in one language and time zone.
 */
export function psTable({ PATH }: Readonly<Record<string, string | undefined>>): ProcessTable {
  // Loaded only here: with /proc many calls start no process, and loading this takes milliseconds.
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  const options = { encoding: 'utf8', env: { PATH, LC_ALL: 'C', TZ: 'UTC0' }, timeout: timeLeft() } as const;
  return tableOf(quietly(() => execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,lstart='], options)) ?? '');
}

/** @param output of `ps`, a line for each process */
function tableOf(output: string): ProcessTable {
  const rows = new Map<number, Row>();
  for (const line of output.split('\n')) {
    const [, pid, parent, state, start] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S.*)$/.exec(line.trimEnd()) ?? [];
    if (start === undefined) continue;
    // One word, as in /proc: files that name a process separate their words by blanks.
    const word = start.replaceAll(' ', '_');
    rows.set(Number(pid), { parent: Number(parent), start: word, ended: state?.startsWith('Z') === true });
  }
  return { ...questions((pid) => rows.get(pid)), bootId: rows.get(1)?.start ?? null, pidNs: null };
}

/** Milliseconds of one clock tick, in which /proc counts start times (proc(5)). */
const TICK_MS = 10;

/** Returns when a process began, by its start in a table: milliseconds since the epoch, to within a second. */
export function beganAt(start: string): number {
  if (!/^\d+$/.test(start)) return Date.parse(`${start.replaceAll('_', ' ')} UTC`);
  return Date.now() - uptime() * 1000 + Number(start) * TICK_MS;
}

/** Returns a process and its ancestors, nearest first. */
export function ancestorsOf(pid: number, table: ProcessTable): ProcessId[] {
  const found: ProcessId[] = [];
  for (
    let at: number | undefined = pid;
    at !== undefined && found.length < MAX_DEPTH;
    at = table.parentOf(at)
  ) {
    const start = table.startOf(at);
    if (start === undefined) break;
    found.push({ pid: at, start });
  }
  return found;
}

/** Clock ticks (10 ms on Linux) within which a process counts as started together with its parent. */
const SAME_MOMENT_TICKS = 20;

/**
 * Returns the client behind a hook call that has GIT_EXEC_PATH, which git sets for programs that it starts. If git started the
 * launcher (`git handoff guard`), the client is git's parent. But other processes inherit the variable: if the launcher's parent
 * did not start at the same moment as we did, it is not git, but the client itself.
 */
export function clientProcess(launcherParent: number, table: ProcessTable): number {
  const [parent, self] = [table.startOf(launcherParent), table.startOf(process.pid)];
  if (parent === undefined || self === undefined) return launcherParent;
  // A date from `ps` has whole seconds, so two processes that start at the same moment may differ by one.
  const ticks = (start: string) => (start.includes('_') ? beganAt(start) / 50 : Number(start));
  const together = parent === self || Math.abs(ticks(self) - ticks(parent)) <= SAME_MOMENT_TICKS;
  return together ? (table.parentOf(launcherParent) ?? launcherParent) : launcherParent;
}

interface CommandLine {
  readonly words: readonly string[];
  /** False if the system joins the words with blanks, so that a word with a blank in it looks like several. */
  readonly exact: boolean;
}

/** Returns a process's command line; `undefined` when the process is gone, or we may not inspect it. */
export function commandLine(pid: number): CommandLine | undefined {
  return quietly(() => {
    if (existsSync('/proc/self/stat')) {
      const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return text === '' ? undefined : { words: text.replace(/\0$/, '').split('\0'), exact: true };
    }
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    const options = { encoding: 'utf8', timeout: 300 } as const;
    const text = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], options).trim();
    return { words: text.split(/\s+/), exact: false };
  });
}
