import { HANDOFFS, KEPT, parsePath } from '../../git/namespace.ts';
import { type Ref, parseRefNames } from '../../git/refs.ts';
import type { InRepository } from '../../git/repository.ts';
import { type TopicState, settledState, topicsFrom } from '../../notes/topic.ts';

/**
 * The topics of lists as git makes them, each in the order of names: where nothing was moved by hand, they go side by side.
 *
 * @param publicRefs with their content
 * @param kept `<oid> <name>` lines
 */
export async function topicsFromLists(
  repository: InRepository,
  publicRefs: readonly Ref[],
  kept: string,
): Promise<TopicState[]> {
  const states: TopicState[] = [];
  let at = 0;
  for (const ref of publicRefs) {
    const line = `${ref.oid} ${KEPT}${ref.name.slice(HANDOFFS.length)}\n`;
    const path = kept.startsWith(line, at) ? parsePath(ref.name, HANDOFFS) : undefined;
    const state = path === undefined ? undefined : settledState(path, ref, ref.oid);
    if (state === undefined) break;
    states.push(state);
    at += line.length;
  }
  const isAll = states.length === publicRefs.length && at === kept.length;
  return isAll ? states : topicsFrom(repository, publicRefs, parseRefNames(kept));
}
