import { resolve } from 'node:path';
import { type Oid, parseBranchName } from '../domain/names.ts';
import { parseSettings, type SettingEntry, settingEntry, type Settings } from '../domain/settings.ts';
import type { GitOverrides } from '../shell/effects.ts';
import { entriesOf, gitFailure, type GitOptions, records, runGit } from './run.ts';

/** Reads all `handoff.*` settings in one process; outside a repository, only the user's. */
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
 * Reads a setting that only the person may make: for the whole machine, for the user, or on a command line. Ignores the
 * repository's own configuration, and files that came with a clone (`isInside`), even if the user's configuration includes them.
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
  // Leaves out the values from our own command line, which switches hooks off.
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
  // Skips the last `color.ui`, which we set for our own git children.
  const [, ...others] = entries.filter(([key]) => key === 'color.ui').reverse();
  const value = (entries.findLast(([key]) => key === 'color.handoff') ?? others[0])?.[1] ?? 'auto';
  if (value.toLowerCase() === 'always') return 'always';
  return ['never', 'false', 'no', 'off', '0', ''].includes(value.toLowerCase()) ? 'never' : 'auto';
}

/** The settings that the guard depends on, as an extended regular expression over git's keys. */
const GUARD_KEYS =
  '^(handoff|alias)\\.|^hook\\.handoff-|^core\\.hookspath$|^(rebase|merge)\\.autostash$|^clean\\.requireforce$';

/**
 * Reads the settings that the guard depends on, as git in this folder would see them with these options and variables. Returns
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

/** Like `configUnder`, but without any options and variables. */
export async function plainConfig(git: GitOptions): Promise<readonly SettingEntry[]> {
  return (await configUnder(git)) ?? [];
}

export interface Remote {
  readonly name: string;
  /** The URL that git fetches from, as it is configured. */
  readonly url: string;
  readonly pushUrls: readonly string[];
}

export interface Remotes {
  readonly all: readonly Remote[];
  /** The remote that `git fetch` without a name would ask. */
  readonly usual: string | undefined;
  readonly settings: Settings;
}

/** Reads the configured remotes, and the settings, in one process; `branch` is the current one. */
export async function readRemotes(cwd: string, branch: string): Promise<Remotes> {
  const keys = '^(handoff\\..*|remote\\..*\\.(url|pushurl)|branch\\..*\\.remote)$';
  const settings = await readSettingEntries({ cwd }, keys);
  const [urls, pushUrls] = [new Map<string, string[]>(), new Map<string, string[]>()];
  let upstream: string | undefined;
  for (const [key, value = ''] of settings) {
    const name = key.slice(key.indexOf('.') + 1, key.lastIndexOf('.'));
    const kind = key.endsWith('.pushurl') ? pushUrls : urls;
    if (key.startsWith('remote.')) kind.set(name, [...(kind.get(name) ?? []), value]);
    else if (key === `branch.${branch}.remote`) upstream = value;
  }
  const all = [...urls].map(([name, own]) => {
    return { name, url: own[0] ?? '', pushUrls: pushUrls.get(name) ?? own };
  });
  // The branch's remote if it is configured, else `origin`, else the only remote.
  const usual =
    [upstream, 'origin'].find((name) => urls.has(name ?? '')) ??
    (all.length === 1 ? all[0]?.name : undefined);
  return { all, usual, settings: parseSettings(settings) };
}

/** Whether a remote-tracking branch contains a commit, so that undoing it here leaves it at the remote. `true` in doubt. */
export async function isPushed(cwd: string, oid: Oid): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', `--contains=${oid}`, '--format=%(refname)', 'refs/remotes/'];
  const result = await runGit(args, { cwd });
  return result.code !== 0 || result.stdout.length > 0;
}

/** Whether git itself would create a remote of this name: the name does not look like an option, and a ref can contain it. */
export function isRemoteName(name: string): boolean {
  return parseBranchName(name) !== undefined;
}

/**
 * Variables, on top of `env`, that make git push to a mirror (`git clone --mirror`) as to any other remote. Without them, git
 * would force-push all refs or none. `-c` cannot do this, because a remote's name may contain `=`.
 */
export function notMirrored(env: NodeJS.ProcessEnv, remote: string): Record<string, string> {
  const count = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  return {
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: `remote.${remote}.mirror`,
    [`GIT_CONFIG_VALUE_${count}`]: 'false',
  };
}

/** Why a remote could not be asked: git's `fatal:` line or, when that only says "could not read", the line before it. */
export function remoteWords(stderr: string): string {
  const trimmed = stderr.split('\n').map((line) => line.trim());
  const lines = trimmed.filter((line) => line !== '' && !PROGRESS.test(line));
  const fatal = lines.findIndex((line) => line.startsWith('fatal: '));
  const reason = fatal < 0 ? lines.find((line) => /^(?:error|remote|ssh): /.test(line)) : lines[fatal];
  const isEmpty = reason?.startsWith('fatal: Could not read from remote repository') === true;
  const cause = isEmpty ? (lines[fatal - 1] ?? reason) : (reason ?? lines[0] ?? '');
  return cause.replace(/^fatal: /, '');
}

/** A progress line of git, here or on the server. */
const PROGRESS = /^(?:remote: )?[A-Z][\w ]+: +\d+(?:%|, done|$)|^remote: Total \d/;
