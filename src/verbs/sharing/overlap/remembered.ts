import { jsonFields } from '../../../domain/json-fields.ts';
import type { Snapshot } from '../../../domain/ledger/snapshot.ts';
import { formatSnapshot, parseSnapshot } from '../../../domain/ledger/snapshot-text.ts';
import { type Oid, parseOid } from '../../../domain/names.ts';
import { type MergeReport, isBefore } from '../../../domain/overlap.ts';
import type { MergeWay } from '../../../git/merge-drivers.ts';
import { exactStatOf } from '../../../git/stat.ts';
import { stampOf } from '../../../git/work-tree.ts';
import type { ListedWorktree } from '../../../git/worktrees.ts';
import { readText } from '../../../host/disk.ts';
import { repositoryFolder } from '../../../host/folders.ts';
import { putText } from '../../../host/output-file.ts';
import { restsSince } from '../../../sessions/idle.ts';
import type { JudgedSession } from '../../../sessions/records.ts';

/** A worktree as `overlap` last saw it, with the signs that tell whether it has changed. */
export interface SeenTree {
  readonly snapshot: Snapshot;
  /** Size, times and inode of the index before the look. */
  readonly index: string;
  /** The live sessions in it, with their last calls before the look. */
  readonly calls: string;
  /** The commit of its contents; `undefined`: not made yet. */
  readonly commit: Oid | undefined;
}

/** The last calls of the live sessions in a worktree. */
export interface Calls {
  /** In the form that is remembered. */
  readonly text: string;
  /** Milliseconds since the epoch; infinite while a tool is running, or if it is not known. */
  readonly times: readonly number[];
}

/** The outcome of a trial merge. */
export interface TriedMerge {
  readonly report: MergeReport | 'unrelated';
  /** How git merged the files that both sides changed. */
  readonly ways: Readonly<Record<string, MergeWay>>;
}

/** The results of earlier calls: looks by worktree id, merges by their two commits. */
export interface Remembered {
  readonly trees: ReadonlyMap<string, SeenTree>;
  /** The git settings that merges depend on. */
  readonly settings: string;
  readonly merges: ReadonlyMap<string, TriedMerge>;
}

export const NOTHING: Remembered = { trees: new Map(), settings: '', merges: new Map() };

/** A worktree with more changed paths than this is not remembered, and neither are more merges. */
const MAX_PATHS = 1000;
const MAX_MERGES = 1000;

const rememberedFile = (commonDir: string) => `${repositoryFolder(commonDir)}/overlap`;

/** Reads what is remembered: a line of settings, then one for each worktree and merge, its names before a tab. */
export function readRemembered(commonDir: string): Remembered {
  const [settings = '', ...lines] = readText(rememberedFile(commonDir)).split('\n');
  const trees = new Map<string, SeenTree>();
  const merges = new Map<string, TriedMerge>();
  for (const line of lines) {
    const [names = '', index = '', calls = '', text = ''] = line.split('\t');
    const [one = '', other = ''] = names.split(' ');
    const snapshot = index === '' ? undefined : parseSnapshot(text);
    if (snapshot !== undefined) trees.set(one, { snapshot, index, calls, commit: parseOid(other) });
    const merge = index === '' ? parseMerge(text) : undefined;
    if (merge !== undefined) merges.set(names, merge);
  }
  return { trees, settings, merges };
}

/** Only we write this file, and we replace it atomically. */
function parseMerge(text: string): TriedMerge | undefined {
  const { report, ways } = jsonFields<'report' | 'ways'>(text);
  if (report === undefined || ways === undefined) return undefined;
  return { report: report as TriedMerge['report'], ways: ways as TriedMerge['ways'] };
}

/** Remembers looks and merges, the newest merges first. A repository that cannot be written to is left alone. */
export function remember(commonDir: string, { trees, settings, merges }: Remembered): void {
  const lines = [settings];
  for (const [id, { snapshot, index, calls, commit = '' }] of trees) {
    const all = [...snapshot.dirty.values()];
    // Names that are not UTF-8 are left out.
    if (all.length > MAX_PATHS || all.some(({ raw }) => raw !== undefined)) continue;
    lines.push([`${id} ${commit}`, index, calls, formatSnapshot(snapshot)].join('\t'));
  }
  for (const [names, merge] of [...merges].slice(0, MAX_MERGES))
    lines.push([names, '', '', JSON.stringify(merge)].join('\t'));
  try {
    putText(rememberedFile(commonDir), lines.join('\n'));
  } catch {
    // The next call computes it all again.
  }
}

/** Identifies the present state of the index; empty: there is no index. */
export function indexStamp(gitDir: string): string {
  const stat = exactStatOf(`${gitDir}/index`);
  return stat === undefined ? '' : [stat.size, stat.mtimeNs, stat.ino].join(':');
}

/** Who is at work in a worktree, and when each last called. */
export function callsIn(here: readonly JudgedSession[], commonDir: string): Calls {
  const calls = here.map(({ record: { session } }) => ({ session, at: restsSince(commonDir, session) }));
  return {
    text: calls
      .map(({ session, at }) => `${session}@${at ?? ''}`)
      .sort()
      .join(' '),
    times: calls.map(({ at = Infinity }) => at),
  };
}

/**
 * Whether a worktree seems unchanged since it was seen, without a look: the same sessions, no call by any of them since, the
 * same HEAD and index, and the same stamps of the changed files. Other people's changes may be missed.
 *
 * @param calls of the live sessions in it
 */
export function isStillSo(
  { snapshot, index, calls: before }: SeenTree,
  { path, gitDir, branch, head }: ListedWorktree,
  calls: Calls,
): boolean {
  return (
    calls.times.length > 0 &&
    calls.text === before &&
    calls.times.every((time) => isBefore(time, snapshot.at)) &&
    snapshot.head.oid === (head ?? null) &&
    snapshot.head.ref === (branch === undefined ? 'HEAD' : `refs/heads/${branch}`) &&
    indexStamp(gitDir) === index &&
    [...snapshot.dirty.values()].every((dirty) => stampOf(path, dirty) === dirty.stamp)
  );
}
