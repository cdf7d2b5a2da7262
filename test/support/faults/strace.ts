import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Why no fault can be injected here; `undefined` if one can. */
export const NO_STRACE: string | undefined = (() => {
  const { error, status } = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']);
  if (error !== undefined) return 'strace is not installed';
  return status === 0 ? undefined : 'strace may not trace here';
})();

/** A fault for the k-th call of one kind in each traced process. */
export interface Injection {
  readonly call: string;
  /** The errno that the call fails with, or the death of the process before the call. */
  readonly fault: `error=${string}` | 'signal=KILL';
  readonly when: number;
}

/** Words to put before a command: they trace these calls in all its processes, and inject the fault. */
export function straceWords(trace: string, calls: readonly string[], injection?: Injection): string[] {
  const hurt =
    injection === undefined
      ? []
      : ['-e', `inject=${injection.call}:${injection.fault}:when=${injection.when}`];
  return ['strace', '-f', '-q', '-o', trace, '-e', `trace=${calls.join(',')}`, ...hurt];
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

/** Whether the trace shows that the fault was injected. */
export function wasInjected(file: string): boolean {
  return /\(INJECTED\)|killed by SIGKILL/.test(traceText(file));
}

const traceText = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** A call to inject a fault into: the `when`-th of its kind in its process. */
export interface Position {
  readonly call: string;
  readonly when: number;
}

/** Every call of a trace that a fault can be injected into, each once. */
export function positions(calls: readonly TracedCall[]): Position[] {
  const most = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const { pid, name } of calls) {
    const key = `${pid} ${name}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    most.set(name, Math.max(count, most.get(name) ?? 0));
  }
  return [...most].flatMap(([call, count]) =>
    Array.from({ length: count }, (_, at) => ({ call, when: at + 1 })),
  );
}
