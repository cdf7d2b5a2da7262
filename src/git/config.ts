import { type Settings, parseSettings, settingEntry } from '../domain/settings.ts';
import { gitFailure, runGit } from './run.ts';

/** Reads all `handoff.*` settings in one process. Outside a repository the user's own count. */
export async function readSettings(cwd: string, timeoutMs?: number): Promise<Settings> {
  const result = await runGit(['config', '-z', '--get-regexp', '^handoff\\.'], {
    cwd,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  // Exit 1: no such key (git-config(1)).
  if (result.code > 1) throw gitFailure('config', result);
  const entries = result.stdout.toString('utf8').split('\0');
  return parseSettings(entries.filter((entry) => entry !== '').map((entry) => settingEntry(entry, '\n')));
}
