import { type WorkTree, isNamed } from '../../changes/dirty-work.ts';
import { claimOwners, lastSeen } from '../../domain/ledger/vanished.ts';
import { escapeLine, Failure, listed, shellWord, timestamp } from '../../domain/messages.ts';
import { type Oid, type SessionId, shortId } from '../../domain/names.ts';
import { type SnapshotItem, contentOf, isOnlyStaged } from '../../domain/snapshot.ts';
import type { Settings } from '../../domain/settings.ts';
import { readSettings } from '../../git/config.ts';
import { scratchStore } from '../../git/scratch.ts';
import { stashItems } from '../../git/stash.ts';
import { contentState, readTreeStatus } from '../../git/worktrees.ts';
import { isInitialised, knownWorktreeId, worktreeId } from '../../host/folders.ts';
import { type LedgerPlace, readLedgers } from '../../sessions/journal.ts';
import { type Rescue, groupOf, itemsOf, listRescues, rescuedAt } from '../../snapshot/rescues.ts';
import { readStashOwners, pinStash } from '../../snapshot/stash.ts';
import { putLast, readLast } from '../../changes/windows.ts';
import type { Context } from '../../sessions/caller.ts';
import { saveVanished } from '../../snapshot/vanished.ts';
import { type Workspace, openWorkspace, pathHere, workTreeOf } from '../workspace.ts';
import { clientsOf } from '../../sessions/records.ts';
import type { CommandResult } from '../verb.ts';
import type { RescueShape, NoteShape } from '../shapes.ts';
import { noteShape } from '../handoff-shape.ts';
import { readKept, readSnapshots } from '../../snapshot/commit.ts';
import { readObjects } from '../../git/objects.ts';
import { listTree } from '../../git/staged.ts';

/** A rescue, with the files that it can restore. */
export type KnownRescue = Rescue & {
  readonly held: readonly SnapshotItem[];
  /** The session that ran the command, or made the stash entry; `null`: not known. */
  readonly session: SessionId | null;
  /** The place in the list of git-stash(1); `null` for a rescue that is not, or no longer, in the stash. */
  readonly index: number | null;
};

export interface Rescues {
  readonly workspace: Workspace;
  readonly settings: Settings;
  /** The working tree; `undefined` in a bare repository. */
  readonly tree: WorkTree | undefined;
  /** The paths that the command names, from the top of the working tree. */
  readonly paths: readonly string[];
  /** All rescues, newest first. */
  readonly all: readonly KnownRescue[];
  /** The worktree in which the command runs; `undefined`: no session has ever worked in it. */
  readonly place: LedgerPlace | undefined;
}

/**
 * First saves new stash entries and what has disappeared since the last tool call. Returns everything that can be restored.
 *
 * @param typed the paths of the command line; each may be gone from the disk, with its folder
 * @throws Failure `environment` outside of a repository, `usage` for a path outside of the working tree
 */
export async function openRescues(context: Context, typed: readonly string[]): Promise<Rescues> {
  const { cwd, now } = context;
  const [workspace, settings] = await Promise.all([openWorkspace(context), readSettings(cwd)]);
  const { repository } = workspace;
  const { gitDir, commonDir } = repository;
  const tree = await workTreeOf(repository);
  const paths = typed.map((path) => pathHere(path, cwd, repository, tree));
  const known = tree === undefined ? undefined : knownWorktreeId(gitDir);
  const place = known === undefined ? undefined : { commonDir, worktreeId: known };
  if (tree !== undefined && place !== undefined) await keepWhatIsGone(tree.top, place, settings, context);
  const id = known ?? (isInitialised(commonDir) ? worktreeId(gitDir) : undefined);
  const stash = id === undefined ? undefined : await pinStash({ cwd, worktreeId: id }, settings.rescue, now);
  const found = stash?.fresh.length === 0 ? stash.rescues : await listRescues(cwd);
  const owners = readStashOwners(commonDir);
  const indexes = new Map(stash?.entries.map(({ oid, index }) => [oid, index]));
  const all: KnownRescue[] = [];
  for (const rescue of found) {
    if (rescue.kind === 'work') {
      const held = rescue.items.filter((item) => isHeld(rescue, item));
      all.push({ ...rescue, held, session: rescue.reason.session, index: null });
      continue;
    }
    const owner = owners.get(rescue.oid);
    const held = (await stashItems(cwd, rescue.oid)).map((item) => ({ ...item, owner }));
    all.push({ ...rescue, held, session: owner ?? null, index: indexes.get(rescue.oid) ?? null });
  }
  return { workspace, settings, tree, paths, all: all.reverse(), place };
}

