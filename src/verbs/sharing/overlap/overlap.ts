import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { timestamp } from '../../../domain/age.ts';
import { stopsMerge } from '../../../domain/overlap.ts';
import { parseSettings } from '../../../domain/settings.ts';
import { listBranches } from '../../../git/branches.ts';
import { readSettingEntries } from '../../../git/config.ts';
import { mergeDrivers } from '../../../git/merge-drivers.ts';
import { type Repository, openRepository, workTreeTop } from '../../../git/repository.ts';
import { type ScratchStore, scratchStore } from '../../../git/scratch-store.ts';
import { knownWorktrees } from '../../../git/linked-worktrees.ts';
import { TARGET_KEYS } from '../../../git/target-branches.ts';
import { listWorktrees } from '../../../git/worktrees.ts';
import { knownWorktreeId, repositoryFolder } from '../../../host/folders.ts';
import type { Context } from '../../../sessions/caller.ts';
import type { CommandResult } from '../../result.ts';
import type { OverlapShape } from '../../shapes.ts';
import { judgedSessions, openWorkspace } from '../../workspace.ts';
import { compare } from './compare.ts';
import { type Line, type PlacedWorktree, linesOfWorktrees, look, unreadPaths } from './lines.ts';
import { isAsked, isAt, linesOfBranches, meaningOf, pairsOf, targetsOf } from './pairs.ts';
import { NOTHING, type Remembered, type SeenTree, readRemembered, remember } from './remembered.ts';
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
  /** The time of the older look, if not now. */
  readonly asOf?: string;
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
  const { stores, remove } = openStores(repository);
  try {
    const known = stores.isKept ? readRemembered(repository.commonDir) : NOTHING;
    const first = await compareAll(options, context, repository, stores, known);
    if (!first.isTorn || known.trees.size === 0) return first.result;
    // Objects of earlier looks have been pruned.
    return (await compareAll(options, context, repository, stores, NOTHING)).result;
  } finally {
    remove();
  }
}

interface Stores {
  /** Whether anything may be remembered. */
  readonly isKept: boolean;
  /** For uncommitted contents. */
  readonly store: ScratchStore;
  /** For the results of merges. */
  readonly merging: ScratchStore;
}

/** Without a folder of ours that is writable, everything is temporary. The temporary folder is made on first use. */
function openStores({ commonDir }: Repository): { readonly stores: Stores; readonly remove: () => void } {
  const objects = join(commonDir, 'objects');
  const kept = scratchStore(commonDir);
  const isKept = isWritable(repositoryFolder(commonDir));
  let made: string | undefined;
  const merging: ScratchStore = {
    get folder() {
      return (made ??= mkdtempSync(join(tmpdir(), 'git-handoff-')));
    },
    objects,
    ...(isKept ? { below: kept.folder } : {}),
  };
  return {
    stores: { isKept, store: isKept ? kept : merging, merging },
    remove() {
      if (made !== undefined) rmSync(made, { recursive: true, force: true });
    },
  };
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The settings that decide how git merges and what a branch is merged into, and our own. */
const KEYS = `^(handoff\\..*|merge\\..*|diff\\.rename.*|${TARGET_KEYS})$`;
const OF_MERGES = /^(?:merge|diff)\./;

async function compareAll(
  options: OverlapOptions,
  context: Context,
  repository: Repository,
  { isKept, store, merging }: Stores,
  remembered: Remembered,
): Promise<{ readonly result: CommandResult<OverlapValue>; readonly isTorn: boolean }> {
  const { cwd, now, budget } = context;
  const { commonDir, gitDir } = repository;
  const looking = { now, remembered };
  const top = await workTreeTop(repository);
  const own = top === undefined ? undefined : look({ path: top, gitDir }, looking);
  // Whoever awaits it gets the error.
  own?.catch(() => undefined);
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
  const begun = new Map(own === undefined ? [] : [[gitDir, own]]);
  const trees = await linesOfWorktrees(worktrees.filter(isWanted), commonDir, sessions, looking, begun);
  const lines = [...trees, ...linesOfBranches(options.all, named, trees, branches)];
  const targets = await targetsOf(cwd, trees, branches, entries);
  const pairs = pairsOf(lines, targets, (one, other) => isAsked(named, one, other));
  const settings = JSON.stringify(entries.filter(([key]) => OF_MERGES.test(key)));
  const merges = remembered.settings === settings ? remembered.merges : NOTHING.merges;
  const drivers = mergeDrivers(cwd, entries);
  const compared = await compare(cwd, pairs, merges, { store, merging, drivers });
  const seen = trees.flatMap((line) => {
    const one = compared.seen.get(line) ?? line.seen;
    return one === undefined ? [] : [{ line, one }];
  });
  if (isKept) {
    const ids = new Set(worktrees.map(({ id }) => id));
    const known = [...remembered.trees].filter(([id]) => ids.has(id));
    const now = seen.flatMap(({ line: { id }, one }) => (id === undefined ? [] : [[id, one] as const]));
    remember(commonDir, { trees: new Map([...known, ...now]), settings, merges: compared.merges });
  }
  const asked = trees.filter((tree) => isAsked(named, tree, tree));
  const items = [...compared.found, ...asked.flatMap((tree) => sharedPaths(tree, sessions))];
  const here = worktrees.find((worktree) => worktree.gitDir === gitDir)?.path;
  const result = resultOf(items, new Set(pairs.flat()), here, [
    ...workspace.notices,
    ...seen.flatMap(unreadNotice),
  ]);
  return { result, isTorn: compared.isTorn };
}

/** @param here the caller's worktree, whose overlaps come first */
function resultOf(
  items: readonly OverlapShape[],
  compared: ReadonlySet<Line>,
  here: string | undefined,
  notices: readonly string[],
): CommandResult<OverlapValue> {
  const isHere = ({ sides }: OverlapShape) => sides.some(({ worktree }) => worktree === here);
  const looks = [...compared].flatMap(({ asOf }) => asOf ?? []);
  return {
    value: {
      items: items.toSorted((a, b) => Number(isHere(b)) - Number(isHere(a))),
      compared: compared.size,
      ...(looks.length === 0 ? {} : { asOf: timestamp(Math.min(...looks)) }),
    },
    notices,
    exitCode: items.some(({ paths }) => paths.some(stopsMerge)) ? 1 : 0,
  };
}

/** How many names a notice has. */
const MOST_NAMES = 5;

function unreadNotice({ line, one }: { readonly line: Line; readonly one: SeenTree }): string[] {
  const unread = unreadPaths(one);
  if (unread.length === 0) return [];
  const names = unread.slice(0, MOST_NAMES).join(', ');
  const more = unread.length > MOST_NAMES ? ` and ${unread.length - MOST_NAMES} more` : '';
  return [`not compared, too large to read: ${names}${more} in ${line.worktree?.path ?? ''}`];
}
