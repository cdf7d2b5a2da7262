import { rmSync, statSync, readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import type { Repository } from '../../git/repository.ts';
import { entries, exists, readText } from '../../host/disk.ts';
import { repositoryFolder, tryTree } from '../../host/folders.ts';
import { isLeft } from '../../host/process-lock.ts';
import { type ProcessTable, processTable } from '../../host/processes.ts';
import { closedPaths, shareAll } from '../../host/sharing.ts';
import { counted } from '../../ui/terminal.ts';
import type { CheckShape } from '../shapes.ts';
import { FIX, doctorLine } from './repository-checks.ts';

/** Names the worktree of `try`: git lists it, and somebody may wonder whose it is. */
export function checkTryTree({ commonDir }: Repository): CheckShape[] {
  const top = tryTree(commonDir);
  if (!exists(top)) return [];
  const command = `git worktree remove --force --force ${shellWord(top)}`;
  return [doctorLine('try', 'ok', `git handoff try runs in ${top}; nothing of value is there: ${command}`)];
}

/** Younger files may be in use although they do not name their process yet. Milliseconds. */
const YOUNG_MS = 10 * 60_000;

/** Returns the git folders of all worktrees, the main one first. */
function gitDirs(commonDir: string): string[] {
  const linked = entries(join(commonDir, 'worktrees')).map((name) => join(commonDir, 'worktrees', name));
  return [commonDir, ...linked];
}

/** Finds private indexes and commit locks whose process is gone, and removes them with `fix`. */
export function checkLeftovers({ commonDir }: Repository, fix: boolean, now: number): CheckShape[] {
  const table = processTable();
  const left = gitDirs(commonDir).flatMap((gitDir) =>
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
  const index = /^handoff-index\.(\d+)(?:\.lock)?$/.exec(basename(file));
  if (index !== null) return age > YOUNG_MS && table.runningSince(Number(index[1])) === undefined;
  const words = readText(file);
  return words === '' ? age > YOUNG_MS : isLeft(file, words, table, now);
}

/**
 * Finds what several users cannot share although they share the repository: they are at work without seeing each other. With
 * `fix` opens what belongs to this user.
 */
export function checkShared({ commonDir }: Repository, fix: boolean): CheckShape[] {
  const folder = repositoryFolder(commonDir);
  if (fix) shareAll(folder);
  const [closed] = closedPaths(folder);
  if (closed === undefined) return [];
  const detail = `others write to this repository, but ${escapeLine(closed)} is closed to them`;
  return [doctorLine('shared', 'problem', `${detail}; its owner can open it`, FIX)];
}

/** The age from which a lock is reported, because git's own writes take only milliseconds. Milliseconds. */
const BLOCKING_MS = 60_000;
/** The age from which a lock counts as left behind. Milliseconds. */
const STALE_MS = 10 * 60_000;

interface Lock {
  readonly file: string;
  readonly ageMs: number;
  /** The age from which this lock counts as left behind. Milliseconds. */
  readonly staleMs: number;
}

/**
 * Finds lock files that a killed writer left on our refs, packed-refs, reftables and the config, which git never
 * removes. With `fix`, removes those that are ten minutes old.
 */
export function checkLocks(repository: Repository, fix: boolean, now: number): CheckShape[] {
  const { commonDir } = repository;
  const locks = [...refLocks(commonDir, now), ...configLock(commonDir, now)];
  return locks.map((lock) => lockCheck(lock, commonDir, fix));
}

function refLocks(commonDir: string, now: number): Lock[] {
  const files = [
    ...['refs/handoffs', 'refs/handoffs-local', 'refs/handoffs-remote', 'reftable'].flatMap((folder) =>
      locksBelow(join(commonDir, folder)),
    ),
    join(commonDir, 'packed-refs.lock'),
  ];
  return files.flatMap((file) => lockAt(file, now, STALE_MS)).filter(({ ageMs }) => ageMs >= BLOCKING_MS);
}

/** Finds a lock on the config. Only a write locks it, and what `init` and `uninstall` write can be recognised. */
function configLock(commonDir: string, now: number): Lock[] {
  const config = join(commonDir, 'config');
  const file = `${config}.lock`;
  return lockAt(
    file,
    now,
    isOurConfigLock(readText(config, 'latin1'), readText(file, 'latin1')) ? 0 : STALE_MS,
  );
}

function lockAt(file: string, now: number, staleMs: number): Lock[] {
  const modified = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  return modified === undefined ? [] : [{ file, ageMs: now - modified, staleMs }];
}

function lockCheck({ file, ageMs, staleMs }: Lock, commonDir: string, fix: boolean): CheckShape {
  const what = `${escapeLine(relative(commonDir, file))} is ${duration(ageMs)} old and blocks writes`;
  if (ageMs < staleMs) {
    const detail = `${what}. If no git is running here, it was left behind; --fix removes it when it is 10 minutes old`;
    return doctorLine('locks', 'problem', detail, FIX);
  }
  if (!fix) return doctorLine('locks', 'problem', what, FIX);
  rmSync(file, { force: true });
  return doctorLine('locks', 'fixed', `${what}; removed`);
}

function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 600 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
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

/** The lines that `init` writes into a config, and `uninstall` removes. */
const OURS = /^(?:\[handoff\]|\[hook "handoff-[a-z-]+"\]|\t(?:enabled|command|event) = .*)?$/;

/**
 * Whether the lock of a config holds what `init` or `uninstall` were about to write: the same text except for lines of
 * ours. Pure.
 *
 * @param config the text of the config
 * @param lock the text of the lock; empty at first, as git's own locks are
 */
function isOurConfigLock(config: string, lock: string): boolean {
  if (lock === '' || lock === config) return false;
  return (
    linesBut(lock, config).every((line) => OURS.test(line)) &&
    linesBut(config, lock).every((line) => OURS.test(line))
  );
}

/** Returns the lines of a text that another text does not have. */
function linesBut(text: string, other: string): string[] {
  const known = new Set(other.split('\n'));
  return text.split('\n').filter((line) => !known.has(line));
}