/** Whether `git handoff undo` made the rescue: to restore such a rescue also deletes files again, and restores the index. */
export function isUndone(rescue: Rescue | FoundObject): boolean {
  return rescue.kind === 'work' && rescue.reason.kind === 'undone';
}

const isHeld = (rescue: Rescue, item: SnapshotItem) => contentOf(item) !== null || isUndone(rescue);

async function keepWhatIsGone(
  top: string,
  place: LedgerPlace,
  { rescue: limits }: Settings,
  { now, budget }: Context,
): Promise<void> {
  const ledgers = readLedgers(place);
  const last = readLast(place);
  const before = lastSeen(last, ledgers);
  if (before.dirty.size === 0) return;
  const owners = claimOwners(ledgers);
  const scratch = scratchStore(place.commonDir);
  const after = await readTreeStatus(top, {
    now,
    scratch,
    ...(last === undefined ? {} : { known: last }),
  });
  try {
    await saveVanished({ ...place, top }, { before, after, owners, limits, now, budget });
  } catch {
    // A ref is locked: a later command saves what has disappeared.
    return;
  }
  // Another process may have recorded the state meanwhile: then its newer record stays.
  if (readLast(place)?.at === last?.at) putLast(place, after);
}

/** The rescue and the paths that the command line names. */
export interface Wanted {
  /** A number, or the beginning of a session's id or short id; when empty, the newest rescue that holds the paths. */
  readonly which: string;
  /** Paths from the top of the working tree; a folder means all files in it. When empty, everything. */
  readonly paths: readonly string[];
}

/** The fewest characters with which a command can name a session. */
const LEAST_ID = 4;

function isWanted(rescue: KnownRescue, item: SnapshotItem, { which, paths }: Wanted): boolean {
  const isMeant = paths.length === 0 || paths.some((path) => isNamed(item.path, path));
  if (which === '' || which === String(rescue.number)) return isMeant;
  return isMeant && which.length >= LEAST_ID && begins(sessionOf(rescue, item) ?? '', which);
}

const begins = (id: string, text: string) => id.startsWith(text) || shortId(id).startsWith(text);

/** Returns a file's session: its owner, or else the session that ran the command. */
export const sessionOf = ({ session }: Pick<KnownRescue, 'session'>, item: SnapshotItem) =>
  item.owner ?? session;

/**
 * Returns the newest rescue that holds what the command line names, and the named files with their contents. Rescues that were
 * saved at the end of a turn come last, unless something was lost since the newest of them.
 *
 * @throws Failure `not-found`, `usage` when the beginning of an id matches several sessions
 */
export async function select(
  cwd: string,
  { all, tree, place, paths }: Rescues,
  which: string,
): Promise<{ rescue: KnownRescue; items: readonly SnapshotItem[] }> {
  const wanted = { which, paths };
  const isNumber = /^\d{1,9}$/.test(which) && all.some(({ number }) => String(number) === which);
  // Two worktrees that save at the same instant may use the same number: it then means this worktree's rescue.
  const here = all.filter((rescue) => rescue.worktreeId === place?.worktreeId);
  if (!isNumber) requireOneSession(all, which);
  const isEnd = (one: KnownRescue) => groupOf(one) === 'stop';
  const end = here.find((one) => isEnd(one) && one.held.some((item) => isWanted(one, item, wanted)));
  const isCalm = end !== undefined && isStanding(tree?.top, end, wanted);
  const isLast = (one: KnownRescue) => isEnd(one) && (isCalm || one.worktreeId !== place?.worktreeId);
  const likely = [...all].sort((a, b) => Number(isLast(a)) - Number(isLast(b)));
  for (const rescue of isNumber ? [...here, ...all] : likely) {
    if (isNumber && String(rescue.number) !== which) continue;
    const isMeant = (item: SnapshotItem) => isHeld(rescue, item) && isWanted(rescue, item, wanted);
    if (!rescue.held.some(isMeant)) continue;
    const items = rescue.kind === 'stash' ? rescue.held : await itemsOf(cwd, rescue);
    return { rescue, items: items.filter(isMeant) };
  }
  const whose = which === '' ? 'rescue' : isNumber ? `file of rescue ${which}` : `rescue ${which}`;
  const where = paths.length === 0 ? '' : ` with ${paths.join(', ')}`;
  throw new Failure('not-found', `there is no ${whose}${where}`, { hint: 'git handoff rescue list' });
}

