import { renamedBranches } from '../../git/branches.ts';
import type { Repository } from '../../git/repository.ts';
import { latestName } from './branch-place.ts';
import { LIMITS } from './limits.ts';

/** The names that the current branch had before. */
export async function listRenamed({ cwd, branch }: Repository): Promise<string[]> {
  try {
    const renamed = await renamedBranches(cwd, LIMITS);
    return [...renamed.keys()].filter((old) => latestName(renamed, old) === branch);
  } catch {
    return [];
  }
}
