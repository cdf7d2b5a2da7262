import type { SessionId } from '../../domain/names.ts';
import type { HandoffPath } from '../../git/namespace.ts';
import type { InRepository } from '../../git/repository.ts';
import { readWork } from './work-commit.ts';
import { dropWork, keptWork } from './work-refs.ts';

/** Deletes a topic's work that `author` packed. Others' work stays, for `doctor` to move to the rescues. */
export async function dropOwnWork(
  repository: InRepository,
  path: HandoffPath,
  author: SessionId,
): Promise<void> {
  for (const ref of await keptWork(repository, path)) {
    const work = await readWork({ cwd: repository.cwd }, ref.oid, Infinity);
    if (typeof work === 'object' && work.trailers.owner === author) await dropWork(repository, [ref]);
  }
}
