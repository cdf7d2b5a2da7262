import { deleteTopics } from '../../notes/prune.ts';
import { type TopicState, readTopics } from '../../notes/topic.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import { byAge } from '../../notes/find-topic.ts';
import type { HandoffShape } from '../shapes.ts';
import { handoffShape } from '../handoff-shape.ts';
import { openWorkspace } from '../workspace.ts';

interface PruneOptions {
  /** Milliseconds since the last change. */
  readonly olderThanMs: number;
  /** The age as it was typed, for the command that is printed. */
  readonly age: string;
  /** Without it nothing is deleted, only listed. */
  readonly yes: boolean;
  readonly session: string | undefined;
}

export interface PruneValue {
  readonly items: readonly (HandoffShape & { readonly deleted: boolean })[];
  readonly olderThan: string;
}

/** Deletes closed handoffs that nobody has changed for so long. Open ones are never touched. */
export async function prune(options: PruneOptions, context: Context): Promise<CommandResult<PruneValue>> {
  const { repository, sessions, notices } = await openWorkspace(context);
  const reader = findSession(context, sessions, options.session)?.id;
  const old = (await readTopics(repository)).filter((state) =>
    isOver(state, context.now - options.olderThanMs),
  );
  const gone = new Set(options.yes ? await deleteTopics(repository, old) : []);
  const items = old.sort(byAge).flatMap((state) => {
    if (state.tip === undefined) return [];
    const shape = handoffShape(state, state.tip, reader);
    return [{ ...shape, deleted: gone.has(state) }];
  });
  const moved = options.yes ? items.length - gone.size : 0;
  return {
    value: { items, olderThan: options.age },
    notices: [
      ...notices,
      ...(moved === 0 ? [] : [`${moved} changed meanwhile and stayed: git handoff list --all`]),
    ],
    exitCode: items.length === 0 ? 1 : 0,
  };
}

/** Closed, settled, and not changed since `before` (milliseconds since the epoch). */
function isOver({ tip, illegal }: TopicState, before: number): boolean {
  return illegal === undefined && tip?.trailers?.state === 'closed' && tip.seconds * 1000 < before;
}
