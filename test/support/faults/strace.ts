import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Why no fault can be injected here, `undefined` when it can. */
export const NO_STRACE: string | undefined = (() => {
  const { error, status } = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']);
  if (error !== undefined) return 'strace is not installed';
  return status === 0 ? undefined : 'strace may not trace here';
})();

/** What is done to the k-th call of one kind of each traced process. */
export interface Injection {
  readonly call: string;
  /** An errno that the call fails with instead of being done, or the death of the process before it. */
  readonly fault: `error=${string}` | 'signal=KILL';
  readonly when: number;
}

/** The words before a command that trace these calls of all its processes, and hurt one. */
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

/** Whether the trace shows that the fault took place. */
export function wasInjected(file: string): boolean {
  return /\(INJECTED\)|killed by SIGKILL/.test(traceText(file));
}

const traceText = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** A call to hurt: the `when`-th of its kind in its process. */
export interface Position {
  readonly call: string;
  readonly when: number;
}

/** Every place of a trace where a process can be hurt, each once. */
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
