import { rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { createBundle } from '../../git/bundle.ts';
import { HANDOFFS, LOCAL, REMOTE } from '../../git/namespace.ts';
import { updateRefs } from '../../git/ref-updates.ts';
import { type RefValue, listRefNames } from '../../git/refs.ts';
import { entries, exists } from '../../host/disk.ts';

/** All that git-handoff has written into a repository beside what `init` changed. */
export interface Belongings {
  readonly refs: readonly RefValue[];
  /** Folders of logs without refs, and files in the git folders of worktrees; absolute. */
  readonly files: readonly string[];
  /** Folders that git leaves behind when their last ref goes; absolute. */
  readonly folders: readonly string[];
  /** Where the refs will be kept; absolute. */
  readonly backup: string;
}

const FOLDERS = [HANDOFFS, LOCAL, REMOTE];

/**
 * Finds it; changes nothing.
 *
 * @param now milliseconds since the epoch
 */
export async function findBelongings(
  cwd: string,
  commonDir: string,
  gitDirs: readonly string[],
  now: number,
): Promise<Belongings> {
  const logs = FOLDERS.map((prefix) => join(commonDir, 'logs', prefix));
  const stamp = new Date(now).toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '');
  return {
    refs: await listRefNames({ cwd }, FOLDERS),
    folders: FOLDERS.map((prefix) => join(commonDir, prefix)),
    files: [
      ...logs,
      ...gitDirs.flatMap((dir) =>
        entries(dir)
          .filter((name) => name.startsWith('handoff-'))
          .map((name) => join(dir, name)),
      ),
    ],
    // Not `handoff-…`: the next purge would remove it.
    backup: freeName(join(commonDir, `git-handoff-backup-${stamp}`)),
  };
}

function freeName(path: string, number = 1): string {
  const name = `${path}${number === 1 ? '' : `-${number}`}.bundle`;
  return exists(name) ? freeName(path, number + 1) : name;
}

/** What a person reads before it is done. */
export function describeBelongings({ refs, backup }: Belongings): string {
  if (refs.length === 0) return '';
  const counts = FOLDERS.flatMap((prefix) => {
    const count = refs.filter(({ name }) => name.startsWith(prefix)).length;
    return count === 0 ? [] : [`remove ${count} ${count === 1 ? 'ref' : 'refs'} below ${prefix}`];
  });
  return [`create ${escapeLine(backup)} (git bundle), with all that goes`, ...counts, ''].join('\n');
}

/** The command that brings the refs back. */
export function restoreCommand({ backup }: Belongings): string {
  return `git fetch --no-tags ${shellWord(backup)} 'refs/*:refs/*'`;
}

/** Puts the refs into a file; only then anything may go. */
export async function keepBelongings(cwd: string, { refs, backup }: Belongings): Promise<void> {
  if (refs.length > 0) await createBundle(cwd, backup, refs);
}

/**
 * Removes what the backup holds, the refs in one transaction, by compare-and-swap.
 *
 * @throws Failure `lost-race` when one was written meanwhile: then none is removed
 */
export async function removeBelongings(cwd: string, { refs, files, folders }: Belongings): Promise<void> {
  const again = 'git handoff uninstall --purge';
  const updates = refs.map(({ name, oid }) => ({ ref: name, next: undefined, old: oid }));
  const result = refs.length === 0 ? { kind: 'done' as const } : await updateRefs({ cwd }, updates);
  if (result.kind === 'locked') {
    throw new Failure('environment', `a lock is in the way; nothing was removed: ${result.detail}`, {
      hint: again,
    });
  }
  if (result.kind !== 'done') {
    throw new Failure('lost-race', 'a session wrote a note meanwhile; nothing was removed', { hint: again });
  }
  for (const file of files) rmSync(file, { recursive: true, force: true });
  for (const folder of folders) removeEmpty(folder);
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // There is none, or somebody has just written a handoff.
  }
}
