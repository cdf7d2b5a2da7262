import { Failure } from '../../domain/failure.ts';
import type { HandoffCommit } from '../../domain/handoff.ts';
import { escapeLine } from '../../domain/surfacing.ts';

/** Of a history with the newest first, those that follow each other by first parents: what a merge was put on top of. */
export function firstLine(history: readonly HandoffCommit[]): HandoffCommit[] {
  let next = history[0]?.oid;
  return history.filter((commit) => {
    if (commit.oid !== next) return false;
    next = commit.parents[0];
    return true;
  });
}

/**
 * Finds a version of a topic by its object name or the beginning of it.
 *
 * @param name the topic as people type it
 * @throws Failure `not-found`, or `usage` for what cannot be an object name
 */
export function versionIn(history: readonly HandoffCommit[], text: string, name: string): HandoffCommit {
  const isName = /^[0-9a-f]{4,64}$/.test(text);
  const found = isName ? history.filter(({ oid }) => oid.startsWith(text)) : [];
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  throw new Failure(
    isName ? 'not-found' : 'usage',
    `${name} has no version ${escapeLine(JSON.stringify(text))}`,
    {
      hint: `git handoff log ${name}`,
    },
  );
}
