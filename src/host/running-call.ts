import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import type { JournalLine } from '../domain/journal/events.ts';
import type { SessionId } from '../domain/names.ts';
import type { Budget } from './io.ts';

/** Writes one line of a trace (trace.ts). */
export type Trace = (line: string) => void;

/** What a call has added to a session's journal. */
export interface RecordedLines {
  readonly commonDir: string;
  readonly session: SessionId;
  readonly lines: readonly JournalLine[];
}

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
  /** What it has recorded, for those who want to know of it at once (sessions/happenings.ts). */
  readonly recorded: RecordedLines[];
  /** What to do when the judging is over, while it goes on. */
  whenJudged: (() => void)[] | undefined;
  /** Absent where nobody asked for a trace. */
  readonly trace: Trace | undefined;
}

const calls = new AsyncLocalStorage<RunningCall>();

/** Does something as one call: whatever it starts ends with the budget. */
export function asCall<T>(budget: Budget, trace: Trace | undefined, work: () => Promise<T>): Promise<T> {
  return calls.run(
    { budget, children: new Set(), hadToEndChild: false, recorded: [], whenJudged: undefined, trace },
    work,
  );
}

/** The call that runs; `undefined` outside of any. */
export const runningCall = (): RunningCall | undefined => calls.getStore();

/** Milliseconds until the call is to end, whole ones; `undefined`: it may take as long as it wants. */
export function timeLeft(): number | undefined {
  const left = runningCall()?.budget.left() ?? Infinity;
  return left < Infinity ? Math.ceil(left) : undefined;
}

/** Judges: what is written for the sake of the answer's words is written when that is over. */
export async function whileJudging<T>(judge: () => Promise<T>): Promise<T> {
  const call = runningCall();
  if (call === undefined) return judge();
  const later: (() => void)[] = (call.whenJudged = []);
  try {
    return await judge();
  } finally {
    call.whenJudged = undefined;
    try {
      for (const work of later) work();
    } catch {
      // An answer counts without the file that its hint names.
    }
  }
}

/** Does this at once, or when the judging is over. */
export function onceJudged(work: () => void): void {
  const later = runningCall()?.whenJudged;
  if (later === undefined) work();
  else later.push(work);
}
