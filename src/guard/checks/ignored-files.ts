import { join, relative } from 'node:path';
import type { TreeReach } from '../../shell/tree-verbs.ts';
import { peerNames } from '../../domain/names.ts';
import { escapeLine, listed } from '../../domain/messages.ts';
import { realPath } from '../../host/disk.ts';
import { type TreeCall, type Finding, type Refusal, refusedFor } from '../call.ts';
import type { CommandFacts } from '../facts.ts';
import { seenBefore } from './by-ledger.ts';
import { reachesHere } from './reach.ts';
import { type Typed, typedAt } from './typed.ts';
import type { WorkPlace } from '../../changes/windows.ts';

/**
 * Refuses `git clean -x` while another session is at work in the same worktree. No ledger records ignored files (builds,
 * caches, local settings): they may be anybody's, and nothing can restore them.
 */
export async function ignoredFiles(call: TreeCall, facts: CommandFacts): Promise<readonly Finding[]> {
  const seen = await seenBefore(call, facts);
  if (seen === undefined || seen.isByLedger) return [];
  for (const reach of reachesHere(call, facts.effects, seen)) {
    if (reach.ignored === false) continue;
    const refusal = await refuse(call, facts, seen.place, reach);
    if (refusal !== undefined) return [refusal];
  }
  return [];
}

async function refuse(
  call: TreeCall,
  facts: CommandFacts,
  place: WorkPlace,
  reach: TreeReach,
): Promise<Refusal | undefined> {
  const people = await facts.people();
  const peers = people.live.filter(({ worktreeId }) => worktreeId === place.worktreeId);
  if (peers.length === 0) return undefined;
  const folders = reach.call.words.some((word) => /^-\w*d\w*$/.test(word ?? ''));
  const cwd = reach.call.cwd ?? call.cwd;
  const files = await facts.git.ignored(cwd, reach.paths ?? [], folders);
  if (files.length === 0) return undefined;
  // We name folders first: they mostly hold build results, and seldom something that somebody wants to keep.
  const inOrder = [...files].sort((a, b) => Number(b.endsWith('/')) - Number(a.endsWith('/')));
  const placed = inOrder.map((file) => relative(place.top, join(realPath(cwd), file)));
  const owners = peers.map(({ record }) => record.session);
  const who = peerNames(owners, people);
  const text =
    `\`git clean\` would delete ignored files here that ${who} may be using: ${listed(files.map(escapeLine))}. ` +
    `Nothing was changed. ${instead(reach, placed, typedAt(call))}`;
  return refusedFor(text, owners);
}

/** Suggests removing files by name: ignored files may be anybody's, so the session has to name its own. */
function instead({ paths }: TreeReach, files: readonly string[], { remove }: Typed): string {
  if (paths?.[0] !== '.') return `To remove them, name them: ${remove(files, 'rm -r')}`;
  return `Remove only your own files, by name, for example: ${remove(files.slice(0, 1), 'rm -r')}`;
}
