import { relative, resolve } from 'node:path';
import { pathspecMatcher } from '../../shell/options.ts';
import type { DirtyPath, TreeStatus } from '../../domain/ledger/tree-status.ts';
import { type TreeReach, treeReach } from '../../shell/tree-verbs.ts';
import type { GitVerbCall, ShellEffects } from '../../shell/effects.ts';
import { isOn } from '../../domain/settings.ts';
import type { WorkPlace } from '../../changes/windows.ts';
import { exists, readBeginning, realPath } from '../../host/disk.ts';
import type { TreeCall } from '../call.ts';
import { type FoundRepository, discoverRepository } from '../../git/discover.ts';

/** Returns what a git call in a folder reaches. `seen`: the folder's working tree; its status tells which files are deleted. */
export function reachAt(
  gitCall: GitVerbCall,
  cwd: string,
  { entries }: TreeCall,
  seen?: { readonly top: string; readonly status: TreeStatus },
): TreeReach | undefined {
  const isDirty = (file: string) =>
    seen?.status.dirty.has(relative(seen.top, realPath(file, false))) === true;
  return treeReach(
    { ...gitCall, cwd },
    {
      isPath: (word) =>
        word !== '' && word !== '-' && (exists(resolve(cwd, word)) || isDirty(resolve(cwd, word))),
      names: (file, nul) => namesIn(resolve(cwd, file), nul),
      text: (file) => wholeText(resolve(cwd, file)),
      isOn: (setting) => isOn(entries, setting),
    },
  );
}

/** Returns what a command's git calls in one worktree reach. */
export function reachesHere(
  call: TreeCall,
  effects: ShellEffects,
  { place, status }: { readonly place: WorkPlace; readonly status: TreeStatus },
): TreeReach[] {
  return callsInWorktree(call, effects).flatMap(
    (gitCall) => reachAt(gitCall, gitCall.cwd ?? call.cwd, call, { top: place.top, status }) ?? [],
  );
}

/** The size above which a list or a patch counts as unreadable. Bytes. */
const MAX_TEXT = 1 << 20;

/** Returns the text of a list or a patch; `undefined` if it cannot be read or is too big. */
export function wholeText(file: string): string | undefined {
  const text = readBeginning(file, MAX_TEXT + 1);
  return text === undefined || text.length > MAX_TEXT ? undefined : text;
}

/** Reads a list of file names, one per line. If git has quoted a name like a C string, the list counts as unreadable. */
function namesIn(file: string, nul: boolean): readonly string[] | undefined {
  const names = wholeText(file)
    ?.split(nul ? '\0' : '\n')
    .filter((name) => name !== '');
  return !nul && names?.some((name) => name.startsWith('"')) === true ? undefined : names;
}

/** Returns a function that tells whether a reach includes a dirty path of the working tree. */
export function reachedPaths(
  reach: TreeReach,
  top: string,
): (dirty: DirtyPath | undefined) => dirty is DirtyPath {
  const words = reach.paths ?? [':/'];
  const paths = words.map((one) => (one.startsWith('/') ? `:/${relative(top, realPath(one, false))}` : one));
  const covers = pathspecMatcher(paths, folderIn(top, reach.call.cwd ?? top));
  return (dirty): dirty is DirtyPath =>
    dirty !== undefined && isOfKind(reach, dirty) && paths.length > 0 && covers(dirty.path);
}

/** Returns a folder's path relative to the top of its working tree. */
export function folderIn(top: string, folder: string): string {
  const path = relative(top, realPath(folder));
  return path.startsWith('..') ? '' : path;
}

function isOfKind(reach: TreeReach, { head, index }: DirtyPath): boolean {
  const isUntracked = head === null && index === null;
  if (reach.stagedOnly) return index?.oid !== head?.oid || index?.mode !== head?.mode;
  if (!isUntracked) return reach.tracked;
  // A switch leaves an untracked file where it is, and so carries it to the other branch.
  return reach.untracked || (reach.verb === 'switch' && reach.does === 'carry');
}

/** Returns the git calls of a command that run in the call's worktree. */
export function callsInWorktree(call: TreeCall, { gitCalls }: ShellEffects): GitVerbCall[] {
  return gitCalls.filter((gitCall) => repositoryOf(call, gitCall)?.gitDir === call.tree.gitDir);
}

/** Returns the git calls that run in the call's repository, in any of its worktrees. */
export function callsInRepository(call: TreeCall, { gitCalls }: ShellEffects): GitVerbCall[] {
  return gitCalls.filter((gitCall) => repositoryOf(call, gitCall)?.commonDir === call.tree.commonDir);
}

/** Finds the repository of a git call. If the call's folder is unknown, we use the client's. */
function repositoryOf({ cwd }: TreeCall, gitCall: GitVerbCall): FoundRepository | undefined {
  return discoverRepository(realPath(gitCall.cwd ?? cwd));
}
