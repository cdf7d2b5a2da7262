import type { Oid } from '../domain/names.ts';
import { type GitOptions, requireGit } from './run.ts';

/**
 * Returns a blob as a checkout would write it to a path, with the line ends and filters that the repository asks for.
 * This runs a smudge filter that the repository names.
 *
 * @throws Failure `environment` when a required filter fails
 */
export async function asCheckedOut(options: GitOptions, path: string, oid: Oid): Promise<Buffer> {
  const result = await requireGit(['cat-file', '--filters', `--path=${path}`, oid], options);
  return result.stdout;
}

/**
 * The paths with a `filter` attribute: the user's programs read and write them.
 *
 * @throws Failure `environment` when git fails
 */
export async function filteredPaths(options: GitOptions, paths: readonly string[]): Promise<Set<string>> {
  const filters = await attributesOf(options, 'filter', paths);
  return new Set(paths.filter((path) => !['unspecified', 'unset'].includes(filters.get(path) ?? '')));
}

/** Returns an attribute of paths (gitattributes(5)): its value, `set`, `unset` or `unspecified`. */
export async function attributesOf(
  options: GitOptions,
  attribute: 'filter' | 'merge',
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (paths.length === 0) return new Map();
  const input = paths.map((path) => `${path}\0`).join('');
  const result = await requireGit(['check-attr', '-z', '--stdin', attribute], { ...options, input });
  const fields = result.stdout.toString('utf8').split('\0');
  return new Map(paths.map((path, n) => [path, fields[3 * n + 2] ?? 'unspecified']));
}

/**
 * Contents as a checkout would write them, with line ends and encodings converted, in one process; `undefined` for a missing
 * object. Only for paths without a filter: no program runs.
 *
 * @throws Failure `environment` when git fails
 */
export async function plainCheckouts(
  options: GitOptions,
  files: readonly { readonly path: string; readonly oid: Oid }[],
): Promise<(Buffer | undefined)[]> {
  if (files.length === 0) return [];
  // The sizes that git prints are from before the conversion, so we mark each content's end with a name that no content contains.
  const mark = `none-${Math.random().toString(36).slice(2)}`;
  const input = files.map(({ path, oid }) => `${oid} ${path}\0${mark}\0`).join('');
  const args = ['cat-file', '--batch=', '--filters', '--buffer', '-z'];
  const result = await requireGit(args, { ...options, input });
  const end = Buffer.from(`\n${mark} missing\n`);
  let at = 0;
  return files.map(() => {
    const until = result.stdout.indexOf(end, at);
    const reply = result.stdout.subarray(at, Math.max(until, at));
    at = until + end.length;
    // For an object that exists, git prints an empty header line.
    return reply[0] === '\n'.charCodeAt(0) ? reply.subarray(1) : undefined;
  });
}
