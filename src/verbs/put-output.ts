import { basename, dirname, join, relative } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { escapeLine, shellWord } from '../domain/surfacing.ts';
import { isFolder, realPath } from '../host/disk.ts';
import { replaceFile } from '../host/output-file.ts';
import { readPlainFile } from '../host/plain-files.ts';

/** Where a verb puts what it made. */
interface Output {
  /** Absolute. */
  readonly path: string;
  /** As people typed it; `undefined`: the place is ours. */
  readonly typed: string | undefined;
  /** Top of the working tree; `undefined` in a bare repository. */
  readonly top: string | undefined;
  /** The repository's own folder. */
  readonly commonDir: string;
  /** Larger files are not replaced. */
  readonly limit: number;
  /** Of a new file. */
  readonly mode: number;
  /** Says why what stands there is not to be replaced. */
  readonly refuse: (found: Buffer) => Failure | undefined | Promise<Failure | undefined>;
}

/**
 * Puts a text into a file, in one step. A folder, a link and what lies behind a link that leads out of the working tree are
 * never written, nor is git's own folder. False: that very text stood there already.
 *
 * @throws Failure `refused`, `usage`, `environment` or what `refuse` says; then nothing was changed
 */
export async function putOutput(content: Buffer, output: Output): Promise<boolean> {
  const { path, typed, limit, mode } = output;
  const shown = escapeLine(typed ?? path);
  const look = `ls -ld -- ${shellWord(typed ?? path)}`;
  requirePlace(output, shown, look);
  const found = readPlainFile(path, limit);
  if (found.kind === 'refused')
    throw new Failure('refused', `${shown} is not replaced: ${found.why}`, { hint: look });
  if (found.kind === 'file') {
    if (found.bytes.equals(content)) return false;
    const failure = await output.refuse(found.bytes);
    if (failure !== undefined) throw failure;
  }
  try {
    replaceFile(path, content, mode);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    throw new Failure('environment', `${shown} cannot be written (${code})`, {
      hint: `ls -ld -- ${shellWord(dirname(path))}`,
      cause: error,
    });
  }
  return true;
}

const leadsOut = (way: string) => /^\.\.(?:\/|$)/.test(way);

function requirePlace({ path, typed, top, commonDir }: Output, shown: string, look: string): void {
  const folder = dirname(path);
  if (typed?.endsWith('/') === true)
    throw new Failure('usage', `${shown} is a folder; name a file`, { hint: look });
  if (!isFolder(folder)) {
    throw new Failure('usage', `there is no folder ${escapeLine(folder)}`, {
      hint: `mkdir -p -- ${shellWord(folder)}`,
    });
  }
  if (typed === undefined) return;
  const real = realPath(folder);
  const isGits =
    !leadsOut(relative(realPath(commonDir), join(real, basename(path)))) ||
    join(real, basename(path))
      .split('/')
      .some((part) => /^\.git$/i.test(part));
  if (isGits)
    throw new Failure('refused', `${shown} is not written: it is in git's own folder`, { hint: look });
  const way = top === undefined ? '..' : relative(top, folder);
  if (top !== undefined && !leadsOut(way) && real !== join(realPath(top), way)) {
    const why = 'a symbolic link is on the way there';
    throw new Failure('refused', `${shown} is not written: ${why}`, { hint: look });
  }
}
