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
 * The files of a commit or tree, of all folders, or those that are named only. Submodules are left out.
 *
 * @param treeish an object name, or one with `^3` and the like; nothing that anybody typed
 * @returns empty when there is no such tree
 */
export async function listTree(
  cwd: string,
  treeish: string,
  names: readonly string[] = [],
  limits: { readonly timeoutMs?: number | undefined } = {},
): Promise<TreeFile[]> {
  const asked = names.length > MAX_NAMES ? [] : names;
  // What follows the tree are names; a `--` would be one, too.
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
 * Files that git ignores and does not track, below some pathspecs (all when there are none); a folder that is ignored
 * as a whole stands for what is in it.
 *
 * @param folders folders that hold nothing else, too, as `git clean -d` takes them
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
