import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { entries, readText } from '../host/disk.ts';
import { repositoryEntry, stateFolder } from '../host/folders.ts';

/** Notes that sessions work in a repository: the launcher reads these entries before it ignores a call made outside. */
export function rememberRepository(env: NodeJS.ProcessEnv, commonDir: string): void {
  // Without a home folder there is no place for the entry but the current folder.
  if (!stateFolder(env).startsWith('/') || knownRepositories(env).includes(commonDir)) return;
  const file = repositoryEntry(stateFolder(env), commonDir);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${commonDir}\n`);
}

/** Returns the common dirs of the repositories in which sessions have been at work. */
export function knownRepositories(env: NodeJS.ProcessEnv): string[] {
  const folder = join(stateFolder(env), 'repositories');
  const paths = entries(folder).map((name) => readText(join(folder, name)).replace(/\n$/, ''));
  return paths.filter((path) => path !== '');
}
