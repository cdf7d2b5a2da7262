import { appendFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FailedCommand } from '../domain/automatic-note.ts';
import { jsonFields } from '../domain/json-fields.ts';
import type { SessionId } from '../domain/names.ts';
import { entries, readText } from '../host/disk.ts';
import { ensureFolder, repositoryFolder } from '../host/folders.ts';
import { putText } from '../host/output-file.ts';

/**
 * `<common>/handoff/failed/<session>`: a session's last shell commands that failed, one JSON line each, for the note
 * that is left when it leaves none itself. One append a command; a torn line is none.
 */

const MAX_KEPT = 5;
/** A file beyond this is rewritten with the commands that count. Bytes. */
const TRIM_AT = 8192;

/** The folder with the failed commands of each session. */
export function failedFolder(commonDir: string): string {
  return join(repositoryFolder(commonDir), 'failed');
}

const fileOf = (commonDir: string, session: SessionId) => join(failedFolder(commonDir), session);

/** Remembers a command that failed. */
export function rememberFailed(commonDir: string, session: SessionId, failed: FailedCommand): void {
  const file = fileOf(commonDir, session);
  ensureFolder(dirname(file));
  // The line feed before it ends what a process that died has begun.
  appendFileSync(file, `\n${lineOf(failed)}`, { mode: 0o600 });
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= TRIM_AT) return;
  putText(file, readFailed(commonDir, session).map(lineOf).join(''));
}

/** The last of them, oldest first; the same command twice in a row is one. */
export function readFailed(commonDir: string, session: SessionId): FailedCommand[] {
  const all = readText(fileOf(commonDir, session)).split('\n').flatMap(parseLine);
  const distinct = all.filter(({ command, exit }, at) => {
    const next = all[at + 1];
    return next?.command !== command || next.exit !== exit;
  });
  return distinct.slice(-MAX_KEPT);
}

/** Forgets a session’s failed commands. */
export function forgetFailed(commonDir: string, session: SessionId): void {
  rmSync(fileOf(commonDir, session), { force: true });
}

/** Forgets every session's commands that hold a word: a refused `write` holds the text of a note. */
export function forgetCommandsNaming(commonDir: string, word: string): void {
  for (const name of entries(failedFolder(commonDir))) {
    const file = join(failedFolder(commonDir), name);
    const lines = readText(file).split('\n');
    const kept = lines.filter((line) => !line.includes(word));
    if (kept.length < lines.length) putText(file, kept.join('\n'));
  }
}

const lineOf = ({ command, exit }: FailedCommand) => `${JSON.stringify({ command, exit: exit ?? null })}\n`;

function parseLine(line: string): FailedCommand[] {
  const { command, exit } = jsonFields(line);
  if (typeof command !== 'string') return [];
  return [{ command, exit: typeof exit === 'number' ? exit : undefined }];
}
