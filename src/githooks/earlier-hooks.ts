import { join } from 'node:path';
import { jsonFields } from '../domain/json-fields.ts';
import { parseSessionId } from '../domain/names.ts';
import type { SettingEntry } from '../domain/settings.ts';
import { statOf } from '../git/stat.ts';
import { readText } from '../host/disk.ts';
import { rewriteText } from '../host/folders.ts';
import type { Budget } from '../host/io.ts';
import type { Context } from '../sessions/caller.ts';
import { gitPid } from './git-process.ts';
import type { EarlierHooks } from './hook-call.ts';

/*
 * What our hooks of one commit tell each other: `<git dir>/handoff-checked`, as JSON.
 */

/** All our hooks of one commit together: the user's own and editors do not count. Milliseconds. */
const COMMIT_MS = 8000;
/** With less than this nothing is begun any more. Milliseconds. */
const LEAST_MS = 1000;

/** No pid is used again so soon. Milliseconds. */
const FRESH_MS = 2000;

type Field = 'pid' | 'start' | keyof EarlierHooks;

const fileIn = (gitDir: string) => join(gitDir, 'handoff-checked');

/** What the earlier hooks of the same git process left; `undefined`: this is the first. */
export function readEarlierHooks(context: Context, gitDir: string): EarlierHooks | undefined {
  const { pid, start, committer, spentMs, settings } = jsonFields<Field>(readText(fileIn(gitDir)));
  if (pid === undefined || pid !== gitPid(context)) return undefined;
  // Without /proc the start of a process takes as long to tell as all the rest.
  if (!isFresh(context, gitDir) && start !== startOfGit(context)) return undefined;
  const session = parseSessionId(committer);
  if (committer !== null && committer !== '?' && session === undefined) return undefined;
  return {
    committer: committer === '?' ? 'unknown' : session,
    spentMs: typeof spentMs === 'number' && spentMs > 0 ? spentMs : 0,
    settings: Array.isArray(settings) ? (settings as SettingEntry[]) : undefined,
  };
}

/** What the hooks of this commit have left of the time that they have together; `undefined`: too little. */
export function restOfCommit(budget: Budget, earlier: EarlierHooks | undefined): Budget | undefined {
  const rest = Math.min(budget.left(), COMMIT_MS) - (earlier?.spentMs ?? 0);
  return rest < LEAST_MS ? undefined : budget.part(rest);
}

/** Leaves word for the later hooks of the same commit. */
export function leaveForLaterHooks(
  context: Context,
  gitDir: string,
  found: Pick<EarlierHooks, 'committer' | 'settings'>,
): void {
  const pid = gitPid(context);
  if (pid === undefined) return;
  const spentMs = Math.max(0, Math.round(COMMIT_MS - Math.min(COMMIT_MS, context.budget.left())));
  const committer = found.committer === 'unknown' ? '?' : (found.committer ?? null);
  const left = { pid, start: startOfGit(context), committer, spentMs, settings: found.settings };
  try {
    rewriteText(fileIn(gitDir), `${JSON.stringify(left)}\n`);
  } catch {
    // Then the later hook asks again.
  }
}

function isFresh({ now }: Context, gitDir: string): boolean {
  const age = now - (statOf(fileIn(gitDir))?.mtimeMs ?? 0);
  return age >= 0 && age < FRESH_MS;
}

/** A pid is used again; together with its start it is not. */
function startOfGit(context: Context): string {
  return context.processes().startOf(gitPid(context) ?? 0) ?? '-';
}
