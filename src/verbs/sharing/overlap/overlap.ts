import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Failure } from '../../../domain/failure.ts';
import { stopsMerge } from '../../../domain/overlap.ts';
import { canMean, meantId } from '../../../domain/names.ts';
import { type Branches, listBranches } from '../../../git/branches.ts';
import { readSettings } from '../../../git/config.ts';
import { findTargets } from '../../../git/target-branches.ts';
import { type ListedWorktree, listWorktrees } from '../../../git/worktrees.ts';
import { knownWorktreeId } from '../../../host/folders.ts';
import type { Context } from '../../../sessions/caller.ts';
import type { JudgedSession } from '../../../sessions/records.ts';
import type { CommandResult } from '../../result.ts';
import type { OverlapShape } from '../../shapes.ts';
import { judgedSessions, openWorkspace } from '../../workspace.ts';
import { type LinePair, compare } from './compare.ts';
import { type Line, lineOfBranch, linesOfWorktrees } from './lines.ts';
import { sharedPaths } from './shared-paths.ts';

interface OverlapOptions {
  /** Sessions, branches or folders of worktrees; none: all that somebody is at work in. */
  readonly names: readonly string[];
  /** Branches and worktrees without a session, too. */
  readonly all: boolean;
}

export interface OverlapValue {
  readonly items: readonly OverlapShape[];
  /** How many lines of work were compared. */
  readonly compared: number;
}

/**
 * Where the work of sessions, worktrees and branches meets, and whether it would merge: each worktree counts with what is
 * uncommitted in it. Nothing of the user's is changed, and no program of the repository runs.
 *
 * @throws Failure `usage` for a name that means nothing here
 */
export async function overlap(
  options: OverlapOptions,
  context: Context,
): Promise<CommandResult<OverlapValue>> {
  const { cwd, now, budget } = context;
  const limits = { timeoutMs: budget.left() };
  const [workspace, settings, worktrees, branches] = await Promise.all([
    openWorkspace(context),
    readSettings(cwd),
    listWorktrees({ cwd }),
    listBranches(cwd, limits),
  ]);
  const { repository, notices } = workspace;
  const { commonDir } = repository;
  const sessions = judgedSessions(workspace, settings, now);
  const store = { folder: mkdtempSync(join(tmpdir(), 'git-handoff-')), objects: join(commonDir, 'objects') };
  try {
    const named = options.names.map((name) => meaningOf(name, cwd, { worktrees, sessions, branches }));
    const isWanted = (worktree: ListedWorktree) =>
      options.all ||
      worktree.gitDir === repository.gitDir ||
      sessions.some((one) => one.liveness === 'live' && isAt(one, worktree)) ||
      named.some((meaning) => meaning.worktrees.includes(worktree));
    const trees = await linesOfWorktrees(worktrees.filter(isWanted), commonDir, sessions, store, now);
    const lines = [...trees, ...linesOfBranches(options.all, named, trees, branches)];
    const targets = await targetsOf(cwd, trees, branches, limits);
    const pairs = pairsOf(lines, targets, (one, other) => isAsked(named, one, other));
    const found = await compare(cwd, pairs, store);
    const items = [
      ...found,
      ...trees.filter((tree) => isAsked(named, tree, tree)).flatMap((tree) => sharedPaths(tree, sessions)),
    ];
    const here = worktrees.find(({ gitDir }) => gitDir === repository.gitDir)?.path;
    const isHere = ({ sides }: OverlapShape) => sides.some(({ worktree }) => worktree === here);
    return {
      value: {
        items: items.sort((a, b) => Number(isHere(b)) - Number(isHere(a))),
        compared: new Set(pairs.flat()).size,
      },
      notices: [...notices, ...trees.flatMap(unreadNotice)],
      exitCode: items.some(({ paths }) => paths.some(stopsMerge)) ? 1 : 0,
    };
  } finally {
    rmSync(store.folder, { recursive: true, force: true });
  }
}

const isAt = ({ worktreeId }: JudgedSession, { gitDir }: ListedWorktree) =>
  worktreeId === knownWorktreeId(gitDir);

/** What a name means: some worktrees, or a branch that none has checked out. */
interface Meaning {
  readonly worktrees: readonly ListedWorktree[];
  readonly branch: string | undefined;
}

function meaningOf(
  name: string,
  cwd: string,
  {
    worktrees,
    sessions,
    branches,
  }: { worktrees: readonly ListedWorktree[]; sessions: readonly JudgedSession[]; branches: Branches },
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

/** Branches that no line has checked out: the named ones, or all. */
function linesOfBranches(
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
async function targetsOf(
  cwd: string,
  trees: readonly Line[],
  branches: Branches,
  limits: { readonly timeoutMs: number },
): Promise<Map<Line, Line>> {
  const names = [...new Set(trees.flatMap(({ branch }) => branch ?? []))];
  const targets = await findTargets(cwd, names, branches, limits);
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

/** Who is compared with whom: never two branches that nobody is at work in. */
function pairsOf(
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

/** A session that works in two worktrees knows of both. */
function isOneSession(one: Line, other: Line): boolean {
  const ids = [one, other].map(({ sessions }) => sessions.map(({ record }) => record.session).join());
  return ids[0] !== '' && ids[0] === ids[1];
}

/** One name: all that meets it. Several: what meets among them. */
function isAsked(named: readonly Meaning[], one: Line, other: Line): boolean {
  const isNamed = (line: Line) =>
    named.some(({ worktrees, branch }) =>
      line.worktree === undefined ? branch === line.branch : worktrees.includes(line.worktree),
    );
  if (named.length === 0) return true;
  return named.length === 1 ? isNamed(one) || isNamed(other) : isNamed(one) && isNamed(other);
}

/** How many names a notice has. */
const MOST_NAMES = 5;

function unreadNotice({ worktree, unread }: Line): string[] {
  if (unread.length === 0) return [];
  const names = unread.slice(0, MOST_NAMES).join(', ');
  const more = unread.length > MOST_NAMES ? ` and ${unread.length - MOST_NAMES} more` : '';
  return [`not compared, too large to read: ${names}${more} in ${worktree?.path ?? ''}`];
}
