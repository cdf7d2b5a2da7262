import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import type { GitRunner } from '../git/run.ts';
import { readBytes } from './disk.ts';
import { GIT_HOOKS, type GitHook } from './hook-block.ts';
import { type HooksFolder, isIgnored } from './repository-facts.ts';

/** One hook of the effective hooks folder, as it stands. */
export interface HookFacts {
  readonly hook: GitHook;
  readonly path: string;
  readonly kind: 'missing' | 'regular' | 'link' | 'dangling link' | 'other';
  readonly current: Buffer | undefined;
  readonly executable: boolean;
  /** False: the file would show up in `git status`, or is tracked. */
  readonly hidden: boolean;
  /** What pre-commit keeps of the hook that it found, and runs first. */
  readonly legacy: Buffer | undefined;
}

/** Reads the hooks that we would add to. */
export async function readHooks(git: GitRunner, folder: HooksFolder): Promise<HookFacts[]> {
  return Promise.all(
    GIT_HOOKS.map(async (hook): Promise<HookFacts> => {
      const path = join(folder.path, hook);
      const link = await fs.lstat(path).catch(() => undefined);
      const target = await fs.stat(path).catch(() => undefined);
      const kind = kindOf(link, target);
      return {
        hook,
        path,
        kind,
        current: kind === 'regular' ? await readBytes(path) : undefined,
        executable: ((target?.mode ?? 0) & 0o111) !== 0,
        hidden: !folder.inWorkTree || (await isIgnored(git, path)),
        legacy: await readBytes(`${path}.legacy`).catch(() => undefined),
      };
    }),
  );
}

type Stat = Awaited<ReturnType<typeof fs.stat>> | undefined;

function kindOf(link: Stat, target: Stat): HookFacts['kind'] {
  if (link === undefined) return 'missing';
  if (link.isSymbolicLink()) return target === undefined ? 'dangling link' : 'link';
  return link.isFile() ? 'regular' : 'other';
}
