import { dirname, join } from 'node:path';
import { entries, lstatOf, statOf } from './disk.ts';
import { share, sharedMode } from './folders.ts';

/*
 * Several users may share a repository (core.sharedRepository), or a container's root and the user of the machine. Who may
 * write in a repository may write our files there, too: each gets its mode when it is made (`share`). Those of earlier versions
 * were closed to others.
 */

/** Shares a folder of ours and all that is in it, as far as it is not shared yet and belongs to this user. */
export function shareAll(folder: string): void {
  for (const path of closedPaths(folder)) share(path);
}

/**
 * A folder of ours and what is in it, as far as those who may write to the folder above cannot use it. Outermost first, so
 * that sharing one changes what the next one should be.
 */
export function* closedPaths(path: string): Generator<string> {
  const [above, own] = [statOf(dirname(path)), lstatOf(path)];
  if (above === undefined || own === undefined || own.isSymbolicLink()) return;
  if (sharedMode(above.mode, own.mode) !== (own.mode & 0o7777)) yield path;
  if (!own.isDirectory() || path.endsWith('/handoff/try')) return;
  for (const name of entries(path)) yield* closedPaths(join(path, name));
}
