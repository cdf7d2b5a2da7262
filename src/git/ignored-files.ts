import { entriesOf } from './output.ts';
import { runGit } from './run.ts';

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
