import { setTimeout as pause } from 'node:timers/promises';
import type { GitResult } from './run.ts';
import { isLocked } from './user-git.ts';

/** git does not wait for the index: another git's lock fails it at once. How long we try. Milliseconds. */
const PATIENCE_MS = 30_000;
const SHORTEST_MS = 20;
const LONGEST_MS = 400;

/** Runs what needs the index's lock, again while another git holds it; the last answer is returned. */
export async function whileLocked(run: () => Promise<GitResult>): Promise<GitResult> {
  const end = Date.now() + PATIENCE_MS;
  for (let longest = SHORTEST_MS; ; longest = Math.min(longest * 1.5, LONGEST_MS)) {
    const result = await run();
    if (!isLocked(result) || Date.now() > end) return result;
    await pause(SHORTEST_MS + Math.random() * longest);
  }
}

/** Tries of what starts over when another commit came first. */
const MOST_TRIES = 5;

/** Attempts again, from the beginning, while HEAD moves under the attempt. */
export async function whileMoved<T>(attempt: () => Promise<T | 'moved'>): Promise<T | 'moved'> {
  for (let tries = 1; ; tries++) {
    const result = await attempt();
    if (result !== 'moved' || tries === MOST_TRIES) return result;
    await pause(SHORTEST_MS + Math.random() * LONGEST_MS);
  }
}
