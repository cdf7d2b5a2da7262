import { appendFileSync, rmSync } from 'node:fs';
import { type Oid, type SessionId, parseOid, parseSessionId } from '../domain/names.ts';
import type { Operation } from '../git/operations.ts';
import { readText } from '../host/disk.ts';
import { beginnersFile } from '../host/folders.ts';
import { putText } from '../host/output-file.ts';

/*
 * `<git-dir>/handoff-operation` says who began the merge, rebase … that is unfinished in a worktree: a line
 * `<session> <mark of the operation> <the tree that it merged, or ->` for each session that may have. git-hooks/pre-commit
 * looks whether it is there.
 */

/** Notes that this session began it. What is on record of an earlier operation goes. */
export function putBeginner(gitDir: string, session: SessionId, { mark }: Operation, merged?: Oid): void {
  const file = beginnersFile(gitDir);
  const known = readLines(gitDir).filter((line) => line.mark === mark);
  if (known.some((line) => line.session === session)) return;
  const line = `${session} ${mark} ${merged ?? '-'}\n`;
  if (known.length > 0) appendFileSync(file, line);
  else putText(file, line);
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
  rmSync(beginnersFile(gitDir), { force: true });
}

function readLines(gitDir: string): { session: SessionId; mark: string; merged: Oid | undefined }[] {
  return readText(beginnersFile(gitDir))
    .split('\n')
    .flatMap((line) => {
      const [name, mark = '', merged = ''] = line.split(' ');
      const session = parseSessionId(name);
      return session === undefined ? [] : [{ session, mark, merged: parseOid(merged) }];
    });
}
