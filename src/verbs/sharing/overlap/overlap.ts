import { rmSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { askerOf, belongingOf } from '../../../changes/dirty-work.ts';
import { Failure } from '../../../domain/failure.ts';
import type { TreeStatus } from '../../../domain/ledger/tree-status.ts';
import { type SessionId, canMean, meantId } from '../../../domain/names.ts';
import { stopsMerge } from '../../../domain/overlap.ts';
import { parseSettings, type SettingEntry } from '../../../domain/settings.ts';
import { listBranches, type Branches } from '../../../git/branches.ts';
import { readSettingEntries } from '../../../git/config.ts';
import { knownWorktrees } from '../../../git/linked-worktrees.ts';
import { mergeDrivers } from '../../../git/merge-drivers.ts';
import { type Repository, openRepository } from '../../../git/repository.ts';
import { type ScratchStore, ownStore } from '../../../git/scratch-store.ts';
import { TARGET_KEYS, findTargets } from '../../../git/target-branches.ts';
import { listWorktrees } from '../../../git/worktrees.ts';
import { knownWorktreeId } from '../../../host/folders.ts';
import type { Context } from '../../../sessions/caller.ts';
import type { JudgedSession } from '../../../sessions/records.ts';
import type { CommandResult } from '../../result.ts';
import type { OverlapShape } from '../../shapes.ts';
import { judgedSessions, openWorkspace } from '../../workspace.ts';
import { compare, sideOf, type LinePair } from './compare.ts';
import { type Line, type PlacedWorktree, linesOfWorktrees, unreadPaths, lineOfBranch } from './lines.ts';

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
  const repository = await openRepository(context.cwd);
  const store = ownStore(repository.commonDir);
  try {
    return await compareAll(options, context, repository, store);
  } finally {
    rmSync(store.folder, { recursive: true, force: true });
  }
}

/** The settings that name merge drivers and what a branch is merged into, and our own. */
const KEYS = `^(handoff\\..*|merge\\..*|${TARGET_KEYS})$`;

async function compareAll(
  options: OverlapOptions,
  context: Context,
  repository: Repository,
  store: ScratchStore,
): Promise<CommandResult<OverlapValue>> {
  const { cwd, now, budget } = context;
  const { commonDir, gitDir } = repository;
  const [workspace, entries, branches] = await Promise.all([
    openWorkspace(context, repository),
    readSettingEntries(KEYS, cwd),
    listBranches(cwd, { timeoutMs: budget.left(), with: 'upstreams' }),
  ]);
  const listed = knownWorktrees(repository, branches) ?? (await listWorktrees({ cwd }));
  const worktrees = listed.map((worktree) => ({ ...worktree, id: knownWorktreeId(worktree.gitDir) }));
  const sessions = judgedSessions(workspace, parseSettings(entries), now);
  const named = options.names.map((name) => meaningOf(name, cwd, { worktrees, sessions, branches }));
  const isWanted = (worktree: PlacedWorktree) =>
    options.all ||
    worktree.gitDir === gitDir ||
    sessions.some((one) => one.liveness === 'live' && isAt(one, worktree)) ||
    named.some((meaning) => meaning.worktrees.includes(worktree));
  const trees = await linesOfWorktrees(worktrees.filter(isWanted), commonDir, sessions, now);
  const lines = [...trees, ...linesOfBranches(options.all, named, trees, branches)];
  const targets = await targetsOf(cwd, trees, branches, entries);
  const pairs = pairsOf(lines, targets, (one, other) => isAsked(named, one, other));
  const drivers = mergeDrivers(cwd, entries);
  const { found, read } = await compare(cwd, pairs, { store, drivers });
  const asked = trees.filter((tree) => isAsked(named, tree, tree));
  const items = [...found, ...asked.flatMap((tree) => sharedPaths(tree, sessions))];
  const here = worktrees.find((worktree) => worktree.gitDir === gitDir)?.path;
  const isHere = ({ sides }: OverlapShape) => sides.some(({ worktree }) => worktree === here);
  return {
    value: {
      // Those of the caller's worktree come first.
      items: items.toSorted((a, b) => Number(isHere(b)) - Number(isHere(a))),
      compared: new Set(pairs.flat()).size,
    },
    notices: [...workspace.notices, ...trees.flatMap((line) => unreadNotice(line, read.get(line)))],
    exitCode: items.some(({ paths }) => paths.some(stopsMerge)) ? 1 : 0,
  };
}

/** How many names a notice has. */
const MOST_NAMES = 5;

function unreadNotice({ worktree, snapshot }: Line, read: TreeStatus | undefined): string[] {
  const looked = read ?? snapshot;
  const unread = looked === undefined ? [] : unreadPaths(looked, read !== undefined);
  if (unread.length === 0) return [];
  const names = unread.slice(0, MOST_NAMES).join(', ');
  const more = unread.length > MOST_NAMES ? ` and ${unread.length - MOST_NAMES} more` : '';
  return [`not compared, too large to read: ${names}${more} in ${worktree?.path ?? ''}`];
}

/** The paths that several live sessions have changed in one working tree, by who they are. */
function sharedPaths(line: Line, sessions: readonly JudgedSession[]): OverlapShape[] {
  const work = line.sessions.length < 2 ? undefined : line.work();
  if (work === undefined) return [];
  const asker = askerOf(undefined, sessions);
  const meetings = new Map<string, { sides: OverlapShape['sides']; paths: string[] }>();
  for (const dirty of work.snapshot.dirty.values()) {
    const { state, claims } = belongingOf(work, dirty, asker);
    const [one, ...others] = claims.map(({ session }) => session);
    if (state !== 'contended' || one === undefined) continue;
    for (const other of others) {
      const key = `${one} ${other}`;
      const known = meetings.get(key);
      const sides = [sideOfSession(line, one), sideOfSession(line, other)] as const;
      if (known === undefined) meetings.set(key, { sides, paths: [dirty.path] });
      else known.paths.push(dirty.path);
    }
  }
  return [...meetings.values()].map(({ sides, paths }) => ({
    sides,
    paths: paths.map((path) => ({ path, kind: 'same-tree' as const, deletedBy: null })),
    unknown: null,
  }));
}

const sideOfSession = (line: Line, session: SessionId) =>
  sideOf({ ...line, sessions: line.sessions.filter(({ record }) => record.session === session) });

/** Whether a session is working in a worktree. */
const isAt = ({ worktreeId }: JudgedSession, { id }: PlacedWorktree) => worktreeId === id;

/** What a name stands for: worktrees, or a branch that no worktree has checked out. */
interface Meaning {
  readonly worktrees: readonly PlacedWorktree[];
  readonly branch: string | undefined;
}

/** @throws Failure `usage` for an unknown name */
function meaningOf(
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

/** A session that works in two worktrees knows both. */
function isOneSession(one: Line, other: Line): boolean {
  const ids = [one, other].map(({ sessions }) => sessions.map(({ record }) => record.session).join());
  return ids[0] !== '' && ids[0] === ids[1];
}

/** One name: everything that overlaps with it. Several: the overlaps among them. */
function isAsked(named: readonly Meaning[], one: Line, other: Line): boolean {
  const isNamed = (line: Line) =>
    named.some(({ worktrees, branch }) =>
      line.worktree === undefined ? branch === line.branch : worktrees.includes(line.worktree),
    );
  if (named.length === 0) return true;
  return named.length === 1 ? isNamed(one) || isNamed(other) : isNamed(one) && isNamed(other);
}
