import { aliasesFrom } from '../../../domain/settings.ts';
import { readHead } from '../../../git/discover.ts';
import { worktreeId } from '../../../host/folders.ts';
import { noteStashOwner, readStashOwners, takeExpected } from '../../../rescue/stash-owners.ts';
import { pinStash } from '../../../rescue/stash-pins.ts';
import { lookingTime } from '../../../changes/work-place.ts';
import type { TreeCall } from '../../call.ts';

/**
 * Keeps entries of the stash that nobody had seen, by a ref each. Those that the session's own command was to make, and
 * that were not there before it, are put down as its own.
 */
export async function seeStash(call: TreeCall, command: string): Promise<void> {
  const { session, tree, settings, now } = call;
  const place = { cwd: tree.workTree, worktreeId: worktreeId(tree.gitDir) };
  const { entries } = await pinStash(place, settings.rescue, now, lookingTime(call));
  // Another call of the session may end while the one that stashes runs.
  if (!namesStash(command, aliasesFrom(call.entries))) return;
  const before = takeExpected(tree.commonDir, session);
  if (before === undefined) return;
  const owners = readStashOwners(tree.commonDir);
  const branch = readHead(tree.gitDir);
  const made = entries.filter(
    ({ oid, subject }) => !before.has(oid) && !owners.has(oid) && isOfBranch(subject, branch),
  );
  noteStashOwner(
    tree.commonDir,
    session,
    made.map(({ oid }) => oid),
  );
}

/** `WIP on main: …` and `On main: …` name the branch; a session elsewhere may have stashed at the same time. */
function isOfBranch(subject: string, ref: string | undefined): boolean {
  const name = /^(?:WIP on|On) ([^:]*):/.exec(subject)?.[1];
  if (name === undefined || ref === undefined) return true;
  return name === (ref === 'HEAD' ? '(no branch)' : ref.replace(/^refs\/heads\//, ''));
}

/** Whether the text has the word, or an alias of git's for it. */
function namesStash(command: string, aliases: ReadonlyMap<string, string>): boolean {
  if (command.includes('stash')) return true;
  return [...aliases].some(([name, value]) => value.includes('stash') && command.includes(name));
}
