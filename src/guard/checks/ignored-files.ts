import { join, relative } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import type { TreeReach } from '../../shell/tree-reach.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import { escapeLine, listed } from '../../domain/surfacing.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { ignoredFiles } from '../../git/ignored-files.ts';
import { realPath } from '../../host/disk.ts';
import type { Scene } from '../scene.ts';
import { neighbours } from '../peers.ts';
import { type Typed, typedIn } from './typed.ts';
import { type WorkPlace, lookingTime } from '../../changes/work-place.ts';

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
  // What was built stands in a folder more often than what somebody keeps.
  const inOrder = [
    ...files.filter((file) => file.endsWith('/')),
    ...files.filter((file) => !file.endsWith('/')),
  ];
  const placed = inOrder.map((file) => relative(place.top, join(realPath(cwd), file)));
  const owners = peers.map(({ record }) => record.session);
  const who = `session${owners.length === 1 ? '' : 's'} ${owners.map(shortId).join(', ')}`;
  return {
    kind: 'deny',
    owners,
    reason:
      `\`git clean\` would delete what git ignores and ${who} may be using, here: ${listed(files.map(escapeLine))}. ` +
      `Nothing was changed. ${instead(reach, placed, typedIn(scene, place))}`,
  };
}

/** What is named may go; what is only ignored may be anybody's, so the session has to say what of it is its own. */
function instead({ paths = [] }: TreeReach, files: readonly string[], { remove }: Typed): string {
  if (paths.length > 0) return `Remove only what you name: ${remove(files, 'rm -r')}`;
  return `Remove only what you name, such as: ${remove(files.slice(0, 1), 'rm -r')}`;
}
