import { basename, dirname, join, relative } from 'node:path';
import { escapeLine, Failure, shellWord } from '../domain/messages.ts';
import { isFolder, realPath, readPlainFile, replaceFile } from './disk.ts';

/** Where and how a verb writes its output. */
interface Output {
  /** Absolute. */
  readonly path: string;
  /** The path as people typed it; `undefined` when git-handoff chose it. */
  readonly typed: string | undefined;
  /** The top of the working tree; `undefined` in a bare repository. */
  readonly top: string | undefined;
  readonly commonDir: string;
  /** Bytes. A larger file is not replaced. */
  readonly limit: number;
  readonly mode: number;
  /** Returns a failure when the file's present content must not be replaced. */
  readonly refuse: (found: Buffer) => Failure | undefined | Promise<Failure | undefined>;
}

/**
 * Writes a text to a file in one step. It never writes to a folder, to a link, through a link that leads out of the
 * working tree, or into git's own folder. Returns false if the file had that very content already.
 *
 * @throws Failure `refused`, `usage`, `environment`, or the failure that `refuse` returned; then nothing was changed
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
  const target = join(real, basename(path));
  const isGits =
    !leadsOut(relative(realPath(commonDir), target)) ||
    target.split('/').some((part) => /^\.git$/i.test(part));
  const refuse = (why: string) => new Failure('refused', `${shown} is not written: ${why}`, { hint: look });
  if (isGits) throw refuse("it is in git's own folder");
  const way = top === undefined ? '..' : relative(top, folder);
  if (top !== undefined && !leadsOut(way) && real !== join(realPath(top), way))
    throw refuse('a symbolic link is on the way there');
}
