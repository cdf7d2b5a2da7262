import { type Oid, parseOid } from '../domain/names.ts';
import { utf8, entriesOf, runGit } from './run.ts';

/** A file of a tree. */
export interface TreeFile {
  readonly path: string;
  /** The bytes of a name that is not UTF-8, one character each. */
  readonly raw?: string;
  readonly mode: string;
  readonly oid: Oid;
}

/** Beyond this many names the whole tree is listed. */
const MAX_NAMES = 200;

/**
 * Lists the files of a commit or tree in all folders, or only the named ones. Leaves out submodules.
 *
 * @param treeish an object name, or one with `^3` and the like; never something that a user typed
 * @returns empty when there is no such tree
 */
export async function listTree(
  cwd: string,
  treeish: string,
  names: readonly string[] = [],
  limits: { readonly timeoutMs?: number | undefined } = {},
): Promise<TreeFile[]> {
  const asked = names.length > MAX_NAMES ? [] : names;
  // Every word after the tree is a path; a `--` would be one, too.
  const args = ['--literal-pathspecs', 'ls-tree', '-r', '-z', '--full-tree', '--end-of-options', treeish];
  const result = await runGit([...args, ...asked], { cwd, ...limits });
  if (result.code !== 0) return [];
  const listed = result.stdout.toString('latin1').split('\0');
  return listed.flatMap((record): TreeFile[] => {
    const match = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(record);
    const oid = parseOid(match?.[2] ?? '');
    const [, mode = '', , bytes = ''] = match ?? [];
    if (oid === undefined) return [];
    const path = utf8(bytes);
    return [{ path, mode, oid, ...(path.includes('\ufffd') ? { raw: bytes } : {}) }];
  });
}

/**
 * Lists files that git ignores and does not track, below some pathspecs (all when there are none). A folder that is
 * ignored as a whole stands for its contents.
 *
 * @param folders whether to list folders that contain nothing else, which `git clean -d` would delete
 */
export async function listIgnored(
  cwd: string,
  pathspecs: readonly string[],
  { folders, timeoutMs }: { folders: boolean; timeoutMs: number },
): Promise<string[]> {
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'];
  const result = await runGit([...args, '--', ...pathspecs], { cwd, timeoutMs });
  if (result.code !== 0) return [];
  return entriesOf(result).filter((name) => folders || !name.endsWith('/'));
}
