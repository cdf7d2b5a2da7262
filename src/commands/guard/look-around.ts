import type { SessionId } from '../../domain/names.ts';
import { HANDOFFS, KEPT } from '../../git/namespace.ts';
import { listRefs } from '../../git/refs.ts';
import { openRepository } from '../../git/repository.ts';
import { readTopics } from '../../store/topic.ts';
import { checkGuardedFiles } from '../guarded-files.ts';
import { reportIllegalMoves } from '../report-illegal.ts';
import type { Scene } from './scene.ts';

/** What happened behind git-handoff's back, each change once. */
export async function lookAround(scene: Scene, session: SessionId): Promise<string[]> {
  return [...(await checkGuardedFiles(scene.cwd, session, scene.remaining())), ...(await movedRefs(scene))];
}

/** One listing tells whether any public ref differs from what was kept; only then topics are read. */
async function movedRefs(scene: Scene): Promise<string[]> {
  const refs = await listRefs({ cwd: scene.cwd }, [HANDOFFS, KEPT], {
    content: false,
    timeoutMs: scene.remaining(),
  });
  const oids = (prefix: string) =>
    new Map(
      refs.flatMap((ref) => (ref.name.startsWith(prefix) ? [[ref.name.slice(prefix.length), ref.oid]] : [])),
    );
  const [open, kept] = [oids(HANDOFFS), oids(KEPT)];
  const same = open.size === kept.size && [...open].every(([name, oid]) => kept.get(name) === oid);
  if (same) return [];
  const repository = await openRepository(scene.cwd);
  return reportIllegalMoves(repository, await readTopics(repository), scene.now);
}
