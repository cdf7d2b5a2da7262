import type { SettingEntry } from '../domain/settings.ts';
import { readSettingEntries } from './config.ts';
import { gitFailure, runGit } from './run.ts';

/** How git merges a file: line by line, not at all, all lines of both, or by a program of the user's. */
export type MergeWay = 'text' | 'binary' | 'union' | 'driver';

/** The programs that a user has named for merging some files (gitattributes(5), "Defining a custom merge driver"). */
export interface MergeDrivers {
  /** Variables for git that start none of them: each merge of such a file then is a conflict. */
  readonly env: Readonly<Record<string, string>>;
  /** How git would merge each of these paths, from the top of the working tree. */
  waysOf(paths: readonly string[]): Promise<ReadonlyMap<string, MergeWay>>;
}

/** Reads which are configured, in one process. */
export async function readMergeDrivers(cwd: string): Promise<MergeDrivers> {
  return mergeDrivers(cwd, await readSettingEntries('^merge\\.(default|.*\\.driver)$', cwd));
}

/** The configured drivers, from settings that include all of `merge.*`. */
export function mergeDrivers(cwd: string, settings: readonly SettingEntry[]): MergeDrivers {
  const entries = settings.filter(([key]) => /^merge\.(?:default|.*\.driver)$/s.test(key));
  const keys = new Set(entries.flatMap(([key]) => (key.endsWith('.driver') ? [key] : [])));
  const names = new Set([...keys].map((key) => key.slice('merge.'.length, -'.driver'.length)));
  const fallback = entries.findLast(([key]) => key === 'merge.default')?.[1];
  const wayOf = (attribute: string | undefined): MergeWay => {
    const value = attribute === 'unspecified' ? (fallback ?? 'text') : attribute;
    if (names.has(value ?? '')) return 'driver';
    if (value === 'unset' || value === 'binary') return 'binary';
    return value === 'union' ? 'union' : 'text';
  };
  const waysOf = async (paths: readonly string[]) => {
    const attributes = await mergeAttributes(cwd, paths);
    return new Map(paths.map((path) => [path, wayOf(attributes.get(path))]));
  };
  return {
    env: settingsInEnvironment([...keys].map((key) => [key, 'false'])),
    waysOf,
  };
}

/** The attribute `merge` of paths: the name of a driver, `set`, `unset` or `unspecified`. */
async function mergeAttributes(cwd: string, paths: readonly string[]): Promise<Map<string, string>> {
  if (paths.length === 0) return new Map();
  const input = paths.map((path) => `${path}\0`).join('');
  const result = await runGit(['check-attr', '-z', '--stdin', 'merge'], { cwd, input });
  if (result.code !== 0) throw gitFailure('check-attr', result);
  const fields = result.stdout.toString('utf8').split('\0');
  return new Map(paths.map((path, n) => [path, fields[3 * n + 2] ?? 'unspecified']));
}

/** Settings on top of those that the environment has already (git-config(1), `GIT_CONFIG_COUNT`). */
function settingsInEnvironment(settings: readonly (readonly [key: string, value: string])[]) {
  const first = Number(process.env['GIT_CONFIG_COUNT'] ?? 0);
  const variables = settings.flatMap(([key, value], n) => [
    [`GIT_CONFIG_KEY_${first + n}`, key],
    [`GIT_CONFIG_VALUE_${first + n}`, value],
  ]);
  return Object.fromEntries([['GIT_CONFIG_COUNT', String(first + settings.length)], ...variables]) as Record<
    string,
    string
  >;
}
