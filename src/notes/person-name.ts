import type { HandoffCommit } from '../domain/handoff.ts';
import { isPerson, ownerName } from '../domain/names.ts';
import { cutToCharacters } from '../domain/messages.ts';
import { NAMELESS } from '../git/objects.ts';
import { personOf } from '../git/repository.ts';

/** Longer names are cut, because anybody who can push a note chooses a name. Characters. */
const MAX_NAME = 40;

/**
 * The name of the person who owns a handoff; `undefined` for a session. It is the committer's name, but only if the mail
 * address is the owner's: a merge or an imported note may be another person's commit.
 */
export function personName(
  commit: Pick<HandoffCommit, 'trailers' | 'name' | 'mail'> | undefined,
): string | undefined {
  const owner = commit?.trailers?.owner;
  if (commit === undefined || owner === undefined || !isPerson(owner)) return undefined;
  if (commit.name === '' || commit.name === NAMELESS) return undefined;
  if (personOf({ email: commit.mail }) !== owner) return undefined;
  return cutToCharacters(commit.name, MAX_NAME);
}

/** The owner of a handoff as messages name it; `undefined` if the commit names none. */
export function commitOwner(
  commit: Pick<HandoffCommit, 'trailers' | 'name' | 'mail'> | undefined,
): string | undefined {
  const { owner, client } = commit?.trailers ?? {};
  return owner === undefined ? undefined : ownerName(owner, { client, name: personName(commit) });
}
