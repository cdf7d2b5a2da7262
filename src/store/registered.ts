import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionId } from '../domain/names.ts';
import type { ProcessId } from '../domain/session.ts';
import { knownWorktreeId, repositoryFolder } from '../host/folders.ts';

/**
 * `<common>/handoff/registered/<worktree-id>/<session>` holds the process under which a session was put
 * on record last: a cache that saves the guard from listing the live refs at every call.
 */

/** After this the refs are looked at again: peers may be gone. Milliseconds. */
const FRESH_MS = 60_000;

/** Where a session is at work. */
export interface WorkPlace {
  readonly gitDir: string;
  readonly commonDir: string;
}

/** Whether this session was put on record here a moment ago, under this very process. */
export function isFreshlyRegistered(
  place: WorkPlace,
  session: SessionId,
  client: ProcessId | undefined,
  now: number,
): boolean {
  const file = cacheFile(place, session);
  if (file === undefined || client === undefined) return false;
  try {
    return now - statSync(file).mtimeMs < FRESH_MS && readFileSync(file, 'utf8') === text(client);
  } catch {
    return false;
  }
}

export function rememberRegistration(
  place: WorkPlace,
  session: SessionId,
  client: ProcessId | undefined,
): void {
  const file = cacheFile(place, session);
  if (file === undefined || client === undefined) return;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text(client));
}

export function forgetRegistration(place: WorkPlace, session: SessionId): void {
  const file = cacheFile(place, session);
  if (file !== undefined) rmSync(file, { force: true });
}

const text = ({ pid, start }: ProcessId) => `${pid} ${start}\n`;

function cacheFile({ gitDir, commonDir }: WorkPlace, session: SessionId): string | undefined {
  const worktree = knownWorktreeId(gitDir);
  return worktree === undefined
    ? undefined
    : join(repositoryFolder(commonDir), 'registered', worktree, session);
}
