import { rmSync, statSync, readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { escapeLine } from '../../domain/surfacing.ts';
import { listBrokenRefs, removeBrokenRef } from '../../git/refs.ts';
import type { Repository } from '../../git/repository.ts';
import { entries, readText } from '../../host/disk.ts';
import { closedPaths, repositoryFolder, shareAll } from '../../host/folders.ts';
import { isLeft } from '../../host/process-lock.ts';
import { type ProcessTable, processTable } from '../../host/processes.ts';
import { listGitDirs } from '../../install/repository-facts.ts';
import { counted } from '../../ui/terminal.ts';
import type { CheckShape } from '../shapes.ts';
import { FIX, doctorLine } from './repository-checks.ts';

/** A younger file or lock may be in use. Milliseconds. */
const YOUNG_MS = 10 * 60_000;

/** Finds private indexes and commit locks whose process is gone, and removes them with `fix`. */
export function checkLeftovers({ commonDir }: Repository, fix: boolean, now: number): CheckShape[] {
  const table = processTable();
  const left = listGitDirs(commonDir).flatMap((gitDir) =>
    entries(gitDir)
      .filter((name) => /^handoff-(?:index\.\d+|commit\.lock|try\.(?:lock|group))/.test(name))
      .map((name) => join(gitDir, name))
      .filter((file) => isLeftover(file, table, now)),
  );
  if (left.length === 0) return [];
  const detail = `${counted(left.length, 'file')} of processes that are gone: ${left.slice(0, 5).join(', ')}`;
  if (!fix) return [doctorLine('leftovers', 'warning', detail, FIX)];
  for (const file of left) rmSync(file, { force: true });
  return [doctorLine('leftovers', 'fixed', `${detail}; removed`)];
}

function isLeftover(file: string, table: ProcessTable, now: number): boolean {
  const age = now - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now);
  const index = /^handoff-index\.(\d+)(?:\.[\w-]+)?(?:\.lock)?$/.exec(basename(file));
  if (index !== null) return age > YOUNG_MS && table.runningSince(Number(index[1])) === undefined;
  const words = readText(file);
  return words === '' ? age > YOUNG_MS : isLeft(file, words, table, now);
}

/**
 * Finds files of ours that other users of a shared repository cannot read: they would not see this user's sessions. With `fix`,
 * opens the files that belong to this user.
 */
export function checkShared({ commonDir }: Repository, fix: boolean): CheckShape[] {
  const folder = repositoryFolder(commonDir);
  if (fix) shareAll(folder);
  const [closed] = closedPaths(folder);
  if (closed === undefined) return [];
  const detail = `others may write to this repository, but ${escapeLine(closed)} is closed to them`;
  return [doctorLine('shared', 'problem', `${detail}; its owner can open it`, FIX)];
}

/** A lock older than this is reported: git's own writes take far less. Milliseconds. */
const BLOCKING_MS = 60_000;
/**
 * Finds lock files that a killed writer left on our refs, packed-refs, reftables and the config, which git never
 * removes. With `fix`, removes those that are at least ten minutes old.
 */
export function checkLocks({ commonDir }: Repository, fix: boolean, now: number): CheckShape[] {
  const folders = ['refs/handoffs', 'refs/handoffs-local', 'refs/handoffs-remote', 'reftable'];
  const files = [
    ...folders.flatMap((folder) => locksBelow(join(commonDir, folder))),
    ...['packed-refs.lock', 'config.lock'].map((name) => join(commonDir, name)),
  ];
  return files.flatMap((file) => {
    const modified = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now;
    return now - modified < BLOCKING_MS ? [] : [lockCheck(file, now - modified, commonDir, fix)];
  });
}

function lockCheck(file: string, ageMs: number, commonDir: string, fix: boolean): CheckShape {
  const minutes = Math.round(ageMs / 60_000);
  const what = `${escapeLine(relative(commonDir, file))} is ${minutes} min old and blocks writes`;
  if (ageMs < YOUNG_MS) {
    const detail = `${what}. If no git is running here, it was left behind; --fix removes it when it is 10 minutes old`;
    return doctorLine('locks', 'problem', detail, FIX);
  }
  if (!fix) return doctorLine('locks', 'problem', what, FIX);
  rmSync(file, { force: true });
  return doctorLine('locks', 'fixed', `${what}; removed`);
}

/** Finds refs that a crash of the machine left without a value. With `fix` removes them, and what they held is put back. */
export async function checkBrokenRefs(repository: Repository, fix: boolean): Promise<CheckShape[]> {
  return (await listBrokenRefs(repository)).map((name) => {
    const detail = `${escapeLine(name)} has no value, which makes git fetch fail`;
    return fix && removeBrokenRef(repository, name)
      ? doctorLine('refs', 'fixed', `${detail}; removed`)
      : doctorLine('refs', 'problem', detail, FIX);
  });
}

function locksBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.lock'))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}
