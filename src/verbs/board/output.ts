import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { isFolder, realPath } from '../../host/disk.ts';
import { replaceFile } from '../../host/output-file.ts';
import { readPlainFile } from '../../host/plain-files.ts';

/** How every page of ours begins: what begins so may be replaced. */
export const PAGE_START = '<!doctype html>\n<html lang="en" data-git-handoff="board">';

const MAX_PAGE_BYTES = 256 * 1024 * 1024;
/** Notes are for those who can read the repository. */
const OWNER_ONLY = 0o600;

/** A folder of its own for a page of a repository that has none of ours. */
export function ownFolder(): string {
  return mkdtempSync(join(tmpdir(), 'git-handoff-'));
}

/**
 * Puts a page into a file; what stands there is replaced only if it is a page of ours.
 *
 * @param typed the name as people typed it; `undefined`: the place is ours
 * @throws Failure `refused`, `usage` or `environment`; then nothing was changed
 */
export function putPage(
  path: string,
  page: Buffer,
  { typed, commonDir }: { typed: string | undefined; commonDir: string },
): void {
  const shown = escapeLine(typed ?? path);
  const other = 'git handoff board --output board.html';
  if (typed?.endsWith('/') === true || !isFolder(dirname(path))) {
    const message = typed?.endsWith('/') === true ? 'names a folder' : 'is in a folder that is not there';
    throw new Failure('usage', `${shown} ${message}`, { hint: `mkdir -p -- ${shellWord(dirname(path))}` });
  }
  const within = relative(realPath(commonDir), join(realPath(dirname(path)), basename(path)));
  if (typed !== undefined && !/^\.\.(?:\/|$)/.test(within)) {
    throw new Failure('refused', `${shown} is not written: it is in git's own folder`, { hint: other });
  }
  const found = readPlainFile(path, MAX_PAGE_BYTES);
  if (found.kind === 'refused') {
    throw new Failure('refused', `${shown} is not replaced: ${found.why}`, { hint: other });
  }
  if (found.kind === 'file' && !found.bytes.subarray(0, PAGE_START.length).equals(Buffer.from(PAGE_START))) {
    throw new Failure('refused', `${shown} exists, and git handoff board did not write it`, {
      hint: `ls -ld -- ${shellWord(typed ?? path)}`,
    });
  }
  try {
    replaceFile(path, page, OWNER_ONLY);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    throw new Failure('environment', `${shown} cannot be written (${code})`, {
      hint: `ls -ld -- ${shellWord(dirname(path))}`,
      cause: error,
    });
  }
}
