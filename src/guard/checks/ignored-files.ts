import type { Verdict } from '../../agents/dialect.ts';
import type { TreeReach } from '../../shell/tree-verbs.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { ignoredFiles } from '../../git/ignored-files.ts';
import type { Scene } from '../scene.ts';
import { neighbours } from '../peers.ts';
import { type WorkPlace, lookingTime } from '../../changes/work-place.ts';

const MAX_NAMES = 10;

/**
 * Refuses `git clean -x` while another session is at work in the same tree: what git ignores (builds, caches, local
 * settings) is on no record, so it may be anybody's, and nothing brings it back.
 */
export async function refuseIgnored(
  scene: Scene,
  session: SessionId,
  found: FoundRepository,
  place: WorkPlace,
  reach: TreeReach,
): Promise<Verdict | undefined> {
  const { live } = await neighbours(scene, found, session);
  const peers = live.filter(({ worktreeId }) => worktreeId === place.worktreeId);
  const [peer] = peers;
  if (peer === undefined) return undefined;
  const folders = reach.call.words.some((word) => /^-\w*d\w*$/.test(word ?? ''));
  const cwd = reach.call.cwd ?? scene.cwd;
  const files = await ignoredFiles(cwd, reach.paths ?? [], { folders, timeoutMs: lookingTime(scene) });
  if (files.length === 0) return undefined;
  const names = files.slice(0, MAX_NAMES).map(escapeLine).join(', ');
  const more = files.length > MAX_NAMES ? ` and ${files.length - MAX_NAMES} more` : '';
  const owners = peers.map(({ record }) => record.session);
  const who = `session${owners.length === 1 ? '' : 's'} ${owners.map(shortId).join(', ')}`;
  return {
    kind: 'deny',
    owners,
    reason:
      `\`git clean\` would delete what git ignores and ${who} may be using, here: ${names}${more}. Nothing was changed. ` +
      'Leave ignored files: git clean -fd; or remove what you mean by name: rm -r -- <path>',
  };
}
