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
 * What applies to everything that one call of the program does, however deep: its time, the children that it waits for, and
 * its trace. Code that starts a process reads it here, so that the functions in between need not pass it on.
 */
export interface RunningCall {
  /** The time for the whole call. */
  readonly budget: Budget;
  /** Children that still run. They do not outlive a call with a time limit. */
  readonly children: Set<ChildProcess>;
  /** Whether a child had to be ended: later ones get a quarter of the time that is left, so that there is an answer. */
  hadToEndChild: boolean;
  /** What the call has recorded, for subscribers (sessions/happenings.ts). */
  readonly recorded: RecordedLines[];
  /** Work that waits for the end of the judging; `undefined` when nothing is being judged. */
  whenJudged: (() => void)[] | undefined;
  /** `undefined` when nobody asked for a trace. */
  readonly trace: Trace | undefined;
}

const calls = new AsyncLocalStorage<RunningCall>();

/** Does the work as one call: the processes that it starts end with the budget. */
export function asCall<T>(budget: Budget, trace: Trace | undefined, work: () => Promise<T>): Promise<T> {
  return calls.run(
    { budget, children: new Set(), hadToEndChild: false, recorded: [], whenJudged: undefined, trace },
    work,
  );
}

/** The call that runs; `undefined` outside of any. */
export const runningCall = (): RunningCall | undefined => calls.getStore();

/** Whole milliseconds until the call must end; `undefined`: no limit. */
export function timeLeft(): number | undefined {
  const left = runningCall()?.budget.left() ?? Infinity;
  return left < Infinity ? Math.ceil(left) : undefined;
}

/** Judges a call. Work that `onceJudged` gets meanwhile is done when the judging is over. */
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
      // The answer counts even without the file that its hint names.
    }
  }
}

/** Does the work at once, or when the judging is over. */
export function onceJudged(work: () => void): void {
  const later = runningCall()?.whenJudged;
  if (later === undefined) work();
  else later.push(work);
}
