import { readSettingEntries } from './config.ts';
import { gitFailure, runGit } from './run.ts';

/** How git merges a file: line by line, not at all, all lines of both, or by a program of the user's. */
export type MergeWay = 'text' | 'binary' | 'union' | 'driver';

/** How git would merge each of these paths, from the top of the working tree (gitattributes(5), `merge`). */
export async function mergeWays(
  cwd: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, MergeWay>> {
  const [entries, attributes] = await Promise.all([
    readSettingEntries('^merge\\.(default|.*\\.driver)$', cwd),
    mergeAttributes(cwd, paths),
  ]);
  const keys = entries.flatMap(([key]) => (key.endsWith('.driver') ? [key] : []));
  const names = new Set(keys.map((key) => key.slice('merge.'.length, -'.driver'.length)));
  const fallback = entries.findLast(([key]) => key === 'merge.default')?.[1];
  const wayOf = (attribute: string | undefined): MergeWay => {
    const value = attribute === 'unspecified' ? (fallback ?? 'text') : attribute;
    if (names.has(value ?? '')) return 'driver';
    if (value === 'unset' || value === 'binary') return 'binary';
    return value === 'union' ? 'union' : 'text';
  };
  return new Map(paths.map((path) => [path, wayOf(attributes.get(path))]));
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
