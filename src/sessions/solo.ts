import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomName } from '../host/random-name.ts';
import type { SessionId } from '../domain/names.ts';
import type { SessionRecord } from '../domain/session.ts';

/**
 * `<git-dir>/handoff-solo` names the only live session of a worktree: `<session> <pid> <start>`. It is
 * a cache of the live refs for the sh fast path. Order of events: a registering session creates its
 * ref and then unlinks the file; whoever writes the file lists the refs again afterwards.
 */
const SOLO_FILE = 'handoff-solo';

/** Says that this session is alone here. The caller must list the refs again and unlink when it is not. */
export function writeSolo(gitDir: string, record: SessionRecord): void {
  const text = `${record.session} ${record.pid ?? '-'} ${record.start ?? '-'}\n`;
  if (readSolo(gitDir) === text) return;
  const temporary = join(gitDir, `${SOLO_FILE}.${randomName()}`);
  writeFileSync(temporary, text);
  renameSync(temporary, join(gitDir, SOLO_FILE));
}

/** Whether the file names this session. */
export function isSolo(gitDir: string, session: SessionId): boolean {
  return readSolo(gitDir)?.startsWith(`${session} `) ?? false;
}

export function removeSolo(gitDir: string): void {
  rmSync(join(gitDir, SOLO_FILE), { force: true });
}

function readSolo(gitDir: string): string | undefined {
  try {
    return readFileSync(join(gitDir, SOLO_FILE), 'utf8');
  } catch {
    return undefined;
  }
}
