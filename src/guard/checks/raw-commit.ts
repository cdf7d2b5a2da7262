import { commitWords } from '../../changes/hint-words.ts';
import { peerNames } from '../../domain/names.ts';
import { parseCommitWords } from '../../shell/commit-words.ts';
import type { FoundRepository } from '../../git/discover.ts';
import type { GitVerbCall } from '../../shell/effects.ts';
import { type TreeCall, type Finding, refusedFor } from '../call.ts';
import type { CommandFacts } from '../facts.ts';
import { callsInWorktree } from './reach.ts';
import { typedAt } from './typed.ts';

/**
 * Refuses a plain `git commit` in Gemini CLI while another session is live. Gemini CLI's shell empties `core.hooksPath`, so
 * no git hook would check what the commit includes. A lone session's commit goes unchecked.
 */
export async function rawCommit(call: TreeCall, facts: CommandFacts): Promise<readonly Finding[]> {
  const commit = callsInWorktree(call, facts.effects).find(({ verb }) => verb === 'commit');
  if (facts.ledger() === undefined || commit === undefined) return [];
  const people = await facts.people();
  const owners = [...people.foreign];
  if (owners.length === 0) return [];
  const text =
    `No git hook runs in this shell, so the commit could include changes of ${peerNames(owners, people)}, ` +
    "and the repository's own checks would be skipped. Nothing was run. Commit your own changes with this instead, " +
    `which runs the repository's hooks and signs as configured: ${commitInstead(call, commit)}`;
  return [refusedFor(text, owners)];
}

/** Returns the `git handoff commit` for `found` that replaces a refused commit, with that commit's options if all are known. */
export function commitInstead(
  call: TreeCall,
  { verb, words, input, cwd = call.cwd }: GitVerbCall,
  found: FoundRepository = call.tree,
): string {
  const typed = words.filter((word) => word !== undefined);
  const isKnown = verb === 'commit' && typed.length === words.length;
  const known = isKnown ? parseCommitWords(['git', 'commit', ...typed]) : undefined;
  const text = known?.file === '-' ? input : undefined;
  const source = { folder: cwd, text, amend: known?.amend === true };
  return `${typedAt(call, found).git} handoff ${commitWords(found.commonDir, known, source)}`;
}
