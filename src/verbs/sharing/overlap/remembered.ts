import { jsonFields } from '../../../domain/json-fields.ts';
import type { Snapshot } from '../../../domain/ledger/snapshot.ts';
import { formatSnapshot, parseSnapshot } from '../../../domain/ledger/snapshot-text.ts';
import { type Oid, parseOid } from '../../../domain/names.ts';
import type { MergeReport } from '../../../domain/overlap.ts';
import type { MergeWay } from '../../../git/merge-drivers.ts';
import { exactStatOf } from '../../../git/stat.ts';
import { stampOf } from '../../../git/work-tree.ts';
import type { ListedWorktree } from '../../../git/worktrees.ts';
import { readText } from '../../../host/disk.ts';
import { repositoryFolder } from '../../../host/folders.ts';
import { putText } from '../../../host/output-file.ts';
import { restsSince } from '../../../sessions/idle.ts';
import type { JudgedSession } from '../../../sessions/records.ts';

/** A worktree as `overlap` looked at it, and what says whether it is still so. */
export interface SeenTree {
  readonly snapshot: Snapshot;
  /** Size, times and inode of git's index before the look. */
  readonly index: string;
  /** The live sessions in it. */
  readonly sessions: string;
  /** What it would be, committed; `undefined`: there is no commit yet. */
  readonly commit: Oid | undefined;
}

/** What came of a merge that was tried. */
export interface TriedMerge {
  readonly report: MergeReport | 'unrelated';
  /** How git merged the files that both sides changed. */
  readonly ways: Readonly<Record<string, MergeWay>>;
}

/** What earlier calls found out: looks by the ids of worktrees, merges by both commits. */
export interface Remembered {
  readonly trees: ReadonlyMap<string, SeenTree>;
  /** Those of git's settings that merges depend on. */
  readonly settings: string;
  readonly merges: ReadonlyMap<string, TriedMerge>;
}

export const NOTHING: Remembered = { trees: new Map(), settings: '', merges: new Map() };

/** More paths are looked at again each time, and more merges made again. */
const MAX_PATHS = 1000;
const MAX_MERGES = 1000;

/** Some file systems keep whole seconds, and Linux's clock for files lags behind by a tick. Milliseconds. */
const COARSEST_MS = 2000;

const rememberedFile = (commonDir: string) => `${repositoryFolder(commonDir)}/overlap`;

/** Reads what is remembered: a line of settings, then one for each worktree and merge, its names before a tab. */
export function readRemembered(commonDir: string): Remembered {
  const [settings = '', ...lines] = readText(rememberedFile(commonDir)).split('\n');
  const trees = new Map<string, SeenTree>();
  const merges = new Map<string, TriedMerge>();
  for (const line of lines) {
    const [names = '', index = '', sessions = '', text = ''] = line.split('\t');
    const [one = '', other = ''] = names.split(' ');
    const snapshot = index === '' ? undefined : parseSnapshot(text);
    if (snapshot !== undefined) trees.set(one, { snapshot, index, sessions, commit: parseOid(other) });
    const merge = index === '' ? parseMerge(text) : undefined;
    if (merge !== undefined) merges.set(names, merge);
  }
  return { trees, settings, merges };
}

/** It is our own, and whole or none: it is replaced at once. */
function parseMerge(text: string): TriedMerge | undefined {
  const { report, ways } = jsonFields<'report' | 'ways'>(text);
  if (report === undefined || ways === undefined) return undefined;
  return { report: report as TriedMerge['report'], ways: ways as TriedMerge['ways'] };
}

/** Remembers looks and merges, the newest merges first. A repository that cannot be written to is left alone. */
export function remember(commonDir: string, { trees, settings, merges }: Remembered): void {
  const lines = [settings];
  for (const [id, { snapshot, index, sessions, commit = '' }] of trees) {
    const all = [...snapshot.dirty.values()];
    // A name that is not UTF-8 is not kept.
    if (all.length > MAX_PATHS || all.some(({ raw }) => raw !== undefined)) continue;
    lines.push([`${id} ${commit}`, index, sessions, formatSnapshot(snapshot)].join('\t'));
  }
  for (const [names, merge] of [...merges].slice(0, MAX_MERGES))
    lines.push([names, '', '', JSON.stringify(merge)].join('\t'));
  try {
    putText(rememberedFile(commonDir), lines.join('\n'));
  } catch {
    // The next call finds it all out again.
  }
}

/** By which git's index can be known again; empty: there is none. */
export function indexStamp(gitDir: string): string {
  const stat = exactStatOf(`${gitDir}/index`);
  return stat === undefined ? '' : [stat.size, stat.mtimeNs, stat.ino].join(':');
}

/** The sessions in a worktree, as they are remembered. */
export const sessionNames = (here: readonly JudgedSession[]) =>
  here
    .map(({ record }) => record.session)
    .sort()
    .join(' ');

/**
 * Whether a worktree is still as it was seen, as far as that can be told without a look: the same sessions, none of which has
 * called since, the same HEAD and index, and no change of what was changed. What somebody else changed is not known.
 *
 * @param here the live sessions in it
 */
export function isStillSo(
  { snapshot, index, sessions }: SeenTree,
  { path, gitDir, branch, head }: ListedWorktree,
  here: readonly JudgedSession[],
  commonDir: string,
): boolean {
  const rests = ({ record }: JudgedSession) =>
    (restsSince(commonDir, record.session) ?? Infinity) < snapshot.at - COARSEST_MS;
  return (
    here.length > 0 &&
    sessionNames(here) === sessions &&
    here.every(rests) &&
    snapshot.head.oid === (head ?? null) &&
    snapshot.head.ref === (branch === undefined ? 'HEAD' : `refs/heads/${branch}`) &&
    indexStamp(gitDir) === index &&
    [...snapshot.dirty.values()].every((dirty) => stampOf(path, dirty) === dirty.stamp)
  );
}
