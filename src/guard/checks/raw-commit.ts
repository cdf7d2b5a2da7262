import { commitWords } from '../../changes/hint-words.ts';
import { peerNames } from '../../domain/names.ts';
import { parseCommitWords } from '../../shell/commit-words.ts';
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
  const place = facts.ledger()?.place;
  const commit = callsInWorktree(call, facts.effects).find(({ verb }) => verb === 'commit');
  if (place === undefined || commit === undefined) return [];
  const people = await facts.people();
  const owners = [...people.foreign];
  if (owners.length === 0) return [];
  const how = { git: typedAt(call).git, commonDir: place.commonDir, folder: commit.cwd ?? call.cwd };
  const text =
    `No git hook runs in this shell, so the commit could include changes of ${peerNames(owners, people)}, ` +
    "and the repository's own checks would be skipped. Nothing was run. Commit your own changes with this instead, " +
    `which runs the repository's hooks and signs as configured: ${commitInstead(commit, how)}`;
  return [refusedFor(text, owners)];
}

/** Where the command that replaces a refused commit will run. */
interface Instead {
  readonly git: string;
  readonly commonDir: string;
  /** The folder in which the refused call would have run; absolute. */
  readonly folder: string;
}

/** Returns `git handoff commit` with the options of a refused `git commit`, if all its words are known. */
export function commitInstead(
  { verb, words, input }: Pick<GitVerbCall, 'verb' | 'words' | 'input'>,
  { git, commonDir, folder }: Instead,
): string {
  const typed = words.filter((word) => word !== undefined);
  const isKnown = verb === 'commit' && typed.length === words.length;
  const known = isKnown ? parseCommitWords(['git', 'commit', ...typed]) : undefined;
  const text = known?.file === '-' ? input : undefined;
  return `${git} handoff ${commitWords(commonDir, known, { folder, text, amend: known?.amend === true })}`;
}
