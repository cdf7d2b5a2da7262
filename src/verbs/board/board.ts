import { join, resolve } from 'node:path';
import { openRepository } from '../../git/repository.ts';
import { isInitialised, repositoryFolder } from '../../host/folders.ts';
import { collectBoard } from './collect.ts';
import { ownFolder, putPage } from './output.ts';
import type { Board } from '../../ui/board/shape.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import type { BoardShape } from '../shapes.ts';

interface BoardOptions {
  /** As typed; `-` is standard output. */
  readonly output: string | undefined;
  /** Makes the page: the user interface's part. */
  readonly compose: (board: Board) => string;
}

/**
 * Writes one page that shows sessions, handoffs, commits and refusals over time.
 *
 * @throws Failure `refused` or `usage` when the file is not ours to replace, `environment` when it cannot be written
 */
export async function board(options: BoardOptions, context: Context): Promise<CommandResult<BoardShape>> {
  const { cwd, now } = context;
  const { commonDir } = await openRepository(cwd);
  const found = await collectBoard(cwd, now);
  const page = Buffer.from(options.compose(found));
  const counts = {
    sessions: found.sessions.length,
    handoffs: found.topics.length,
    refusals: found.refusals.length,
  };
  const value = { ...counts, bytes: page.length };
  if (options.output === '-') return { value: { ...value, file: null }, bytes: page };
  const file =
    options.output === undefined
      ? join(isInitialised(commonDir) ? repositoryFolder(commonDir) : ownFolder(), 'board.html')
      : resolve(cwd, options.output);
  putPage(file, page, { typed: options.output, commonDir });
  return { value: { ...value, file } };
}
