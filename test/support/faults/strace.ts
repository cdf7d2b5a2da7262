import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Why no fault can be injected here, `undefined` when it can. */
export const NO_STRACE: string | undefined = (() => {
  const { error, status } = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']);
  if (error !== undefined) return 'strace is not installed';
  return status === 0 ? undefined : 'strace may not trace here';
})();

/** What is done to the k-th of some system calls of each traced process. */
export interface Injection {
  readonly calls: readonly string[];
  /** An errno that the call fails with instead of being done, or the death of the process before it. */
  readonly fault: `error=${string}` | 'signal=KILL';
  readonly when: number;
}

/** The words before a command that trace these calls of all its processes, and hurt one. */
export function straceWords(trace: string, calls: readonly string[], injection?: Injection): string[] {
  const hurt =
    injection === undefined
      ? []
      : ['-e', `inject=${injection.calls.join(',')}:${injection.fault}:when=${injection.when}`];
  return ['strace', '-f', '-q', '-y', '-o', trace, '-e', `trace=${calls.join(',')}`, ...hurt];
}

/** One traced system call, in the order of the trace. */
export interface TracedCall {
  readonly pid: number;
  readonly name: string;
}

export function readTrace(file: string): TracedCall[] {
  return traceText(file)
    .split('\n')
    .flatMap((line) => {
      const [, pid, name] = /^(\d+) +([a-z0-9_]+)\(/.exec(line) ?? [];
      return pid === undefined || name === undefined ? [] : [{ pid: Number(pid), name }];
    });
}

/** Whether the trace shows that the fault took place. */
export function wasInjected(file: string): boolean {
  return /\(INJECTED\)|killed by SIGKILL/.test(traceText(file));
}

/**
 * Whether the failed call was the one by which Node's event loop wakes itself: libuv gives up the process
 * then (SIGABRT), and no program in it can do anything.
 */
export function hitEventLoop(file: string): boolean {
  return /write\(\d+<[^>]*(?:eventfd|pipe:)[^\n]*\(INJECTED\)/.test(traceText(file));
}

const traceText = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** The most calls that any one process of a trace made: no later one can be hurt. */
export function longestRun(calls: readonly TracedCall[]): number {
  const counts = new Map<number, number>();
  for (const { pid } of calls) counts.set(pid, (counts.get(pid) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}
