import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { SHELLS, offeredVerbs } from './model.ts';
import { zshCompletion } from './zsh.ts';
import type { VerbTable } from '../../verbs/verb.ts';

const WRITERS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** What a shell has to read to complete this release's verbs and options; undefined for a shell that we do not know. */
export function completionScript(shell: string, verbs: VerbTable): string | undefined {
  const known = SHELLS.find((name) => name === shell);
  return known === undefined ? undefined : WRITERS[known](offeredVerbs(verbs));
}
