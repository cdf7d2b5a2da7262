import {
  type Ledgers,
  type PlacedPath,
  type WorkPlace,
  ledgerOf,
  openLedgers,
  lookTimeoutMs,
} from '../changes/work-place.ts';
import type { TreeStatus } from '../domain/ledger/tree-status.ts';
import type { ShellEffects, GitOverrides } from '../shell/effects.ts';
import type { Call, TreeCall } from './call.ts';
import { type People, readPeople } from './presence.ts';
import type { SettingEntry } from '../domain/settings.ts';
import { configUnder, plainConfig } from '../git/config.ts';
import { type LoggedCommit, headCommit, leftCommits } from '../git/log.ts';
import { listIgnored, type TreeFile, listTree } from '../git/list-tree.ts';
import { listRefs } from '../git/refs.ts';
import { unmergedPaths } from '../git/staged.ts';
import { readTreeStatus } from '../git/work-tree.ts';
import { type SeenStash, readStash } from '../snapshot/stash.ts';

/** What the checks of any call may ask. */
export interface CallFacts {
  /** What git has to say; each question starts a process. */
  readonly git: () => Promise<GitAnswers>;
}

/** What is known of a worktree in which a call is judged. Each is read once, when somebody first asks. */
export interface TreeFacts extends CallFacts {
  /** `undefined` where this session keeps no ledger: it is alone there. */
  readonly ledger: () => OpenLedger | undefined;
  readonly people: () => Promise<People>;
}

/** A worktree and the ledgers of its sessions. */
export interface OpenLedger {
  readonly place: WorkPlace;
  readonly ledgers: Ledgers;
}

/** A file tool in one worktree. */
export interface FileFacts extends TreeFacts {
  /** The paths of this worktree that the tool names. */
  readonly placed: readonly PlacedPath[];
}

/** A command, wherever it is run. */
export interface AnalysedFacts extends CallFacts {
  /** What it would change. */
  readonly effects: ShellEffects;
  /** git-handoff is switched on where it is run, or where it changes something. */
  readonly isOn: boolean;
}

/** A command in one worktree. */
export interface CommandFacts extends TreeFacts {
  /** What it would change anywhere. */
  readonly effects: ShellEffects;
  readonly looks: Looks;
  /** What concerns the whole repository is judged in one of its worktrees. */
  readonly isFirst: boolean;
}

/** Looks at a worktree before a command changes it. */
export interface Looks {
  /** For the ledger; `undefined` where the session keeps none, or the command changes nothing. */
  readonly forLedger: LedgerLook | undefined;
  /** Which paths differ from HEAD; `undefined` when git does not say. */
  readonly dirty: () => Promise<TreeStatus | undefined>;
}

/** A look that reads contents, too. */
export interface LedgerLook {
  /** The worktree as anybody last saw it. */
  readonly known: TreeStatus | undefined;
  readonly snapshot: () => Promise<TreeStatus | undefined>;
}

/** What can be known of any call. */
export function callFacts(call: Call): CallFacts {
  return { git: once(async () => gitAnswers(call)) };
}

/** What can be known of any worktree. */
export function treeFacts(call: TreeCall): TreeFacts {
  const ledger = once(() => {
    const place = ledgerOf(call.tree, call.session);
    return place === undefined ? undefined : { place, ledgers: openLedgers(place, call.session) };
  });
  const people = once(async () => readPeople(call));
  return { ...callFacts(call), ledger, people };
}

/** The same answer whenever it is asked for. */
export function once<T>(read: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => (known ??= { value: read() }).value;
}

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
function gitAnswers(call: Pick<Call, 'now' | 'budget'>): GitAnswers {
  const time = () => lookTimeoutMs(call);
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
