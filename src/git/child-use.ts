import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

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

function childrenOf(pid: number): number[] {
  try {
    return text(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

const text = (pid: number | 'self', name: string) => readFileSync(`/proc/${pid}/${name}`, 'latin1');
