import {
  closeSync,
  constants,
  ftruncateSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { EventKind } from '../domain/session.ts';
import { entries, exists, readText } from './disk.ts';
import { randomName } from './random-name.ts';

/** The user's home. Most calls of a hook find it in the environment, and do not load what knows it otherwise. */
export const homeFolder = (env: NodeJS.ProcessEnv): string =>
  env['HOME'] ?? process.getBuiltinModule('node:os').homedir();

/** The user's state folder: where the guard logs outside repositories (XDG base directories). */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  const base = env['XDG_STATE_HOME'];
  return join(
    base !== undefined && base.startsWith('/') ? base : join(homeFolder(env), '.local', 'state'),
    'git-handoff',
  );
}

/**
 * The file of a repository that is set up, in the user's state folder; it holds the common dir. One for each, so that
 * two that are set up at once cannot lose each other's.
 */
export function repositoryEntry(state: string, commonDir: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const name = createHash('sha256').update(commonDir).digest('hex').slice(0, 16);
  return join(state, 'repositories', name);
}

/**
 * Our folder in a repository, shared by its worktrees. Its existence says that `init` ran here. It and what is asked for
 * often below it are put together without `join`: V8 would find node:path hot, and optimise it beside a short decision.
 */
export function repositoryFolder(commonDir: string): string {
  return `${commonDir}/handoff`;
}

/** Removes a file, if it is there. `rmSync` loads what removes whole folders. */
export function removeFile(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/**
 * Puts a few words into a file of ours, in place: for what nobody reads meanwhile, or may misread. One that was emptied first,
 * as by `writeFileSync`, ext4 writes to the disk when it is closed (its option auto_da_alloc): five times as long.
 */
export function rewriteText(file: string, text: string): void {
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT);
  try {
    ftruncateSync(descriptor, writeSync(descriptor, text));
  } finally {
    closeSync(descriptor);
  }
}

/** Where a person's one-shot bypasses lie (src/sessions/bypass.ts); there is no such folder when nobody made any. */
export function bypassFolder(commonDir: string): string {
  return `${repositoryFolder(commonDir)}/allow`;
}

/** A worktree as anybody last saw it (src/changes/windows.ts). */
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

/** The folder with a file for each session that has not ended: what it holds is the last event, its time that of the last call. */
export const beatFolder = (commonDir: string): string => `${repositoryFolder(commonDir)}/beat`;

const beatFile = (commonDir: string, session: string) => `${beatFolder(commonDir)}/${session}`;

/** A session is over, or its process is gone. */
export function removeBeat(commonDir: string, session: string): void {
  removeFile(beatFile(commonDir, session));
}

/** Whether sessions besides one are at work in a repository, as far as their calls tell: the launcher asks the same. */
export function areSeveralAtWork(commonDir: string): boolean {
  return entries(beatFolder(commonDir)).length > 1;
}

/** Marks a session's call by the kind of its event; the sh launcher does the same by the client's name for it. */
export function beat(commonDir: string, session: string, event: EventKind): void {
  const file = beatFile(commonDir, session);
  try {
    ensureFolder(dirname(file));
    rewriteText(file, event);
  } catch {
    // A read-only repository: activity is then unknown, which refuses nothing.
  }
}

/** The event that a session called with last; empty when it is not known. */
export function lastEvent(commonDir: string, session: string): EventKind | '' {
  const event = readText(beatFile(commonDir, session));
  // The launcher and version 0.1.0 write the client's name.
  if (/^(?:PreToolUse|BeforeTool)$/.test(event)) return 'before-tool';
  return /^(?:Stop|AfterAgent|agentStop)$/.test(event) ? 'stop' : (event as EventKind | '');
}

/** When a session called last, in milliseconds since the epoch; `undefined` when it is not known. */
export function lastCall(commonDir: string, session: string): number | undefined {
  return statSync(beatFile(commonDir, session), { throwIfNoEntry: false })?.mtimeMs;
}

/**
 * The random id of a worktree, made on first use; it dies with the worktree. Two first users agree
 * through link(2): the loser reads the winner's.
 */
export function worktreeId(gitDir: string): string {
  const file = idFile(gitDir);
  const known = readId(file);
  if (known !== undefined) return known;
  const own = `${file}.${randomName()}`;
  writeFileSync(own, `${process.getBuiltinModule('node:crypto').randomBytes(8).toString('hex')}\n`);
  try {
    linkSync(own, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(own, { force: true });
  }
  const id = readId(file);
  if (id === undefined) throw new Error(`${file} holds no worktree id`);
  return id;
}

/** The worktree's id if it has one already. */
export function knownWorktreeId(gitDir: string): string | undefined {
  return readId(idFile(gitDir));
}

const idFile = (gitDir: string) => `${gitDir}/handoff-id`;

function readId(file: string): string | undefined {
  try {
    return /^[0-9a-f]{16}$/.exec(readFileSync(file, 'utf8').trim())?.[0];
  } catch {
    return undefined;
  }
}

/**
 * Keeps a text in a file of its own outside the repository, for when no ref can hold it. Returns its
 * path, `undefined` when neither the folder for temporary files nor the home folder takes it.
 */
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
      // Half a text is none.
      if (own !== undefined) rmSync(own, { recursive: true, force: true });
    }
  }
  return undefined;
}

/** Makes a folder of ours, with all above it, for this user alone. */
export function ensureFolder(path: string): void {
  if (!exists(path)) mkdirSync(path, { recursive: true, mode: 0o700 });
}
