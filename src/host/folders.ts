import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { EventKind } from '../domain/session.ts';
import { entries, exists, lstatOf, quietly, readText, randomName, statOf } from './disk.ts';

/** Returns the user's home. Most hook calls find it in the environment, and so do not load node:os. */
export const homeFolder = (env: NodeJS.ProcessEnv): string =>
  env['HOME'] ?? process.getBuiltinModule('node:os').homedir();

/** Returns the user's state folder, where the guard logs outside of repositories (XDG base directories). */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  const base = env['XDG_STATE_HOME'];
  return join(
    base !== undefined && base.startsWith('/') ? base : join(homeFolder(env), '.local', 'state'),
    'git-handoff',
  );
}

/**
 * Returns the file in the user's state folder that records a repository where `init` ran or sessions work; it holds the common
 * dir. Each repository has its own file, so that two that are set up at once cannot overwrite each other's record.
 */
export function repositoryEntry(state: string, commonDir: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const name = createHash('sha256').update(commonDir).digest('hex').slice(0, 16);
  return join(state, 'repositories', name);
}

/**
 * Returns our folder in a repository, shared by its worktrees; it exists if `init` ran. Paths that are often needed are built
 * without `join`: otherwise V8 would spend the time of a short call on optimising node:path.
 */
export function repositoryFolder(commonDir: string): string {
  return `${commonDir}/handoff`;
}

/** Returns the worktree of `git handoff try`, one per clone, with a detached HEAD. Nobody works in it, so we list it nowhere. */
export const tryTree = (commonDir: string): string => `${repositoryFolder(commonDir)}/try`;

/** Whether a worktree belongs to `git handoff try`, by its path in our folder: users have no worktrees there. */
export const isTryTree = (path: string): boolean =>
  path.endsWith('/handoff/try') && exists(`${path.slice(0, -'/handoff/try'.length)}/HEAD`);

