import { type SettingEntry, settingEntry } from '../domain/settings.ts';
import type { GitOverrides } from '../shell/effects.ts';
import { records } from './output.ts';
import { gitFailure, runGit } from './run.ts';

/** The settings that the guard goes by, as an extended regular expression over git's keys. */
const GUARD_KEYS =
  '^(handoff|alias)\\.|^hook\\.handoff-|^core\\.hookspath$|^(rebase|merge)\\.autostash$|^clean\\.requireforce$';

/**
 * What git makes of the settings that the guard goes by in a folder, when it is told this besides; `undefined` when that
 * holds what is not known. Our own git children are told not to run hooks, which is left out of the answer.
 */
export async function configUnder(
  cwd: string,
  { options, variables }: GitOverrides,
  timeoutMs: number,
): Promise<readonly SettingEntry[] | undefined> {
  const words = options.filter((word) => word !== undefined);
  const env = [...variables].map(([name, value]) => [name, value ?? ''] as const);
  const isUnknown = [...variables].some(
    ([name, value]) => value === undefined && name.startsWith('GIT_CONFIG'),
  );
  if (words.length < options.length || isUnknown) return undefined;
  const result = await runGit([...words, 'config', '-z', '--show-scope', '--get-regexp', GUARD_KEYS], {
    cwd,
    env: Object.fromEntries(env),
    timeoutMs,
  });
  // Exit 1: no such key. Anything else is what the user's git will stop at, too.
  if (result.code > 1) throw gitFailure('config', result);
  const found = records(result.stdout.toString('utf8'), 2);
  const ours = found.findIndex(
    ([scope, entry]) => scope === 'command' && entry === 'core.hookspath\n/dev/null',
  );
  return found.filter((_, n) => n !== ours).map(([, entry = '']) => settingEntry(entry, '\n'));
}

/** What a plain git makes of them there. */
export async function plainConfig(cwd: string, timeoutMs: number): Promise<readonly SettingEntry[]> {
  return (await configUnder(cwd, { options: [], variables: new Map() }, timeoutMs)) ?? [];
}
