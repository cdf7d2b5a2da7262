import type { HandoffCommit } from '../../domain/handoff.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { workSizeText } from '../../domain/work.ts';
import { readSettings, readTreeConfig } from '../../git/config.ts';
import type { Repository } from '../../git/repository.ts';
import type { TopicState } from '../../notes/topic.ts';
import { authorText } from '../../notes/work/find-work.ts';
import { readWork } from '../../notes/work/work-commit.ts';
import { carriedWork, keptWork } from '../../notes/work/work-refs.ts';
import type { Context } from '../../sessions/caller.ts';
import { restoreSnapshot, treePlace } from '../../snapshot/restore.ts';
import type { CarriedShape } from '../shapes.ts';
import { mergeOf } from './unpack.ts';

/** What a note carries, for a reader who decides whether to unpack it. Fetches nothing. `null`: no work. */
export async function carriedFacts(
  repository: Repository,
  state: TopicState,
  tip: HandoffCommit,
  { top, context }: { readonly top: string | undefined; readonly context: Context },
): Promise<CarriedShape | null> {
  // Reads the history only if it may name work.
  if (tip.trailers?.work === undefined && (await keptWork(repository, state.path)).length === 0) return null;
  const carried = await carriedWork(repository, tip);
  if (carried === undefined) return null;
  const { cwd } = repository;
  const { maxWork } = await readSettings(cwd);
  const work = await readWork({ cwd }, carried.oid, maxWork);
  const size = carried.size === undefined ? 'of unknown size' : workSizeText(carried.size);
  if (work === undefined) return { author: authorText(tip), size, unpacks: 'not fetched', why: null };
  if (typeof work === 'string') return { author: authorText(tip), size, unpacks: 'no', why: work };
  const known = { author: authorText(work), size: workSizeText(work.size) };
  if (top === undefined) return { ...known, unpacks: 'no', why: 'there is no working tree here' };
  const how = mergeOf(work, await readTreeConfig(cwd), false);
  const place = treePlace(repository, top, context.env);
  const plan = await restoreSnapshot(place, work.work, { how, now: context.now, dryRun: true });
  const [refused] = plan.refused;
  if (refused === undefined) {
    const isThere = plan.paths.every(({ writes, stages }) => !writes && !stages);
    return { ...known, unpacks: isThere ? 'is there' : 'cleanly', why: null };
  }
  const more = plan.refused.length > 1 ? ` (and ${plan.refused.length - 1} more)` : '';
  return { ...known, unpacks: 'no', why: escapeLine(`${refused.path} ${refused.why}${more}`) };
}
