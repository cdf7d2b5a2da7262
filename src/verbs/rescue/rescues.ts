import { claimOwners, lastSeen } from '../../domain/ledger/vanished.ts';
import { Failure } from '../../domain/failure.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import type { RescuedFile } from '../../domain/rescue.ts';
import type { Settings } from '../../domain/settings.ts';
import { readSettings } from '../../git/config.ts';
import { type Repository, topLevel } from '../../git/repository.ts';
import { scratchStore } from '../../git/scratch-store.ts';
import { type StashedFile, stashedFiles } from '../../git/stash.ts';
import { readTreeStatus } from '../../git/work-tree.ts';
import { isInitialised, knownWorktreeId, worktreeId } from '../../host/folders.ts';
import { type LedgerPlace, readLedgers } from '../../sessions/journal.ts';
import { type PinnedStash, type SavedWork, listRescues } from '../../rescue/rescues.ts';
import { readStashOwners } from '../../rescue/stash-owners.ts';
import { pinStash } from '../../rescue/stash-pins.ts';
import { putLast, readLast } from '../../changes/windows.ts';
import type { Context } from '../../sessions/caller.ts';
import { saveVanished } from '../../rescue/save-vanished.ts';
import { type Workspace, openWorkspace } from '../workspace.ts';

/** A rescue with the files that it holds. */
export type KnownRescue =
  | (SavedWork & { readonly held: readonly RescuedFile[] })
  | (PinnedStash & {
      readonly held: readonly (RescuedFile & StashedFile)[];
      readonly owner: SessionId | null;
      /** Its place in the list of git-stash(1); `null`: it has been dropped. */
      readonly index: number | null;
    });

export interface Rescues {
  readonly workspace: Workspace;
  readonly settings: Settings;
  /** `undefined` in a bare repository. */
  readonly top: string | undefined;
  /** Newest first. */
  readonly all: readonly KnownRescue[];
  /** Of the worktree around the command. */
  readonly worktreeId: string | undefined;
}

/**
 * Everything that can be brought back. First what is gone since the last tool call, and entries of the stash that
 * nobody has seen, are kept: then they are among it.
 *
 * @throws Failure `environment` outside of a repository
 */
export async function openRescues(context: Context): Promise<Rescues> {
  const { cwd, now } = context;
  const [workspace, settings] = await Promise.all([openWorkspace(context), readSettings(cwd)]);
  const { repository } = workspace;
  const top = await topLevel(repository);
  const place = rescuePlace(repository, top);
  if (place !== undefined) await keepWhatIsGone(place, settings, now);
  const id =
    place?.worktreeId ?? (isInitialised(repository.commonDir) ? worktreeId(repository.gitDir) : undefined);
  const stash = id === undefined ? undefined : await pinStash({ cwd, worktreeId: id }, settings.rescue, now);
  const found = stash?.fresh.length === 0 ? stash.rescues : await listRescues(cwd);
  const owners = readStashOwners(repository.commonDir);
  const indexes = new Map(stash?.entries.map(({ oid, index }) => [oid, index]));
  const all: KnownRescue[] = [];
  for (const rescue of found) {
    if (rescue.kind === 'work') {
      all.push({ ...rescue, held: rescue.note.files });
      continue;
    }
    const owner = owners.get(rescue.oid) ?? null;
    const held = (await stashedFiles(cwd, rescue.oid)).map((file) => ({ ...file, owner }));
    all.push({ ...rescue, held, owner, index: indexes.get(rescue.oid) ?? null });
  }
  return { workspace, settings, top, all: all.reverse(), worktreeId: place?.worktreeId };
}

/** The worktree around the command, where any session ever was. */
export function rescuePlace(
  { gitDir, commonDir }: Repository,
  top: string | undefined,
): (LedgerPlace & { top: string; gitDir: string }) | undefined {
  const id = knownWorktreeId(gitDir);
  return id === undefined || top === undefined ? undefined : { commonDir, worktreeId: id, top, gitDir };
}

