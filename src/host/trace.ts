import { appendFileSync } from 'node:fs';
import { escapeLine } from '../domain/surfacing.ts';
import type { Output } from './io.ts';
import { type Trace, runningCall } from './running-call.ts';

/** Characters. A longer line is cut off. */
const MAX_LINE = 1000;

/**
 * Opens the trace that GIT_HANDOFF_TRACE asks for, like GIT_TRACE for git: `1`, `2` or `true` traces to standard error, an
 * absolute path appends to that file; anything else is no trace. Leaves out what cannot be written.
 */
export function openTrace(env: NodeJS.ProcessEnv, stderr: Output): Trace | undefined {
  const wanted = env['GIT_HANDOFF_TRACE'] ?? '';
  if (/^(?:1|2|true)$/i.test(wanted)) return (line) => void stderr.write(line).catch(() => undefined);
  if (!wanted.startsWith('/')) return undefined;
  return (line) => {
    try {
      appendFileSync(wanted, line);
    } catch {
      // On a full disk, for one, the trace ends, and the call goes on.
    }
  };
}

/**
 * Adds a line to the trace of the running call, if there is one: `<time> git-handoff <kind>: <text> (<ms> ms)`.
 *
 * @param kind `call`, `git`, `check`, `effect`, `verdict` or `log`
 * @param text called only if there is a trace
 * @param began when what is traced began, as `performance.now()` tells it
 */
export function trace(kind: string, text: () => string, began?: number): void {
  const write = runningCall()?.trace;
  if (write === undefined) return;
  const took = began === undefined ? '' : ` (${(performance.now() - began).toFixed(1)} ms)`;
  const what = escapeLine(text());
  const line = what.length > MAX_LINE ? `${what.slice(0, MAX_LINE)}…` : what;
  write(`${new Date().toISOString().slice(11, -1)} git-handoff ${kind}: ${line}${took}\n`);
}

/** Does the work, and traces it with its duration and its outcome. */
export async function traced<T>(
  kind: string,
  what: string,
  work: () => Promise<T>,
  outcome: (value: T) => string,
): Promise<T> {
  const began = performance.now();
  try {
    const value = await work();
    trace(kind, () => `${what}: ${outcome(value)}`, began);
    return value;
  } catch (error) {
    trace(kind, () => `${what}: failed: ${error instanceof Error ? error.message : String(error)}`, began);
    throw error;
  }
}
