import { HANDOFFS, KEPT, parsePath } from '../../git/namespace.ts';
import { type Ref, parseRefNames } from '../../git/refs.ts';
import type { InRepository } from '../../git/repository.ts';
import { type TopicState, settledState, topicsFrom } from '../../notes/topic.ts';

const BESIDE_OID = ` ${KEPT}`;

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
    const { name, oid } = ref;
    const place = name.slice(HANDOFFS.length);
    const start = at + oid.length + BESIDE_OID.length;
    const end = start + place.length;
    const isKept =
      kept.startsWith(oid, at) &&
      kept.startsWith(BESIDE_OID, at + oid.length) &&
      kept.startsWith(place, start) &&
      kept[end] === '\n';
    const path = isKept ? parsePath(name, HANDOFFS) : undefined;
    const state = path === undefined ? undefined : settledState(path, ref, oid, oid);
    if (state === undefined) break;
    states.push(state);
    at = end + 1;
  }
  const isAll = states.length === publicRefs.length && at === kept.length;
  return isAll ? states : topicsFrom(repository, publicRefs, parseRefNames(kept));
}
