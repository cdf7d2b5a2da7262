import { rmSync, statSync, readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { escapeLine } from '../../domain/surfacing.ts';
import type { Repository } from '../../git/repository.ts';
import { entries, readText } from '../../host/disk.ts';
import { type ProcessTable, processTable } from '../../host/processes.ts';
import { counted } from '../../ui/terminal.ts';
import type { CheckShape } from '../shapes.ts';
import { FIX, doctorLine } from './finding.ts';

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

/** git's own writes take milliseconds: a lock that is older blocks somebody. Milliseconds. */
const BLOCKING_MS = 60_000;
/** With this age it is taken for left behind. Milliseconds. */
const STALE_MS = 10 * 60_000;

interface Lock {
  readonly file: string;
  readonly ageMs: number;
  /** From this age on it is left behind. Milliseconds. */
  readonly staleMs: number;
}

/**
 * Lock files on our refs, on packed-refs, on reftables and on the config that a killed writer left; git never removes them. With `fix` those
 * are removed that are ten minutes old.
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

/** Nobody keeps the config locked for longer than a write takes, and what `init` and `uninstall` write can be told. */
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

/** Lines that `init` writes into a config, and `uninstall` takes out. */
const OURS = /^(?:\[handoff\]|\[hook "handoff-[a-z-]+"\]|\t(?:enabled|command|event) = .*)?$/;

/**
 * Whether the lock of a config holds what `init` or `uninstall` were about to put in its place: the same but for lines of
 * ours. Pure.
 *
 * @param config its text
 * @param lock the text of the lock; git, too, makes it empty first
 */
function isOurConfigLock(config: string, lock: string): boolean {
  if (lock === '' || lock === config) return false;
  return (
    linesBut(lock, config).every((line) => OURS.test(line)) &&
    linesBut(config, lock).every((line) => OURS.test(line))
  );
}

/** The lines of a text that another one has not. */
function linesBut(text: string, other: string): string[] {
  const known = new Set(other.split('\n'));
  return text.split('\n').filter((line) => !known.has(line));
}
