import { rmSync } from 'node:fs';
import type { Snapshot } from '../../../domain/ledger/snapshot.ts';
import { stopsMerge } from '../../../domain/overlap.ts';
import { parseSettings } from '../../../domain/settings.ts';
import { listBranches } from '../../../git/branches.ts';
import { readSettingEntries } from '../../../git/config.ts';
import { mergeDrivers } from '../../../git/merge-drivers.ts';
import { type Repository, openRepository } from '../../../git/repository.ts';
import { type ScratchStore, ownStore } from '../../../git/scratch-store.ts';
import { knownWorktrees } from '../../../git/linked-worktrees.ts';
import { TARGET_KEYS } from '../../../git/target-branches.ts';
import { listWorktrees } from '../../../git/worktrees.ts';
import { knownWorktreeId } from '../../../host/folders.ts';
import type { Context } from '../../../sessions/caller.ts';
import type { CommandResult } from '../../result.ts';
import type { OverlapShape } from '../../shapes.ts';
import { judgedSessions, openWorkspace } from '../../workspace.ts';
import { compare, sideOf } from './compare.ts';
import { type Line, type PlacedWorktree, linesOfWorktrees, unreadPaths } from './lines.ts';
import { isAsked, isAt, linesOfBranches, meaningOf, pairsOf, targetsOf } from './pairs.ts';
import { askerOf, belongingOf } from '../../../changes/dirty-work.ts';
import type { SessionId } from '../../../domain/names.ts';
import type { JudgedSession } from '../../../sessions/records.ts';

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

function unreadNotice({ worktree, snapshot }: Line, read: Snapshot | undefined): string[] {
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
