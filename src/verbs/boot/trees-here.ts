import type { Oid, SessionId } from '../../domain/names.ts';
import type { Tried } from '../../domain/tried.ts';
import { runGit } from '../../git/run.ts';
import type { Context } from '../../sessions/caller.ts';
import { readSessionWork, workOfSession } from '../sharing/session-work.ts';
import { TreeBuilder } from '../sharing/session-tree.ts';

/**
 * Returns the trees that a reader of the note may continue on: those of the given commits. If a command was tried on another
 * tree, also returns for each given session the tree of HEAD with that session's uncommitted changes.
 */
export async function treesHere(
  tried: readonly Tried[],
  commits: readonly (Oid | undefined)[],
  sessions: readonly (SessionId | undefined)[],
  context: Context,
): Promise<ReadonlySet<string>> {
  const here = new Set<string>();
  if (tried.length === 0) return here;
  for (const commit of new Set(commits)) {
    if (commit === undefined) continue;
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{tree}`];
    here.add((await runGit(args, { cwd: context.cwd })).stdout.toString('utf8').trim());
  }
  if (tried.some(({ tree }) => !here.has(tree)))
    for (const tree of await uncommittedTrees(sessions, context).catch(() => [])) here.add(tree);
  return here;
}

async function uncommittedTrees(
  sessions: readonly (SessionId | undefined)[],
  context: Context,
): Promise<Oid[]> {
  const scene = await readSessionWork({ pathspecs: [], session: undefined }, context);
  const trees: Oid[] = [];
  for (const session of new Set(sessions)) {
    if (session === undefined) continue;
    await TreeBuilder.use(scene, context, 'scratch', async (builder) => {
      const failed = await builder.add((await workOfSession(scene, session)).parts);
      if (failed.length === 0) trees.push(await builder.tree());
    });
  }
  return trees;
}
