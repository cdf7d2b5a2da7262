import { Failure } from '../../domain/failure.ts';
import { isOnlyStaged } from '../../domain/snapshot.ts';
import type { Context } from '../../sessions/caller.ts';
import { clientsOf } from '../../sessions/records.ts';
import { noteShape } from '../handoff-shape.ts';
import type { CommandResult } from '../verb.ts';
import type { NoteShape, RescueShape } from '../shapes.ts';
import { readKept } from '../../snapshot/commit.ts';
import { wantedPaths } from './contents.ts';
import { rescueShape } from './list.ts';
import { openRescues, select } from './rescues.ts';

interface RescueShowOptions {
  readonly which: string;
  readonly paths: readonly string[];
  /** Whether to print only the bytes of one file. */
  readonly raw: boolean;
}

/** The text of a rescued file: `note`, or `noteBase64` when it is not UTF-8. */
export type RescuedText = {
  readonly path: string;
  /** The blob of the staged content, if it differed from the file and from HEAD. */
  readonly staged?: string;
} & NoteShape;

export interface RescueShowValue {
  readonly rescue: RescueShape;
  readonly items: readonly RescuedText[];
}

/**
 * Shows what a rescue holds, with the contents.
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
  const { rescue, items: kept } = await select(cwd, rescues, { which, paths: wantedPaths(paths, cwd, top) });
  if (raw && kept.length !== 1) {
    throw new Failure('usage', `--raw prints one file, not ${kept.length}`, {
      hint: `git handoff rescue show ${rescue.number}`,
    });
  }
  const contents = await readKept(cwd, kept);
  const items = kept.map((item, at): RescuedText => {
    const staged = isOnlyStaged(item) && item.disk !== null ? (item.index?.oid ?? undefined) : undefined;
    const text = noteShape(contents[at] ?? Buffer.alloc(0));
    return { path: item.path, ...(staged === undefined ? {} : { staged }), ...text };
  });
  const [bytes] = contents;
  const value = { rescue: rescueShape(rescue, kept), items };
  const result = { value, notices: workspace.notices, clients: clientsOf(workspace.sessions) };
  return raw && bytes !== undefined ? { ...result, bytes } : result;
}