/** An object that `rescue search` has found: a commit or tree with the paths, or the content of one path. */
export interface FoundObject {
  readonly kind: 'found';
  /** The object's name as it was typed. */
  readonly number: string;
  readonly oid: Oid;
  readonly session: null;
}

/** Finds the object that the command names instead of a rescue, and its files; `undefined`: there is no such object. */
export async function findObject(
  cwd: string,
  { which, paths }: Wanted,
): Promise<{ rescue: FoundObject; items: readonly SnapshotItem[] } | undefined> {
  if (!/^[0-9a-f]{12,64}$/.test(which) || paths.length === 0) return undefined;
  const [object] = await readObjects({ cwd }, [{ name: which, infoOnly: true }]);
  if (object === undefined) return undefined;
  const { oid, type } = object;
  const rescue = { kind: 'found', number: which, oid, session: null } as const;
  const names = paths.includes('') ? [] : paths;
  const [path] = names;
  if (type === 'blob' && path !== undefined && names.length === 1) {
    const [atHead] = await listTree({ cwd }, 'HEAD', names);
    const mode = atHead?.mode === '100755' ? atHead.mode : '100644';
    return { rescue, items: [{ path, base: null, index: null, disk: { mode, oid } }] };
  }
  const [snapshot] = type === 'commit' ? await readSnapshots({ cwd }, [oid]) : [];
  const files = snapshot === undefined ? await listTree({ cwd }, oid, names) : [];
  const items = [
    ...(snapshot?.items ?? []).filter((item) => contentOf(item) !== null),
    ...files.map(({ mode, oid: blob, ...named }): SnapshotItem => {
      return { ...named, base: null, index: null, disk: { mode, oid: blob } };
    }),
  ].filter((item) => paths.some((one) => isNamed(item.path, one)));
  if (items.length > 0) return { rescue, items };
  const hint = `git handoff rescue search -- ${shellWord(`:/${path ?? ''}`)}`;
  throw new Failure('not-found', `${which} has no ${listed(names.map(escapeLine))}`, { hint });
}

/** Whether the named files still have the contents that a rescue holds. */
function isStanding(top: string | undefined, rescue: KnownRescue, wanted: Wanted): boolean {
  if (top === undefined) return false;
  return rescue.held
    .filter((item) => isWanted(rescue, item, wanted))
    .every((item) => {
      const oid = item.own ?? item.disk?.oid;
      return typeof oid === 'string' && contentState(top, item, oid)?.oid === oid;
    });
}

function requireOneSession(all: readonly KnownRescue[], which: string): void {
  const wanted = { which, paths: [] };
  const ids = all.flatMap((rescue) =>
    rescue.held.filter((item) => isWanted(rescue, item, wanted)).map((item) => sessionOf(rescue, item)),
  );
  if (which === '' || new Set(ids).size < 2 || ids.some((id) => id === which)) return;
  throw new Failure('usage', `${which} matches several sessions`, { hint: 'git handoff rescue list' });
}

export interface RescueListValue {
  readonly items: readonly RescueShape[];
}

