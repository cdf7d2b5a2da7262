import { type Settings, parseSettings } from '../domain/settings.ts';
import { gitFailure, runGit } from './run.ts';

/** Reads all `handoff.*` settings in one process. Outside a repository the user's own count. */
export async function readSettings(cwd: string, timeoutMs?: number): Promise<Settings> {
  const result = await runGit(['config', '-z', '--get-regexp', '^handoff\\.'], {
    cwd,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  // Exit 1: no such key (git-config(1)).
  if (result.code > 1) throw gitFailure('config', result);
  const entries = result.stdout
    .toString('utf8')
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const end = entry.indexOf('\n');
      return end < 0 ? ([entry, undefined] as const) : ([entry.slice(0, end), entry.slice(end + 1)] as const);
    });
  return parseSettings(entries);
}
