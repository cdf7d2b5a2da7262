import { runGit } from './run.ts';

/**
 * Files that git ignores and does not track, below some pathspecs (all when there are none); a folder that is ignored
 * as a whole stands for what is in it.
 *
 * @param folders folders that hold nothing else, too, as `git clean -d` takes them
 */
export async function ignoredFiles(
  cwd: string,
  pathspecs: readonly string[],
  { folders, timeoutMs }: { folders: boolean; timeoutMs: number },
): Promise<string[]> {
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'];
  const result = await runGit([...args, '--', ...pathspecs], { cwd, timeoutMs });
  if (result.code !== 0) return [];
  const names = result.stdout.toString('utf8').split('\0');
  return names.filter((name) => name !== '' && (folders || !name.endsWith('/')));
}
