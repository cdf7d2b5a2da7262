import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { Failure } from '../../../domain/failure.ts';
import { canMean, meantId } from '../../../domain/names.ts';
import type { SettingEntry } from '../../../domain/settings.ts';
import type { Branches } from '../../../git/branches.ts';
import { findTargets } from '../../../git/target-branches.ts';
import type { JudgedSession } from '../../../sessions/records.ts';
import type { LinePair } from './compare.ts';
import { type Line, type PlacedWorktree, lineOfBranch } from './lines.ts';

/** Whether a session is working in a worktree. */
export const isAt = ({ worktreeId }: JudgedSession, { id }: PlacedWorktree) => worktreeId === id;

/** What a name stands for: worktrees, or a branch that no worktree has checked out. */
interface Meaning {
  readonly worktrees: readonly PlacedWorktree[];
  readonly branch: string | undefined;
}

/** @throws Failure `usage` for an unknown name */
export function meaningOf(
  name: string,
  cwd: string,
  {
    worktrees,
    sessions,
    branches,
  }: { worktrees: readonly PlacedWorktree[]; sessions: readonly JudgedSession[]; branches: Branches },
): Meaning {
  const folder = realFolder(resolve(cwd, name));
  const places = worktrees.filter(({ path, branch }) => branch === name || realFolder(path) === folder);
  if (places.length > 0) return { worktrees: places, branch: undefined };
  if (branches.heads.has(name)) return { worktrees: [], branch: name };
  const ids = sessions.map(({ record }) => record.session);
  const meant = meantId(name, ids);
  const theirs = sessions.filter(({ record }) => record.session === meant);
  if (theirs.length > 0) {
    return { worktrees: worktrees.filter((one) => theirs.some((its) => isAt(its, one))), branch: undefined };
  }
  const isUnclear = ids.some((id) => canMean(name, id));
  throw new Failure(
    'usage',
    isUnclear
      ? `${name} fits several sessions`
      : `${name} is no session, branch or worktree of this repository`,
    { hint: isUnclear ? 'git handoff sessions --all --json' : 'git handoff sessions' },
  );
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Branches that are not checked out: the named ones, or all. */
export function linesOfBranches(
  all: boolean,
  named: readonly Meaning[],
  trees: readonly Line[],
  { heads }: Branches,
): Line[] {
  const names = all ? [...heads.keys()] : named.flatMap(({ branch }) => branch ?? []);
  return [...new Set(names)].flatMap((name) => {
    const oid = heads.get(name)?.oid;
    const isThere = trees.some(({ branch }) => branch === name);
    return oid === undefined || isThere ? [] : [lineOfBranch(name, oid)];
  });
}

/** What each worktree's branch will be merged into. */
export async function targetsOf(
  cwd: string,
  trees: readonly Line[],
  branches: Branches,
  settings: readonly SettingEntry[],
): Promise<Map<Line, Line>> {
  const names = [...new Set(trees.flatMap(({ branch }) => branch ?? []))];
  const targets = await findTargets(cwd, names, branches, settings);
  const lines = new Map(
    [...new Set(targets.values())].map(
      (target) => [target, lineOfBranch(target.name, target.commit)] as const,
    ),
  );
  return new Map(
    trees.flatMap((tree) => {
      const target = targets.get(tree.branch ?? '');
      const line = target === undefined ? undefined : lines.get(target);
      return line === undefined ? [] : [[tree, line] as const];
    }),
  );
}

/** The pairs to compare: never two branches that nobody is working on. */
export function pairsOf(
  lines: readonly Line[],
  targets: ReadonlyMap<Line, Line>,
  isWanted: (one: Line, other: Line) => boolean,
): LinePair[] {
  const among = lines.flatMap((one, n) =>
    lines.slice(n + 1).flatMap((other): LinePair[] => (one.worktree === undefined ? [] : [[one, other]])),
  );
  const toTargets = [...targets].filter(
    ([, target]) => !lines.some(({ branch }) => branch === target.branch),
  );
  return [...among, ...toTargets].filter(([one, other]) => isWanted(one, other) && !isOneSession(one, other));
}

/** A session that works in two worktrees knows both. */
function isOneSession(one: Line, other: Line): boolean {
  const ids = [one, other].map(({ sessions }) => sessions.map(({ record }) => record.session).join());
  return ids[0] !== '' && ids[0] === ids[1];
}

/** One name: everything that overlaps with it. Several: the overlaps among them. */
export function isAsked(named: readonly Meaning[], one: Line, other: Line): boolean {
  const isNamed = (line: Line) =>
    named.some(({ worktrees, branch }) =>
      line.worktree === undefined ? branch === line.branch : worktrees.includes(line.worktree),
    );
  if (named.length === 0) return true;
  return named.length === 1 ? isNamed(one) || isNamed(other) : isNamed(one) && isNamed(other);
}
