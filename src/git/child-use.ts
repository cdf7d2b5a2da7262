import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { ChildUse } from '../domain/hang.ts';

/** Milliseconds. `performance.now()` loads a dozen modules. */
const now = (): number => process.uptime() * 1000;

/** Watches a child from now on. Returns what tells how it used the time, to be asked before it is ended. */
export function watchUse(pid: number, limitMs: number): { use: () => ChildUse; stop: () => void } {
  const began = now();
  let before: number | undefined;
  const timer = setTimeout(() => (before = bytesRead(pid)), limitMs / 2).unref();
  return {
    stop: () => clearTimeout(timer),
    use: () => {
      const waitedMs = now() - began;
      const activeMs = activeOf(pid);
      const read = bytesRead(pid);
      if (activeMs === undefined) return { waitedMs, activeMs: waitedMs * slowness(), hasRead: false };
      return { waitedMs, activeMs, hasRead: before !== undefined && read !== undefined && read > before };
    },
  };
}

/**
 * Ends a child that runs with all that it has started: a git that is a script, or waits for a program of its own, would leave
 * that behind. They are listed first, for they lose their parent with it.
 */
export function endTree(child: ChildProcess): void {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  const below = allBelow(pid);
  child.kill('SIGTERM');
  for (const one of below) {
    try {
      process.kill(one, 'SIGTERM');
    } catch {
      // It has ended by itself.
    }
  }
}

function allBelow(pid: number, childrenNow = parents()): number[] {
  return childrenNow(pid).flatMap((child) => [child, ...allBelow(child, childrenNow)]);
}

/** Tells the children of a process: from /proc, elsewhere from one `ps`. */
function parents(): (pid: number) => number[] {
  if (existsSync('/proc/self/task')) return childrenOf;
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { stdout } = spawnSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'latin1', timeout: PS_MS });
  const rows = stdout.split('\n').map((row) => row.trim().split(/\s+/).map(Number));
  return (pid) => rows.flatMap(([above, below = 0]) => (above === pid ? [below] : []));
}

/** Milliseconds that a list of processes may take. */
const PS_MS = 500;

/** Milliseconds of a processor that all children took which have ended; always 0 without /proc. */
export function childTime(): number {
  try {
    return endedTime('self');
  } catch {
    return 0;
  }
}

/** Of children that have ended, in clock ticks (proc(5)). */
function endedTime(pid: number | 'self'): number {
  const stat = text(pid, 'stat');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/** Milliseconds that a process and its children ran or waited for a processor; `undefined` without /proc. */
function activeOf(pid: number): number | undefined {
  try {
    const [ran = 0, queued = 0] = text(pid, 'schedstat').split(' ').map(Number);
    return (ran + queued) / 1e6 + endedTime(pid) + sum(childrenOf(pid).map((child) => activeOf(child) ?? 0));
  } catch {
    return undefined;
  }
}

function bytesRead(pid: number): number | undefined {
  try {
    const read = Number(/^rchar: (\d+)$/m.exec(text(pid, 'io'))?.[1]);
    return read + sum(childrenOf(pid).map((child) => bytesRead(child) ?? 0));
  } catch {
    return undefined;
  }
}

function childrenOf(pid: number): number[] {
  try {
    return text(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

const text = (pid: number | 'self', name: string) => readFileSync(`/proc/${pid}/${name}`, 'latin1');
const sum = (all: readonly number[]) => all.reduce((one, other) => one + other, 0);

/** Microseconds of a processor. */
const SPIN_US = 10_000;
const LONGEST_SPIN_MS = 200;

/** 0 on a calm machine, 1 where this process, which only counts, gets no more than half a processor. */
function slowness(): number {
  const [began, used] = [now(), process.cpuUsage()];
  const spent = () => {
    const { user, system } = process.cpuUsage(used);
    return user + system;
  };
  while (spent() < SPIN_US && now() - began < LONGEST_SPIN_MS);
  const wall = (now() - began) * 1000;
  return Math.min(1, Math.max(0, wall / Math.max(1, spent()) - 1));
}