/** Lists what can be restored, newest first. Rescues that were saved at the end of a turn come last. */
export async function listRescued(
  { which, paths: typed }: Wanted,
  context: Context,
): Promise<CommandResult<RescueListValue>> {
  const { all, paths, workspace } = await openRescues(context, typed);
  // Of the rescues from ends of turns, shows only each worktree's newest, unless the command names a session or paths.
  const ends = all.filter((one) => groupOf(one) === 'stop');
  const newest = new Map(ends.toReversed().map((one) => [one.worktreeId, one]));
  const shown = which === '' && paths.length === 0 ? [...newest.values()] : ends;
  const items = [...all.filter((one) => !ends.includes(one)), ...shown].flatMap((rescue) => {
    const held = rescue.held.filter((item) => isWanted(rescue, item, { which, paths }));
    return held.length > 0 ? [rescueShape(rescue, held)] : [];
  });
  const { notices, sessions } = workspace;
  return { value: { items }, notices, clients: clientsOf(sessions) };
}

function rescueShape(rescue: KnownRescue, items: readonly SnapshotItem[]): RescueShape {
  const { number, ref, oid } = rescue;
  const shape = {
    number,
    ref,
    oid,
    at: timestamp(rescuedAt(rescue)),
    files: items.map((item) => {
      const { path, bytes = 0, owner = null } = item;
      return { path, mode: contentOf(item)?.mode ?? '', bytes, owner };
    }),
  };
  if (rescue.kind === 'stash') {
    const { session, index, commit } = rescue;
    const rest = { deleted: [], staged: [], skipped: [], worktree: null, branch: null };
    return { ...shape, ...rest, kind: 'stash', reason: commit.summary, session, stashIndex: index };
  }
  const { kind, command, session, worktree, skipped, ref: head } = rescue.reason;
  const pathsOf = (some: readonly SnapshotItem[]) => some.map(({ path }) => path);
  const deleted = pathsOf(rescue.items.filter(({ base, disk }) => base !== null && disk === null));
  const staged = pathsOf(rescue.items.filter(isOnlyStaged));
  const branch = head.startsWith('refs/heads/') ? head.slice('refs/heads/'.length) : null;
  const rest = { deleted, staged, skipped, worktree, branch, stashIndex: null };
  return { ...shape, ...rest, kind, reason: command, session };
}

interface RescueShowOptions extends Wanted {
  readonly raw: boolean;
}

/** The text of a rescued file, in `note` or, if it is not UTF-8, in `noteBase64`. */
export type RescuedText = {
  readonly path: string;
  /** The blob of the staged content, if it differed from the file and from HEAD. */
  readonly staged?: string;
} & NoteShape;

export interface RescueShowValue {
  readonly rescue: RescueShape;
  readonly items: readonly RescuedText[];
}

/**
 * Shows what a rescue holds, with the contents.
 *
 * @throws Failure `not-found`; `usage` when `--raw` does not name one file; `integrity` when a content is gone
 */
export async function showRescued(
  { which, paths, raw }: RescueShowOptions,
  context: Context,
): Promise<CommandResult<RescueShowValue>> {
  const { cwd } = context;
  const rescues = await openRescues(context, paths);
  const { workspace } = rescues;
  const { rescue, items: all } = await select(cwd, rescues, which);
  const kept = all.filter((item) => contentOf(item) !== null);
  if (raw && kept.length !== 1) {
    throw new Failure('usage', `--raw prints one file, not ${kept.length}`, {
      hint: `git handoff rescue show ${rescue.number}`,
    });
  }
  const contents = await readKept(cwd, kept);
  const items = kept.map((item, at): RescuedText => {
    const staged = isOnlyStaged(item) && item.disk !== null ? (item.index?.oid ?? undefined) : undefined;
    const text = noteShape(contents[at] ?? Buffer.alloc(0));
    return { path: item.path, ...(staged === undefined ? {} : { staged }), ...text };
  });
  const [bytes] = contents;
  const value = { rescue: rescueShape(rescue, kept), items };
  const result = { value, notices: workspace.notices, clients: clientsOf(workspace.sessions) };
  return raw && bytes !== undefined ? { ...result, bytes } : result;
}
