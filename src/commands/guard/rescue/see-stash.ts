import type { SessionId } from '../../../domain/names.ts';
import { worktreeId } from '../../../host/folders.ts';
import { noteStashOwner } from '../../../store/stash-owners.ts';
import { pinStash } from '../../../store/stash-pins.ts';
import { lookingTime } from '../ledger/work-place.ts';
import type { Scene } from '../scene.ts';

/**
 * Keeps entries of the stash that nobody had seen, by a ref each. Those that a session's own `git stash` has just made
 * are put down as its own: what was there before the command had been seen then.
 */
export async function seeStash(scene: Scene, session: SessionId, command: string): Promise<void> {
  const { place: found, settings, now } = scene;
  if (found === undefined) return;
  const place = { cwd: found.workTree, worktreeId: worktreeId(found.gitDir) };
  const { fresh } = await pinStash(place, settings.rescue, now, lookingTime(scene));
  if (!namesStash(command, scene.aliases)) return;
  noteStashOwner(
    found.commonDir,
    session,
    fresh.map(({ oid }) => oid),
  );
}

/** Whether the text has the word, or an alias of git's for it. */
function namesStash(command: string, aliases: ReadonlyMap<string, string>): boolean {
  if (command.includes('stash')) return true;
  return [...aliases].some(([name, value]) => value.includes('stash') && command.includes(name));
}
