import type { SessionId } from '../../domain/names.ts';
import { HANDOFFS, KEPT, RESCUE, STASH } from '../../git/namespace.ts';
import { type Ref, listRefs } from '../../git/refs.ts';
import { openRepository } from '../../git/repository.ts';
import { isStashing } from '../../rescue/stash-owners.ts';
import { readTopics } from '../../notes/topic.ts';
import { checkGuardedFiles } from '../../notes/settle-guarded-files.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import type { Scene } from '../scene.ts';

/** What happened behind git-handoff's back, each change once. */
export async function lookAround(scene: Scene, session: SessionId, command: string): Promise<string[]> {
  const changed = await checkGuardedFiles(scene.folder, session, scene.budget.left());
  return [...changed, ...(await movedRefs(scene, session, command))];
}

/** One listing tells whether any public ref differs from what was kept; only then topics are read. */
async function movedRefs(scene: Scene, session: SessionId, command: string): Promise<string[]> {
  const refs = await listRefs({ cwd: scene.folder }, [HANDOFFS, KEPT, STASH, RESCUE], {
    content: false,
    timeoutMs: scene.budget.left(),
  });
  await newStash(scene, session, command, refs);
  const oids = (prefix: string) =>
    new Map(
      refs.flatMap((ref) => (ref.name.startsWith(prefix) ? [[ref.name.slice(prefix.length), ref.oid]] : [])),
    );
  const [open, kept] = [oids(HANDOFFS), oids(KEPT)];
  const same = open.size === kept.size && [...open].every(([name, oid]) => kept.get(name) === oid);
  if (same) return [];
  const repository = await openRepository(scene.folder);
  return reportIllegalMoves(repository, await readTopics(repository), scene.now);
}

/** An entry of the stash that no ref of ours keeps yet. */
async function newStash(
  scene: Scene,
  session: SessionId,
  command: string,
  refs: readonly Ref[],
): Promise<void> {
  const tip = refs.find(({ name }) => name === STASH)?.oid;
  const isKnown = tip === undefined || refs.some(({ name, oid }) => name !== STASH && oid === tip);
  const { place } = scene;
  if (isKnown && (place === undefined || !isStashing(place.commonDir, session))) return;
  const { seeStash } = await import('./rescue/see-stash.ts');
  await seeStash(scene, session, command).catch((error: unknown) => {
    scene.log('open', `the stash was not looked at: ${String(error)}`);
  });
}