/** Removes a file, if it exists. `rmSync` would load the code that removes whole folders. */
export function removeFile(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/**
 * Overwrites one of our files with a few words, in place. A process that reads the file meanwhile may get a mixture of old and
 * new words. `writeFileSync` takes five times as long: ext4 syncs an emptied file when it is closed (mount option auto_da_alloc).
 */
export function rewriteText(file: string, text: string): void {
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    if (fstatSync(descriptor).size === 0) share(file);
    ftruncateSync(descriptor, writeSync(descriptor, text));
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the folder of a person's one-shot bypasses (src/sessions/bypass.ts); the first bypass creates it. */
export function bypassFolder(commonDir: string): string {
  return `${repositoryFolder(commonDir)}/allow`;
}

/** Returns the file that holds the newest status of a worktree, whoever read it (src/changes/windows.ts). */
export function lookFile({ commonDir, worktreeId }: { commonDir: string; worktreeId: string }): string {
  return `${repositoryFolder(commonDir)}/looks/${worktreeId}`;
}

/** The folder of the sessions' journals (src/sessions/journal.ts). */
export const journalsFolder = (commonDir: string): string => `${repositoryFolder(commonDir)}/sessions`;

/** The journal of one session. */
export const journalFile = (commonDir: string, session: string): string =>
  `${journalsFolder(commonDir)}/${session}.jsonl`;

/** Whether `init` ran in this repository. */
export function isInitialised(commonDir: string): boolean {
  return exists(repositoryFolder(commonDir));
}

/** The folder with a file for each session that has not ended. The text is its last event, and the mtime is the event's time. */
export const beatFolder = (commonDir: string): string => `${repositoryFolder(commonDir)}/beat`;

const beatFile = (commonDir: string, session: string) => `${beatFolder(commonDir)}/${session}`;

/** Removes the file of a session that has ended, or whose process is gone. */
export function removeBeat(commonDir: string, session: string): void {
  removeFile(beatFile(commonDir, session));
}

/** Whether more than one session is at work in a repository, as far as their calls tell. The launcher makes the same test. */
export function areSeveralAtWork(commonDir: string): boolean {
  return entries(beatFolder(commonDir)).length > 1;
}

/** Records a session's call with the kind of its event; the sh launcher records the client's name for the event. */
export function beat(commonDir: string, session: string, event: EventKind): void {
  // If the repository is read-only, we cannot know who is at work, and refuse nothing for that reason.
  quietly(() => {
    ensureFolder(beatFolder(commonDir));
    rewriteText(beatFile(commonDir, session), event);
  });
}

/** Returns the event of a session's last call; empty when it is not known. */
export function lastEvent(commonDir: string, session: string): EventKind | '' {
  const event = readText(beatFile(commonDir, session));
  // The launcher and version 0.1.0 write the client's name for the event.
  if (/^(?:PreToolUse|BeforeTool)$/.test(event)) return 'before-tool';
  return /^(?:Stop|AfterAgent|agentStop)$/.test(event) ? 'stop' : (event as EventKind | '');
}

/** Returns the time of a session's last call, in milliseconds since the epoch; `undefined` when it is not known. */
export function lastCall(commonDir: string, session: string): number | undefined {
  return statSync(beatFile(commonDir, session), { throwIfNoEntry: false })?.mtimeMs;
}

/**
 * Returns the random id of a worktree, made on first use and deleted with the worktree. If two processes make an id at once,
 * link(2) lets only one process succeed, and the other reads that id.
 */
export function worktreeId(gitDir: string): string {
  const file = idFile(gitDir);
  const known = knownWorktreeId(gitDir);
  if (known !== undefined) return known;
  const own = `${file}.${randomName()}`;
  writeFileSync(own, `${process.getBuiltinModule('node:crypto').randomBytes(8).toString('hex')}\n`);
  try {
    share(own);
    linkSync(own, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(own, { force: true });
  }
  const id = knownWorktreeId(gitDir);
  if (id === undefined) throw new Error(`${file} holds no worktree id`);
  return id;
}

/** Returns the worktree's id if it has one already. */
export function knownWorktreeId(gitDir: string): string | undefined {
  return /^[0-9a-f]{16}$/.exec(readText(idFile(gitDir)).trim())?.[0];
}

const idFile = (gitDir: string) => `${gitDir}/handoff-id`;

/** Keeps a text that no ref can hold in a file of the temporary or the home folder; `undefined` if neither can be written. */
export function keepInFile(text: Uint8Array): string | undefined {
  const { tmpdir, homedir } = process.getBuiltinModule('node:os');
  for (const folder of [tmpdir(), homedir()]) {
    let own: string | undefined;
    try {
      own = mkdtempSync(join(folder, 'git-handoff-'));
      const file = join(own, 'handoff.md');
      writeFileSync(file, text, { mode: 0o600, flush: true });
      return file;
    } catch {
      // Half a text is useless.
      if (own !== undefined) rmSync(own, { recursive: true, force: true });
    }
  }
  return undefined;
}

/**
 * Shares a new file or folder of ours with those who may write to its parent folder: the group, or everybody, gets the
 * owner's permissions. In another user's folder, root makes that user the owner. If the system does not permit a
 * change, or another process was faster, the path stays as it is.
 */
export function share(path: string): void {
  try {
    const [above, own] = [statSync(dirname(path)), lstatSync(path)];
    const user = process.getuid?.();
    if (user === 0 && above.uid !== own.uid) chownSync(path, above.uid, above.gid);
    const mode = sharedMode(above.mode, own.mode);
    if (mode !== (own.mode & 0o7777) && (user === 0 || own.uid === user)) chmodSync(path, mode);
  } catch {
    // In a container, even root may be unable to change owners.
  }
}

/** Returns the mode that a path of ours should have, given the mode of its parent folder. */
function sharedMode(above: number, own: number): number {
  const group = (above & 0o020) === 0 ? 0 : (own & 0o700) >> 3;
  const everybody = (above & 0o002) === 0 ? 0 : (own & 0o700) >> 6;
  return (own & 0o7777) | group | everybody | (group !== 0 && (own & 0o040000) !== 0 ? above & 0o2000 : 0);
}

/** Shares a folder of ours and everything in it, as far as it is not shared yet and belongs to this user. */
export function shareAll(folder: string): void {
  for (const path of closedPaths(folder)) share(path);
}

/**
 * Yields a folder of ours and the paths in it, but only those that `share` would change. The outermost come first,
 * because sharing a folder changes how the paths in it should be shared.
 */
export function* closedPaths(path: string): Generator<string> {
  const [above, own] = [statOf(dirname(path)), lstatOf(path)];
  if (above === undefined || own === undefined || own.isSymbolicLink()) return;
  if (sharedMode(above.mode, own.mode) !== (own.mode & 0o7777)) yield path;
  if (!own.isDirectory() || path.endsWith('/handoff/try')) return;
  for (const name of entries(path)) yield* closedPaths(join(path, name));
}

/**
 * Gives a repository's owner what root has made in it, for example in a container that mounts the owner's folder. Otherwise git
 * would fail for the owner in a folder of objects or refs that belongs to root.
 *
 * @param find returns the common dir; called only for root
 * @param refs the refs that root has moved
 */
export function giveToOwner(find: () => string | undefined, refs: readonly string[]): void {
  const commonDir = process.getuid?.() === 0 ? find() : undefined;
  const owner = commonDir === undefined ? undefined : statOf(commonDir);
  if (commonDir === undefined || owner === undefined || owner.uid === 0) return;
  const stores = [`${commonDir}/objects`, `${repositoryFolder(commonDir)}/objects`];
  const paths = new Set(stores.flatMap((store) => entries(store).map((name) => `${store}/${name}`)));
  for (const ref of refs)
    for (let path = ref; path.includes('/'); path = dirname(path))
      for (const place of ['', 'logs/']) paths.add(`${commonDir}/${place}${path}`);
  for (const path of paths) {
    try {
      if (lstatSync(path).uid === 0) lchownSync(path, owner.uid, owner.gid);
    } catch {
      // The path is gone (packed, perhaps), or the system does not permit the change.
    }
  }
}

/** Makes one of our folders in a repository, and shares it. */
export function ensureFolder(path: string): void {
  if (exists(path)) return;
  const above = path.slice(0, path.lastIndexOf('/'));
  if (!exists(above)) ensureFolder(above);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  share(path);
}

/**
 * Returns a short file name for a text that cannot be one: two FNV-1a sums (32 bits each) and the text's length. Not
 * for secrets. Loading node:crypto would cost milliseconds on the guard's hot path.
 */
export function nameHash(text: string): string {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let n = 0; n < text.length; n++) {
    const code = text.charCodeAt(n);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ (code + n), 0x85ebca6b);
  }
  return `${(a >>> 0).toString(36)}-${(b >>> 0).toString(36)}-${text.length.toString(36)}`;
}
