import { Failure } from '../failure.ts';
import { parseBranchName } from '../names.ts';
import { escapeLine } from '../surfacing.ts';

/**
 * Checks the setting `handoff.remotePrefix`.
 *
 * @throws Failure `usage` when no ref could stand below it
 */
export function checkRemotePrefix(text: string): string {
  const isPrefix = /^refs\/.*\/$/.test(text) && parseBranchName(text.slice(0, -1)) !== undefined;
  // Everybody's branches and tags are no place for handoffs, our own bookkeeping is none either.
  const isTaken = /^refs\/(?:(?:heads|tags|remotes|notes)\/$|handoffs-)/.test(text);
  if (isPrefix && !isTaken) return text;
  throw new Failure(
    'usage',
    `handoff.remotePrefix is not a valid prefix of refs: ${escapeLine(JSON.stringify(text))}`,
    {
      hint: 'git config handoff.remotePrefix refs/heads/handoffs/',
    },
  );
}