async function keepWhatIsGone(
  place: LedgerPlace & { top: string },
  { rescue: limits }: Settings,
  now: number,
): Promise<void> {
  const ledgers = readLedgers(place);
  const last = readLast(place);
  const before = lastSeen(last, ledgers);
  if (before.dirty.size === 0) return;
  const owners = claimOwners(ledgers);
  const scratch = scratchStore(place.commonDir);
  const after = await readTreeStatus(place.top, {
    now,
    scratch,
    ...(last === undefined ? {} : { known: last }),
  });
  const ownerOf = (path: string) => owners.get(path);
  await saveVanished(place, {
    before,
    after,
    ownerOf,
    session: null,
    command: '',
    limits,
    now,
    timeoutMs: undefined,
  });
  // Somebody else may have looked meanwhile, and knows better.
  if (readLast(place)?.at === last?.at) putLast(place, after);
}

/** Which rescue is meant, and which of its files. */
interface Selection {
  readonly rescue: KnownRescue;
  readonly files: readonly RescuedFile[];
}

/** What the words of the command name. */
export interface Wanted {
  /** A number, or the beginning of a session's id or of its short form; empty: the newest that holds the paths. */
  readonly which: string;
  /** From the top of the working tree; a folder means what is below it. Empty: everything. */
  readonly paths: readonly string[];
}

/** A session's id is named by at least this many characters. */
const LEAST_ID = 4;

/** Whether a file is what the words name. */
export function isWanted(rescue: KnownRescue, file: RescuedFile, { which, paths }: Wanted): boolean {
  const isNamed = paths.length === 0 || paths.some((path) => covers(path, file.path));
  if (which === '' || which === String(rescue.number)) return isNamed;
  return isNamed && which.length >= LEAST_ID && begins(sessionOf(rescue, file) ?? '', which);
}

const begins = (id: string, text: string) => id.startsWith(text) || shortId(id).startsWith(text);

const covers = (path: string, file: string) => path === '' || path === file || file.startsWith(`${path}/`);

/** Whose a file is: its owner, else whoever ran the command. */
export function sessionOf(rescue: KnownRescue, file: RescuedFile): SessionId | null {
  return file.owner ?? (rescue.kind === 'work' ? rescue.note.session : rescue.owner);
}

/**
 * The newest rescue that holds what is named.
 *
 * @throws Failure `not-found`, `usage` when the beginning of an id matches several sessions
 */
export function select({ all, worktreeId }: Rescues, wanted: Wanted): Selection {
  const isNumber =
    /^\d{1,9}$/.test(wanted.which) && all.some(({ number }) => String(number) === wanted.which);
  // Two worktrees that save at the same instant may take the same number: then the one here is meant.
  const here = all.filter((rescue) => rescue.worktreeId === worktreeId);
  if (!isNumber) requireOneSession(all, wanted.which);
  for (const rescue of isNumber ? [...here, ...all] : all) {
    if (isNumber && String(rescue.number) !== wanted.which) continue;
    const files = rescue.held.filter((file) => isWanted(rescue, file, wanted));
    if (files.length > 0) return { rescue, files };
  }
  const whose =
    wanted.which === '' ? 'rescue' : isNumber ? `file of rescue ${wanted.which}` : `rescue ${wanted.which}`;
  const where = wanted.paths.length === 0 ? '' : ` with ${wanted.paths.join(', ')}`;
  throw new Failure('not-found', `there is no ${whose}${where}`, { hint: 'git handoff rescue list' });
}

function requireOneSession(all: readonly KnownRescue[], which: string): void {
  const wanted = { which, paths: [] };
  const ids = all.flatMap((rescue) =>
    rescue.held.filter((file) => isWanted(rescue, file, wanted)).map((file) => sessionOf(rescue, file)),
  );
  if (which === '' || new Set(ids).size < 2 || ids.some((id) => id === which)) return;
  throw new Failure('usage', `${which} matches several sessions`, { hint: 'git handoff rescue list' });
}
