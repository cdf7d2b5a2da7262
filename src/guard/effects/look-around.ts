import { HANDOFFS, KEPT, RESCUE, STASH } from '../../git/namespace.ts';
import { type Ref, listRefs } from '../../git/refs.ts';
import { openRepository } from '../../git/repository.ts';
import { isStashing } from '../../rescue/stash-owners.ts';
import { readTopics } from '../../notes/topic.ts';
import { checkGuardedFiles } from '../../notes/settle-guarded-files.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import type { TreeCall } from '../call.ts';
import { seeStash } from './rescue/see-stash.ts';

/** What happened behind git-handoff's back, each change once. */
export async function lookAround(call: TreeCall, command: string): Promise<string[]> {
  const changed = await checkGuardedFiles(call.tree.folder, call.session, call.budget.left());
  return [...changed, ...(await movedRefs(call, command))];
}

/** One listing tells whether any public ref differs from what was kept; only then topics are read. */
async function movedRefs(call: TreeCall, command: string): Promise<string[]> {
  const refs = await listRefs({ cwd: call.tree.folder }, [HANDOFFS, KEPT, STASH, RESCUE], {
    content: false,
    timeoutMs: call.budget.left(),
  });
  await newStash(call, command, refs);
  const below = (prefix: string) =>
    new Map(
      refs.flatMap(({ name, oid }) => (name.startsWith(prefix) ? [[name.slice(prefix.length), oid]] : [])),
    );
  const [open, kept] = [below(HANDOFFS), below(KEPT)];
  if (open.size === kept.size && [...open].every(([place, oid]) => kept.get(place) === oid)) return [];
  const repository = await openRepository(call.tree.folder);
  return reportIllegalMoves(repository, await readTopics(repository), call.now);
}

/** An entry of the stash that no ref of ours keeps yet. */
async function newStash(call: TreeCall, command: string, refs: readonly Ref[]): Promise<void> {
  const tip = refs.find(({ name }) => name === STASH)?.oid;
  const isKnown = tip === undefined || refs.some(({ name, oid }) => name !== STASH && oid === tip);
  if (isKnown && !isStashing(call.tree.commonDir, call.session)) return;
  await seeStash(call, command).catch((error: unknown) => {
    call.log('open', `the stash was not looked at: ${String(error)}`);
  });
}
