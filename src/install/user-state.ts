import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { isInitialised } from '../host/folders.ts';

/*
 * The user's state folder holds what several repositories share:
 *
 *     node                  absolute path of the Node that the launcher starts
 *     install.json          receipt of the user-scope settings
 *     repositories/<hash>   one file for each repository that uses them, holding its common dir
 */

/** Common dirs of the other repositories that are still set up. */
export async function otherRepositories(state: string, commonDir: string | undefined): Promise<string[]> {
  const folder = join(state, 'repositories');
  const names = await fs.readdir(folder).catch((): string[] => []);
  const listed = await Promise.all(
    names.map((name) => fs.readFile(join(folder, name), 'utf8').catch(() => '')),
  );
  const others: string[] = [];
  for (const dir of listed.map((text) => text.replace(/\n$/, ''))) {
    if (dir !== '' && dir !== commonDir && isInitialised(dir)) others.push(dir);
  }
  return others.sort();
}
