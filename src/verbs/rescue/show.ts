import { Failure } from '../../domain/failure.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { Context } from '../../sessions/caller.ts';
import { clientsOf } from '../../sessions/records.ts';
import { noteShape } from '../handoff-shape.ts';
import type { CommandResult } from '../result.ts';
import type { NoteShape, RescueShape } from '../shapes.ts';
import { readStored, storedFiles, wantedPaths } from './contents.ts';
import { rescueShape } from './list.ts';
import { openRescues, select } from './rescues.ts';

interface RescueShowOptions {
  readonly which: string;
  readonly paths: readonly string[];
  /** The bytes of one file and nothing else. */
  readonly raw: boolean;
}

/** The text of a rescued file: `note`, or `noteBase64` when it is not UTF-8. */
export type RescuedText = { readonly path: string } & NoteShape;

export interface RescueShowValue {
  readonly rescue: RescueShape;
  readonly items: readonly RescuedText[];
}

/**
 * What a rescue holds, with the contents.
 *
 * @throws Failure `not-found`; `usage` when `--raw` does not name one file; `integrity` when a content is gone
 */
export async function showRescued(
  { which, paths, raw }: RescueShowOptions,
  context: Context,
): Promise<CommandResult<RescueShowValue>> {
  const { cwd } = context;
  const rescues = await openRescues(context);
  const { top, workspace } = rescues;
  const { rescue, files } = select(rescues, { which, paths: wantedPaths(paths, cwd, top) });
  if (raw && files.length !== 1) {
    throw new Failure('usage', `--raw prints one file, not ${files.length}`, {
      hint: `git handoff rescue show ${rescue.number}`,
    });
  }
  const stored = await storedFiles(cwd, rescue, files);
  const contents = await readStored(cwd, stored);
  const items = stored.map((file, at): RescuedText => {
    const content = contents[at];
    if (content === undefined) throw gone(file.path);
    return { path: file.path, ...noteShape(content) };
  });
  const [bytes] = contents;
  const value = { rescue: rescueShape(rescue, files), items };
  const result = { value, notices: workspace.notices, clients: clientsOf(workspace.sessions) };
  return raw && bytes !== undefined ? { ...result, bytes } : result;
}

/** The failure of a rescue whose objects are missing. */
export function gone(path: string): Failure {
  return new Failure('integrity', `the kept content of ${escapeLine(path)} is missing or damaged`, {
    hint: 'git fsck',
  });
}
