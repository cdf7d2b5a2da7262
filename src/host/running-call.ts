import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import type { Budget } from './io.ts';

/** Writes one line of a trace (trace.ts). */
export type Trace = (line: string) => void;

/**
 * What holds for everything that one call of the program does, however deep: its time, the children that it waits for, and
 * its trace. Whoever starts a process reads it here, so that it need not be handed through every function between.
 */
export interface RunningCall {
  /** The time for the whole call. */
  readonly budget: Budget;
  /** Children that still run. They do not outlive a call that has an end. */
  readonly children: Set<ChildProcess>;
  /** A child had to be ended: those that follow get a quarter of the time that is left, so that there is an answer. */
  hadToEndChild: boolean;
  /** Absent where nobody asked for a trace. */
  readonly trace: Trace | undefined;
}

const calls = new AsyncLocalStorage<RunningCall>();

/** Does something as one call: whatever it starts ends with the budget. */
export function asCall<T>(budget: Budget, trace: Trace | undefined, work: () => Promise<T>): Promise<T> {
  return calls.run({ budget, children: new Set(), hadToEndChild: false, trace }, work);
}

/** The call that runs; `undefined` outside of any. */
export const runningCall = (): RunningCall | undefined => calls.getStore();

/** Milliseconds until the call is to end, whole ones; `undefined`: it may take as long as it wants. */
export function timeLeft(): number | undefined {
  const left = runningCall()?.budget.left() ?? Infinity;
  return left < Infinity ? Math.ceil(left) : undefined;
}
