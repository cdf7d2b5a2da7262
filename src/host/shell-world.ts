import { join } from 'node:path';
import type { ShellWorld } from '../shell/effects.ts';
import { entries, exists, isFolder, linkTarget } from './disk.ts';
import { tryTree } from './folders.ts';
import type { MarkerFiles } from './marker-files.ts';

/** Returns what the analysis of a shell command may ask about the disk and the environment. */
export function shellWorld(
  place: {
    cwd: string;
    home: string;
    env: NodeJS.ProcessEnv;
    commonDir: string | undefined;
    headBranch: (folder: string) => string | undefined;
    aliasesAt: (folder: string) => ReadonlyMap<string, string>;
    /** Returns further absolute paths that the caller guards; called once, when they are needed. */
    claimed: () => readonly string[];
  },
  files: MarkerFiles,
): ShellWorld {
  const { cwd, home, env, commonDir, headBranch, aliasesAt } = place;
  let claimed: readonly string[] | undefined;
  const claimedBelow = (folder: string) => {
    const inside = folder.endsWith('/') ? folder : `${folder}/`;
    claimed ??= place.claimed();
    return claimed.filter((path) => path.startsWith(inside));
  };
  return {
    cwd,
    home,
    tryTree: commonDir && tryTree(commonDir),
    variable: (name) => (name === 'HOME' ? home : env[name]),
    entries,
    isDirectory: isFolder,
    readLink: linkTarget,
    headBranch,
    alias: (name, folder) => aliasesAt(folder).get(name),
    watched: (folder) => [
      ...files.below(folder),
      ...(commonDir === undefined ? [] : refFiles(commonDir, folder)),
      ...claimedBelow(folder),
    ],
  };
}

/** The most loose refs to list. The rest are covered by their folder, which is listed, too. */
const MAX_LOOSE = 2000;

/** Returns the files that hold handoff refs, at a path or inside it. Only their existence counts: they are never read. */
function refFiles(commonDir: string, folder: string): string[] {
  const inside = folder.endsWith('/') ? folder : `${folder}/`;
  const packed = join(commonDir, 'packed-refs');
  const folders = ['refs/handoffs', 'refs/handoffs-local', 'reftable'].map((name) => join(commonDir, name));
  const near = folders.filter((path) => `${path}/`.startsWith(inside) || inside.startsWith(`${path}/`));
  const found = near.flatMap((path) => [path, ...filesBelow(path)]);
  return [packed, ...found].filter((path) => path.startsWith(inside) && exists(path));
}

function filesBelow(folder: string): string[] {
  const found: string[] = [];
  for (const waiting = [folder]; waiting.length > 0 && found.length < MAX_LOOSE;) {
    const at = waiting.pop() ?? '';
    for (const name of entries(at)) {
      const path = join(at, name);
      if (isFolder(path)) waiting.push(path);
      else found.push(path);
    }
  }
  return found;
}
