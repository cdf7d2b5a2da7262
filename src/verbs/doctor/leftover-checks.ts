import { rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Repository } from '../../git/repository.ts';
import { entries, exists, readText } from '../../host/disk.ts';
import { knownWorktreeId, repositoryFolder } from '../../host/folders.ts';
import { type ProcessTable, processTable } from '../../host/processes.ts';
import type { CheckShape } from '../shapes.ts';
import { FIX, doctorLine } from './finding.ts';
import { counted } from '../../ui/terminal.ts';

/** What a process makes for itself may be in use before it can be told whose it is. Milliseconds. */
const YOUNG_MS = 10 * 60_000;

/** The git folders of all worktrees, the main one first. */
function gitDirs(commonDir: string): string[] {
  const linked = entries(join(commonDir, 'worktrees')).map((name) => join(commonDir, 'worktrees', name));
  return [commonDir, ...linked];
}

/** Private indexes and commit locks whose process is gone; with `fix` they are removed. */
export function checkLeftovers({ commonDir }: Repository, fix: boolean, now: number): CheckShape[] {
  const table = processTable();
  const left = gitDirs(commonDir).flatMap((gitDir) =>
    entries(gitDir)
      .filter((name) => /^handoff-(?:index\.\d+|commit\.lock)/.test(name))
      .map((name) => join(gitDir, name))
      .filter((file) => isLeft(file, table, now)),
  );
  if (left.length === 0) return [];
  const detail = `${counted(left.length, 'file')} of processes that are gone: ${left.slice(0, 5).join(', ')}`;
  if (!fix) return [doctorLine('leftovers', 'warning', detail, FIX)];
  for (const file of left) rmSync(file, { force: true });
  return [doctorLine('leftovers', 'fixed', `${detail}; removed`)];
}

function isLeft(file: string, table: ProcessTable, now: number): boolean {
  const age = now - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now);
  const index = /^handoff-index\.(\d+)(?:\.lock)?$/.exec(basename(file));
  if (index !== null) return age > YOUNG_MS && table.runningSince(Number(index[1])) === undefined;
  // `<session> <pid> <start>`: a pid that somebody else has by now is told by its start.
  const [, pid = '', start = ''] = readText(file).trim().split(' ');
  if (pid === '') return age > YOUNG_MS;
  return table.runningSince(Number(pid)) !== start;
}

/** Ledgers of worktrees that were removed: nothing is uncommitted there any more. With `fix` they are removed. */
export function checkLedgers({ commonDir }: Repository, fix: boolean): CheckShape[] {
  const ids = gitDirs(commonDir).map((gitDir) => ({
    id: knownWorktreeId(gitDir),
    isUnreadable: exists(join(gitDir, 'handoff-id')) && knownWorktreeId(gitDir) === undefined,
  }));
  // One whose name cannot be read may be any of them.
  if (ids.some(({ isUnreadable }) => isUnreadable)) return [];
  const folder = join(repositoryFolder(commonDir), 'ledger');
  const gone = entries(folder).filter(
    (name) => /^[0-9a-f]{16}$/.test(name) && !ids.some(({ id }) => id === name),
  );
  if (gone.length === 0) return [];
  const detail = `${counted(gone.length, 'ledger')} of worktrees that are gone: ${gone.join(', ')}`;
  if (!fix) return [doctorLine('ledgers', 'warning', detail, FIX)];
  for (const name of gone) rmSync(join(folder, name), { recursive: true, force: true });
  return [doctorLine('ledgers', 'fixed', `${detail}; removed`)];
}
