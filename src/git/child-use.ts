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

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
