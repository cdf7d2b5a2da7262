import { lookingTime } from '../changes/work-place.ts';
import type { TreeStatus } from '../domain/ledger/tree-status.ts';
import type { SettingEntry } from '../domain/settings.ts';
import { configUnder, plainConfig } from '../git/config.ts';
import { type LoggedCommit, headCommit, leftCommits } from '../git/log.ts';
import { listIgnored, type TreeFile, listTree } from '../git/list-tree.ts';
import { listRefs } from '../git/refs.ts';
import { unmergedPaths } from '../git/staged.ts';
import { readTreeStatus } from '../git/work-tree.ts';
import { type SeenStash, readStash } from '../snapshot/stash-pins.ts';
import type { GitOverrides } from '../shell/effects.ts';
import type { Call, TreeCall } from './call.ts';
import { type People, readPeople } from './presence.ts';

/** What the checks ask git. Each answer is a process or two, and comes within the time of the call. */
export interface GitAnswers {
  /** How these paths of a working tree differ from HEAD. */
  readonly look: (top: string, paths: readonly string[]) => Promise<TreeStatus>;
  /** The commit that HEAD is at; `undefined` on an unborn branch. */
  readonly head: (cwd: string) => Promise<LoggedCommit | undefined>;
  /** The paths in conflict. */
  readonly unmerged: (cwd: string) => Promise<readonly string[]>;
  /** What git ignores below some pathspecs. */
  readonly ignored: (
    cwd: string,
    pathspecs: readonly string[],
    folders: boolean,
  ) => Promise<readonly string[]>;
  /** The commits that a branch leaves behind when it is moved, or deleted. */
  readonly leftBehind: (
    cwd: string,
    branch: string,
    to: string | undefined,
  ) => Promise<readonly LoggedCommit[]>;
  /** What a commit has at paths. */
  readonly filesOf: (cwd: string, commit: string, paths: readonly string[]) => Promise<readonly TreeFile[]>;
  readonly stash: (cwd: string) => Promise<SeenStash>;
  /** The settings that decide about our hooks; `undefined` when what git is told besides is not known. */
  readonly settings: (cwd: string, overrides?: GitOverrides) => Promise<readonly SettingEntry[] | undefined>;
  /** Whether there is any ref below a prefix; not when git fails. */
  readonly hasRefs: (cwd: string, prefix: string) => Promise<boolean>;
  /** Who is at work in the repository of a worktree. */
  readonly people: (call: TreeCall) => Promise<People>;
}

/** Asks git itself. */
export function gitAnswers(call: Pick<Call, 'now' | 'budget'>): GitAnswers {
  const time = () => lookingTime(call);
  return {
    look: (top, paths) => readTreeStatus(top, { paths, timeoutMs: time(), now: call.now }),
    head: (cwd) => headCommit(cwd, time()),
    unmerged: (cwd) => unmergedPaths(cwd),
    ignored: (cwd, pathspecs, folders) => listIgnored(cwd, pathspecs, { folders, timeoutMs: time() }),
    leftBehind: (cwd, branch, to) => leftCommits(cwd, branch, to, time()),
    filesOf: (cwd, commit, paths) => listTree(cwd, commit, paths, { timeoutMs: time() }),
    stash: async (cwd) => readStash(cwd, time()),
    settings: (cwd, overrides) =>
      overrides === undefined ? plainConfig(cwd, time()) : configUnder(cwd, overrides, time()),
    hasRefs: async (cwd, prefix) => (await listRefs({ cwd }, [prefix]).catch(() => [])).length > 0,
    people: async (there) => readPeople(there),
  };
}
