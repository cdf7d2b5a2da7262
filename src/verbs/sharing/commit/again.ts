import { messageWords, otherWords, textWords } from '../../../changes/hint-words.ts';
import { type GitCommitOptions, opensEditor, optionsOf } from './attempt.ts';
import type { CommitScene } from './scene.ts';

/** The command that was typed, to be typed again for a part of what it was meant for. */
export interface Again {
  readonly done: 'committed' | 'staged' | 'written';
  /** Without paths; `undefined` where git takes all or nothing. */
  readonly command: string | undefined;
}

/** `git handoff commit` as it was typed: the message and the options stay. */
export function commitAgain({ work }: CommitScene, words: GitCommitOptions): Again {
  const { commonDir } = work.tree;
  const { messages, text } = words;
  const message = text === undefined ? messageWords(commonDir, messages) : textWords(commonDir, text);
  const asked = opensEditor(words) ? (words.amend ? ' --no-edit' : " -m '<message>'") : message;
  return { done: 'committed', command: `git handoff commit${asked}${otherWords(optionsOf(words))}` };
}

/** The commands of a refusal of some paths: for the rest, where there is one, and the take for all of them. */
export function withoutOrTaken(
  { typedPaths, plainPaths }: CommitScene,
  { command }: Again,
  { rest, refused }: { rest: readonly string[]; refused: readonly string[] },
): { hint: string; otherHint?: string } {
  const take = `git handoff take${plainPaths(refused)}`;
  if (rest.length === 0 || command === undefined) return { hint: take };
  return { hint: `${command}${typedPaths(rest)}`, otherHint: take };
}
