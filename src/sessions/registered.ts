import { mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionId } from '../domain/names.ts';
import type { ProcessId } from '../domain/session.ts';
import { readText } from '../host/disk.ts';
import { knownWorktreeId, repositoryFolder } from '../host/folders.ts';

/**
 * `<common>/handoff/registered/<worktree-id>/<session>/<process>`: the processes under which a session was
 * put on record lately. A cache that saves the guard from listing the live refs at every call, and shows
 * two processes with one session id. The text is the other such process that this one was told of.
 */

/** After this the refs are looked at again: peers may be gone. Milliseconds. */
const FRESH_MS = 60_000;

/** Where a session is at work. */
interface SessionPlace {
  readonly gitDir: string;
  readonly commonDir: string;
}

/** Whether this session was put on record here a moment ago, under this very process. */
export function isFreshlyRegistered(
  place: SessionPlace,
  session: SessionId,
  client: ProcessId | undefined,
  now: number,
): boolean {
  const folder = cacheFolder(place, session);
  if (folder === undefined || client === undefined) return false;
  const file = statSync(`${folder}/${fileName(client)}`, { throwIfNoEntry: false });
  return file !== undefined && now - file.mtimeMs < FRESH_MS;
}

/** Remembers that the session was put on record under this process. True when it is to be told of `twin`. */
export function rememberRegistration(
  place: SessionPlace,
  session: SessionId,
  client: ProcessId | undefined,
  twin: ProcessId | undefined,
): boolean {
  const folder = cacheFolder(place, session);
  if (folder === undefined || client === undefined) return twin !== undefined;
  const file = join(folder, fileName(client));
  const told = twin === undefined ? '' : fileName(twin);
  const isNews = twin !== undefined && readText(file) !== told;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(file, told);
  // The other one is to look again, too.
  if (isNews) makeStale(join(folder, told));
  return isNews;
}

/** Every process under which the session was put on record here, gone ones too. */
export function registeredProcesses(place: SessionPlace, session: SessionId): ProcessId[] {
  const folder = cacheFolder(place, session);
  if (folder === undefined) return [];
  try {
    return readdirSync(folder).flatMap((name) => processOf(name) ?? []);
  } catch {
    return [];
  }
}

/** Forgets under which processes a session was put on record here. */
export function forgetRegistration(place: SessionPlace, session: SessionId): void {
  const folder = cacheFolder(place, session);
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

function fileName({ pid, start }: ProcessId): string {
  return `${pid}.${encodeURIComponent(start)}`;
}

function processOf(name: string): ProcessId | undefined {
  const [, pid, start] = /^([0-9]+)\.(.+)$/.exec(name) ?? [];
  return pid === undefined || start === undefined
    ? undefined
    : { pid: Number(pid), start: decodeURIComponent(start) };
}

function makeStale(file: string): void {
  try {
    utimesSync(file, 0, 0);
  } catch {
    // It was put on record before there was this cache: it looks again by itself.
  }
}

function cacheFolder({ gitDir, commonDir }: SessionPlace, session: SessionId): string | undefined {
  const worktree = knownWorktreeId(gitDir);
  return worktree === undefined
    ? undefined
    : `${repositoryFolder(commonDir)}/registered/${worktree}/${session}`;
}
