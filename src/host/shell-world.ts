import { join } from 'node:path';
import type { ShellWorld } from '../domain/shell/effects.ts';
import { entries, isFolder, linkTarget } from './disk.ts';
import type { MarkerFiles } from './marker-files.ts';

/** The disk and environment as the analysis of a shell command sees them. */
export function shellWorld(
  place: { cwd: string; home: string; env: NodeJS.ProcessEnv; commonDir: string | undefined },
  files: MarkerFiles,
): ShellWorld {
  const { cwd, home, env, commonDir } = place;
  return {
    cwd,
    home,
    variable: (name) => (name === 'HOME' ? home : env[name]),
    entries,
    isDirectory: isFolder,
    readLink: linkTarget,
    watched: (folder) => [
      ...files.below(folder),
      ...(commonDir === undefined ? [] : looseRefs(commonDir, folder)),
    ],
  };
}

/** Files that hold handoff refs in the files backend; only their being there counts, they are never read. */
function looseRefs(commonDir: string, folder: string): string[] {
  const candidates = ['packed-refs', 'refs/handoffs', 'refs/handoffs-local'].map((name) =>
    join(commonDir, name),
  );
  const inside = folder.endsWith('/') ? folder : `${folder}/`;
  return candidates.filter(
    (path) => path.startsWith(inside) && (isFolder(path) || path.endsWith('packed-refs')),
  );
}
