import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionId } from '../domain/names.ts';
import type { ProcessId } from '../domain/session.ts';
import { knownWorktreeId, repositoryFolder } from '../host/folders.ts';

/**
 * `<common>/handoff/registered/<worktree-id>/<session>/<process>`: the processes under which a session was
 * put on record lately. A cache that saves the guard from listing the live refs at every call.
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

/** Remembers that the session was put on record under this process. */
export function rememberRegistration(
  place: SessionPlace,
  session: SessionId,
  client: ProcessId | undefined,
): void {
  const folder = cacheFolder(place, session);
  if (folder === undefined || client === undefined) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, fileName(client)), '');
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

function cacheFolder({ gitDir, commonDir }: SessionPlace, session: SessionId): string | undefined {
  const worktree = knownWorktreeId(gitDir);
  return worktree === undefined
    ? undefined
    : `${repositoryFolder(commonDir)}/registered/${worktree}/${session}`;
}
