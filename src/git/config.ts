import { resolve } from 'node:path';
import { type SettingEntry, type Settings, parseSettings, settingEntry } from '../domain/settings.ts';
import type { GitOverrides } from '../shell/effects.ts';
import { type GitOptions, entriesOf, records, gitFailure, runGit } from './run.ts';

/** Reads all `handoff.*` settings in one process; outside a repository, the user's settings. */
export async function readSettings(cwd: string): Promise<Settings> {
  return parseSettings(await readSettingEntries({ cwd }, '^handoff\\.'));
}

/** Reads all settings whose keys match, in git's order. */
export async function readSettingEntries(options: GitOptions, keys: string): Promise<SettingEntry[]> {
  const result = await runGit(['config', '-z', '--get-regexp', keys], options);
  // Exit 1: no such key (git-config(1)).
  if (result.code > 1) throw gitFailure('config', result);
  return entriesOf(result).map(settingEntry);
}

/** Reads the settings and the names of the configured remotes in one process. */
export async function readSettingsAndRemotes(
  cwd: string,
): Promise<{ readonly settings: Settings; readonly remotes: ReadonlySet<string> }> {
  const entries = await readSettingEntries({ cwd }, '^(handoff\\..*|remote\\..*\\.(url|fetch))$');
  const names = entries.flatMap(([key]) =>
    key.startsWith('remote.') ? [key.slice('remote.'.length, key.lastIndexOf('.'))] : [],
  );
  return { settings: parseSettings(entries), remotes: new Set(names) };
}

/**
 * Reads a setting that only the person may make: for the whole machine, for the user, or on a command line. The
 * repository's own configuration does not count, nor does a file that came with a clone (`isInside`), even if the user's
 * own configuration includes it.
 */
export async function readOwnSetting(
  key: string,
  cwd: string,
  isInside: (file: string) => boolean,
): Promise<string | undefined> {
  const result = await runGit(['config', '-z', '--show-scope', '--show-origin', '--get-all', key], { cwd });
  const found = records(result.stdout.toString('utf8'), 3).filter(([scope = '', origin = '']) => {
    if (scope === 'command') return true;
    const file = resolve(cwd, origin.replace(/^file:/, ''));
    return (scope === 'system' || scope === 'global') && !isInside(file);
  });
  return found.at(-1)?.[2];
}

/** Reads the settings and, if one is configured, the e-mail address that a commit would carry, in one process. */
export async function readReaderSettings(
  cwd: string,
): Promise<{ readonly settings: Settings; readonly email: string | undefined }> {
  const entries = await readSettingEntries({ cwd }, '^(handoff\\..*|user\\.email|committer\\.email)$');
  const last = (key: string) => entries.findLast(([name]) => name === key)?.[1];
  return { settings: parseSettings(entries), email: last('committer.email') ?? last('user.email') };
}

/** git's settings about a working tree. */
export interface TreeConfig {
  /** `core.fileMode`: the executable bit counts. */
  readonly fileMode: boolean;
  /** `core.ignoreCase`: names that differ only in case are one file. */
  readonly ignoreCase: boolean;
  /** `core.hooksPath`, as written. */
  readonly hooksPath: string | undefined;
}

/** Reads these settings in one process. */
export async function readTreeConfig(cwd: string): Promise<TreeConfig> {
  const keys = '^core\\.(filemode|ignorecase|hookspath)$';
  const result = await runGit(['config', '-z', '--show-scope', '--get-regexp', keys], { cwd });
  if (result.code > 1) throw gitFailure('config', result);
  // Our own git calls switch hooks off on their command line: those values do not count.
  const entries = records(result.stdout.toString('utf8'), 2).flatMap(([scope, entry = '']) =>
    scope === 'command' ? [] : [settingEntry(entry)],
  );
  const last = (key: string) => entries.findLast(([name]) => name === key)?.[1];
  return {
    fileMode: last('core.filemode') !== 'false',
    ignoreCase: last('core.ignorecase') === 'true',
    hooksPath: last('core.hookspath'),
  };
}

/** What one refspec of a remote makes `git fetch` do here. */
export interface FetchRule {
  readonly remote: string;
  readonly refspec: string;
  /** Whether a fetch deletes refs that the remote does not have. */
  readonly prunes: boolean;
}

/** Reads the refspecs of all remotes. */
export async function readFetchRules(cwd: string): Promise<FetchRule[]> {
  const keys = '^(remote\\..*\\.(fetch|prune)|fetch\\.prune)$';
  const rules: Omit<FetchRule, 'prunes'>[] = [];
  const prunes = new Map<string, boolean>();
  for (const [key, value = 'true'] of await readSettingEntries({ cwd }, keys)) {
    const remote = key.slice('remote.'.length, key.lastIndexOf('.'));
    if (key.endsWith('.fetch')) rules.push({ remote, refspec: value });
    else if (key.endsWith('.prune')) prunes.set(key, /^(?:true|yes|on|[1-9]\d*)$/i.test(value));
  }
  return rules.map((rule) => ({
    ...rule,
    prunes: prunes.get(`remote.${rule.remote}.prune`) ?? prunes.get('fetch.prune') ?? false,
  }));
}

/** Reads when to colour answers: from `color.handoff`, else from `color.ui`, with git-config(1)'s values. */
export async function readColour(cwd: string): Promise<'always' | 'never' | 'auto'> {
  const entries = await readSettingEntries({ cwd }, '^color\\.(ui|handoff)$');
  // The last `color.ui` is the one that we set for our own git children.
  const [, ...others] = entries.filter(([key]) => key === 'color.ui').reverse();
  const value = (entries.findLast(([key]) => key === 'color.handoff') ?? others[0])?.[1] ?? 'auto';
  if (value.toLowerCase() === 'always') return 'always';
  return ['never', 'false', 'no', 'off', '0', ''].includes(value.toLowerCase()) ? 'never' : 'auto';
}

/** The settings that the guard depends on, as an extended regular expression over git's keys. */
const GUARD_KEYS =
  '^(handoff|alias)\\.|^hook\\.handoff-|^core\\.hookspath$|^(rebase|merge)\\.autostash$|^clean\\.requireforce$';

/**
 * Reads the settings that the guard depends on, as a git in this folder with these options and variables would see them;
 * `undefined` when an option or variable is unknown. Leaves out the setting that keeps our own git children from running hooks.
 */
export async function configUnder(
  git: GitOptions,
  { options, variables }: GitOverrides = { options: [], variables: new Map() },
): Promise<readonly SettingEntry[] | undefined> {
  const words = options.filter((word) => word !== undefined);
  const isUnknown = [...variables].some(
    ([name, value]) => value === undefined && name.startsWith('GIT_CONFIG'),
  );
  if (words.length < options.length || isUnknown) return undefined;
  const env = Object.fromEntries([...variables].map(([name, value]) => [name, value ?? '']));
  const args = [...words, 'config', '-z', '--show-scope', '--get-regexp', GUARD_KEYS];
  const result = await runGit(args, { ...git, env });
  // Exit 1: no such key. Any other error will stop the user's git, too.
  if (result.code > 1) throw gitFailure('config', result);
  const found = records(result.stdout.toString('utf8'), 2);
  const ours = found.findIndex(
    ([scope, entry]) => scope === 'command' && entry === 'core.hookspath\n/dev/null',
  );
  return found.filter((_, n) => n !== ours).map(([, entry = '']) => settingEntry(entry));
}

/** Reads the same settings as a git without such options and variables would see them. */
export async function plainConfig(git: GitOptions): Promise<readonly SettingEntry[]> {
  return (await configUnder(git)) ?? [];
}
