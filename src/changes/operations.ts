import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Oid, type SessionId, parseOid, parseSessionId } from '../domain/names.ts';
import type { Operation } from '../git/operations.ts';
import { randomName } from '../host/random-name.ts';

/**
 * `<git-dir>/handoff-operation` says who began the merge, rebase … that is unfinished in a worktree: a line
 * `<session> <mark of the operation> <the tree that it merged, or ->` for each session that may have. sh reads it, too,
 * and takes it for outdated when the operation is newer than the file.
 */
const FILE = 'handoff-operation';

/** Notes that this session began it. What is on record of an earlier operation goes. */
export function putBeginner(gitDir: string, session: SessionId, { mark }: Operation, merged?: Oid): void {
  const file = join(gitDir, FILE);
  const known = readLines(gitDir).filter((line) => line.mark === mark);
  if (known.some((line) => line.session === session)) return;
  const line = `${session} ${mark} ${merged ?? '-'}\n`;
  if (known.length > 0) {
    appendFileSync(file, line);
    return;
  }
  const temporary = `${file}.${randomName()}`;
  writeFileSync(temporary, line, { mode: 0o600 });
  renameSync(temporary, file);
}

/** The sessions on record as having begun it; usually one. */
export function readBeginners(gitDir: string, { mark }: Operation): SessionId[] {
  return readLines(gitDir)
    .filter((line) => line.mark === mark)
    .map(({ session }) => session);
}

/** The trees on record as merged by it. */
export function readMerged(gitDir: string, { mark }: Operation): Oid[] {
  return readLines(gitDir).flatMap((line) => (line.mark === mark ? (line.merged ?? []) : []));
}

/** Nothing is unfinished any more. */
export function forgetBeginners(gitDir: string): void {
  rmSync(join(gitDir, FILE), { force: true });
}

function readLines(gitDir: string): { session: SessionId; mark: string; merged: Oid | undefined }[] {
  let text = '';
  try {
    text = readFileSync(join(gitDir, FILE), 'utf8');
  } catch {
    // Nothing is on record.
  }
  return text.split('\n').flatMap((line) => {
    const [name, mark = '', merged = ''] = line.split(' ');
    const session = parseSessionId(name);
    return session === undefined ? [] : [{ session, mark, merged: parseOid(merged) }];
  });
}
