import type { Oid } from '../../domain/names.ts';
import {
  SENT,
  UNPACKED,
  WORK,
  encodeRemote,
  handoffRef,
  parseWorkRef,
  remoteWorkRef,
} from '../../git/namespace.ts';
import { type RefValue, listRefNames } from '../../git/refs.ts';
import type { Remote } from '../../git/remotes.ts';
import { deleteOnRemote } from '../../git/remote-deletion.ts';
import { workTreeTop } from '../../git/repository.ts';
import type { TopicState } from '../../notes/topic.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { settleUnpacked } from '../../notes/work/unpacked-work.ts';
import { dropWork } from '../../notes/work/work-refs.ts';
import type { SyncShape } from '../shapes.ts';
import type { SyncWorld } from './world.ts';

/** The refs of the work that this clone keeps, has sent and has unpacked. */
export function workRefs(repository: SyncWorld['repository']): Promise<RefValue[]> {
  return listRefNames(repository, [WORK, SENT, UNPACKED]);
}

/**
 * Deletes work from a remote once it is over: its note is closed or gone, or it was unpacked here and committed. If the remote
 * refuses, the next push tries again.
 */
export async function retireWork(
  { repository, context, prefix, component: asked }: SyncWorld,
  remote: Remote,
  refs: readonly RefValue[],
  states: readonly TopicState[],
): Promise<void> {
  // A note that cannot be read may be open.
  const open = new Set(
    states.filter(({ tip }) => tip?.trailers?.state !== 'closed').map(({ path }) => handoffRef(path)),
  );
  const below = `${SENT}${encodeRemote(remote.name)}/`;
  const sent = refs.flatMap((record) => {
    const path = parseWorkRef(record.name, below);
    // The notes of other branches were not read.
    if (path === undefined || (asked !== undefined && path.component !== asked)) return [];
    return open.has(handoffRef(path)) ? [] : [{ ...path, record }];
  });
  const isUnpacked = refs.some(({ name }) => name.startsWith(UNPACKED));
  const top = isUnpacked ? await workTreeTop(repository) : undefined;
  const settled = top === undefined ? [] : await settleUnpacked(repository, top, context.now);
  for (const { component, topic, oid, record } of [...sent, ...settled]) {
    const ref = remoteWorkRef(prefix, { component, topic }, oid);
    const { kind } = await deleteOnRemote(repository.cwd, remote.name, ref, oid);
    if (kind !== 'refused') await dropWork(repository, [record]);
  }
}

/** Tells for each note just pushed that its work was not sent. */
export function stayedNotices(
  items: readonly SyncShape[],
  states: readonly TopicState[],
  refs: readonly RefValue[],
  leaving: readonly { readonly oid: Oid }[],
): string[] {
  const pushed = new Set(items.filter(({ action }) => action === 'pushed').map(({ ref }) => ref));
  const kept = new Set(refs.filter(({ name }) => name.startsWith(WORK)).map(({ oid }) => oid));
  const sent = new Set(
    [...refs.filter(({ name }) => name.startsWith(SENT)), ...leaving].map(({ oid }) => oid),
  );
  return states.flatMap(({ path, branch, topic, tip }) => {
    const work = tip?.trailers?.work;
    if (work === undefined || !kept.has(work) || sent.has(work) || !pushed.has(handoffRef(path))) return [];
    const name = typedTopic(branch, topic);
    return [`the work of ${name} stays on this machine; to send it: git handoff push --with-work ${name}`];
  });
}
