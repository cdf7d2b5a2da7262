import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionId } from '../domain/names.ts';
import { rewriteText } from '../host/folders.ts';
import type { Budget } from '../host/io.ts';
import type { Context } from '../sessions/caller.ts';
import { gitPid } from './git-process.ts';

/**
 * What our hooks of one commit tell each other: `<git dir>/handoff-checked` holds `<pid of git> <its start time or ->
 * <session, - for a person, ? when nobody could tell> <milliseconds that they took together>`, then the settings where they
 * are known, with a dot behind them. git-hooks/ reads it, too.
 */

/** All our hooks of one commit together: the user's own and editors do not count. Milliseconds. */
const COMMIT_MS = 8000;

/** What the hooks of this commit have left of the time that they have together. */
export function restOfCommit(context: Context, gitDir: string): Budget {
  const { budget } = context;
  return budget.part(Math.min(budget.left(), COMMIT_MS) - spentBefore(context, gitDir));
}

function spentBefore(context: Context, gitDir: string): number {
  try {
    const [pid, start, , spent] = readFileSync(join(gitDir, 'handoff-checked'), 'utf8').split(/[ \n]/);
    const git = gitOf(context);
    const isThis = git !== undefined && pid === String(git.pid) && start === git.start;
    return isThis && /^\d{1,9}$/.test(spent ?? '') ? Number(spent) : 0;
  } catch {
    return 0;
  }
}

/** Leaves word for the later hooks of the same commit whose it is, how long we took, and what git's settings are. */
export function markChecked(
  context: Context & { readonly settings?: string | undefined },
  gitDir: string,
  session: SessionId | '?' | undefined,
): void {
  const { settings } = context;
  const git = gitOf(context);
  if (git === undefined) return;
  const spent = Math.max(0, Math.round(COMMIT_MS - Math.min(COMMIT_MS, context.budget.left())));
  const first = `${git.pid} ${git.start} ${session ?? '-'} ${spent}\n`;
  try {
    rewriteText(join(gitDir, 'handoff-checked'), settings === undefined ? first : `${first}${settings}.\n`);
  } catch {
    // Then the later hook asks again.
  }
}

/** Clock ticks are what sh can read, too; elsewhere the time is a text, and sh has none. */
function gitOf(context: Context): { pid: number; start: string } | undefined {
  const pid = gitPid(context);
  if (pid === undefined) return undefined;
  return { pid, start: /^\d+$/.exec(context.processes().startOf(pid) ?? '')?.[0] ?? '-' };
}
