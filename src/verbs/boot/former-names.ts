import { type Limits, renamedBranches } from '../../git/branches.ts';
import type { Repository } from '../../git/repository.ts';
import { latestName } from './branch-place.ts';

/** The names that the current branch had before. */
export async function listRenamed({ cwd, branch }: Repository, limits: Limits): Promise<string[]> {
  try {
    const renamed = await renamedBranches(cwd, limits);
    return [...renamed.keys()].filter((old) => latestName(renamed, old) === branch);
  } catch {
    return [];
  }
}
