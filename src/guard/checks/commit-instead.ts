import { OUR_OPTIONS, otherWords, sourceWords } from '../../changes/hint-words.ts';
import { parseCommitWords } from '../../shell/commit-words.ts';
import type { GitVerbCall } from '../../shell/effects.ts';

/** How a refused commit is typed for the worktree that it was meant for. */
export interface Instead {
  readonly git: string;
  readonly commonDir: string;
  /** In which the refused call would have run; absolute. */
  readonly folder: string;
}

/** `git handoff commit` with the words of a refused `git commit`, when all of them are known. */
export function commitInstead(
  { verb, words, input }: Pick<GitVerbCall, 'verb' | 'words' | 'input'>,
  { git, commonDir, folder }: Instead,
): string {
  const typed = words.filter((word) => word !== undefined);
  const isKnown = verb === 'commit' && typed.length === words.length;
  const known = isKnown ? parseCommitWords(['git', 'commit', ...typed]) : undefined;
  const amend = known?.amend === true;
  const text = known?.file === '-' ? input : undefined;
  const source = sourceWords(commonDir, known, { folder, text, amend });
  const kept = otherWords(known?.kept.filter((word) => OUR_OPTIONS.test(word)) ?? []);
  return `${git} handoff commit${amend ? ' --amend' : ''}${source}${kept}`;
}
