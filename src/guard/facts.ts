import {
  ledgerOf,
  type Ledgers,
  lookTimeoutMs,
  openLedgers,
  type OpenWindow,
  readLast,
  type WorkPlace,
} from '../changes/windows.ts';
import type { TreeStatus } from '../domain/ledger/tree-status.ts';
import type { ShellEffects, GitOverrides } from '../shell/effects.ts';
import type { Touch } from './checks/touch.ts';
import { type Call, type TreeCall, failOpen, ownerOf, type CommandTool } from './call.ts';
import { type People, readPeople } from './presence.ts';
import { mergeBase } from '../git/histories.ts';
import { configUnder } from '../git/config.ts';
import { headCommit, leftCommits } from '../git/log.ts';
import { listIgnored, listTree, unmergedPaths } from '../git/staged.ts';
import { listRefs } from '../git/refs.ts';
import { readTreeStatus } from '../git/worktrees.ts';
import { readStash } from '../snapshot/stash.ts';
import { scratchStore } from '../git/scratch.ts';
import { beforeAnswer } from '../host/io.ts';
import { readsOnly } from '../shell/read-only.ts';

/** The facts that checks of any call may ask for. */
export interface CallFacts {
  readonly git: GitAnswers;
}

/** What is known of a worktree in which a call is judged. Each fact is read only once, when a check first asks for it. */
export interface TreeFacts extends CallFacts {
  /** Reads the ledgers; `undefined` if this session keeps none there, because it is alone. */
  readonly ledger: () => OpenLedger | undefined;
  readonly people: () => Promise<People>;
}

/** A worktree and the ledgers of its sessions. */
export interface OpenLedger {
  readonly place: WorkPlace;
  readonly ledgers: Ledgers;
}

/** A worktree after a command, with the ledgers as they were before it. */
export interface SeenAfter extends OpenLedger {
  readonly after: TreeStatus;
  readonly command: string;
}

/** A worktree as seen after a command, and as seen before it (`window`). */
export interface Finished extends SeenAfter {
  readonly window: OpenWindow;
  /** The windows of all commands that are running, in any session. */
  readonly windows: readonly OpenWindow[];
}

/** What is known of a file tool's call in one worktree. */
export interface FileFacts extends TreeFacts {
  /** The paths of this worktree that the tool or the command names as targets of a change. */
  readonly touches: () => readonly Touch[];
}

/** What is known of a command, wherever it runs. */
export interface AnalysedFacts extends CallFacts {
  readonly effects: ShellEffects;
  /** Whether git-handoff is switched on where the command runs, or where it changes something. */
  readonly isOn: boolean;
}

/** What is known of a command in one worktree. */
export interface CommandFacts extends FileFacts {
  /** What the command would change anywhere. */
  readonly effects: ShellEffects;
  readonly looks: Looks;
  /** Whether this is the first of the repository's worktrees: only there do we judge what concerns them all. */
  readonly isFirst: boolean;
}

/** How to read the status of a worktree before a command changes it. */
export interface Looks {
  /** The status for the ledger; `undefined` if the session keeps no ledger there, or the command changes nothing. */
  readonly forLedger: LedgerLook | undefined;
  /** Returns which paths differ from HEAD; `undefined` when git does not answer. */
  readonly dirty: () => Promise<TreeStatus | undefined>;
}

/** A status with the contents of the changed files. */
export interface LedgerLook {
  /** The worktree as any session last saw it. */
  readonly known: TreeStatus | undefined;
  readonly status: () => Promise<TreeStatus | undefined>;
}

export function callFacts(call: Call): CallFacts {
  return { git: gitAnswers(call) };
}

export function treeFacts(call: TreeCall): TreeFacts {
  const ledger = once(() => {
    const place = ledgerOf(call.tree, call.session);
    return place === undefined ? undefined : { place, ledgers: openLedgers(place, ownerOf(call)) };
  });
  const people = once(async () => readPeople(call));
  return { ...callFacts(call), ledger, people };
}

/** Returns a function that reads a value once, and then gives the same value again. */
export function once<T>(read: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => (known ??= { value: read() }).value;
}

/** What the checks ask git. Each question starts a process or two, and must be answered within the time of the call. */
export type GitAnswers = ReturnType<typeof gitAnswers>;

function gitAnswers(call: Call) {
  const time = () => lookTimeoutMs(call);
  return {
    /** How these paths of a working tree differ from HEAD. */
    look: (top: string, paths: readonly string[]) =>
      readTreeStatus(top, { paths, timeoutMs: time(), now: call.now }),
    /** The commit that HEAD is at; `undefined` on an unborn branch. */
    head: (cwd: string) => headCommit({ cwd, timeoutMs: time() }),
    unmerged: (cwd: string) => unmergedPaths(cwd),
    /** Whether a commit and HEAD have a common ancestor; false when git fails. */
    isRelated: async (cwd: string, commit: string) =>
      (await mergeBase({ cwd, timeoutMs: time() }, 'HEAD', commit)) !== undefined,
    ignored: (cwd: string, pathspecs: readonly string[], folders: boolean) =>
      listIgnored({ cwd, timeoutMs: time() }, pathspecs, folders),
    /** The commits that a branch loses when it is moved or deleted. */
    leftBehind: (cwd: string, branch: string, to: string | undefined) =>
      leftCommits({ cwd, timeoutMs: time() }, branch, to),
    filesOf: (cwd: string, commit: string, paths: readonly string[]) =>
      listTree({ cwd, timeoutMs: time() }, commit, paths),
    stash: async (cwd: string) => readStash(cwd, time()),
    /** The settings on which our hooks depend; `undefined` when the command's own settings (`-c`) cannot be known. */
    settings: (cwd: string, overrides?: GitOverrides) => configUnder({ cwd, timeoutMs: time() }, overrides),
    /** Whether any ref with this prefix exists; false when git fails. */
    hasRefs: async (cwd: string, prefix: string) =>
      (await listRefs({ cwd }, [prefix]).catch(() => [])).length > 0,
    people: async (there: TreeCall) => readPeople(there),
  };
}

/** Lets git read the status for the ledger while the command is analysed. If the command only reads, waits until a check asks. */
export async function beginToLook(call: TreeCall, tool: CommandTool): Promise<Looks> {
  const changes = !(tool.kind === 'shell' && readsOnly(tool.command));
  const forLedger = changes
    ? await failOpen(call, 'what is uncommitted here', async () => ledgerLook(call))
    : undefined;
  const dirty = forLedger?.status ?? namesOnly(call);
  if (forLedger !== undefined) void dirty();
  return { forLedger, dirty };
}

function ledgerLook(call: TreeCall): LedgerLook | undefined {
  const place = ledgerOf(call.tree, call.session);
  if (place === undefined) return undefined;
  const known = readLast(place);
  const status = once(() =>
    readStatus(call, place, { known }).catch((error: unknown) => {
      call.log('open', `the working tree was not looked at before the command: ${String(error)}`);
      return undefined;
    }),
  );
  return { known, status };
}

/** Reads the status of a worktree for its ledgers, and stores the contents of the changed files. */
export function readStatus(
  call: TreeCall,
  place: WorkPlace,
  what: { readonly known?: TreeStatus | undefined; readonly paths?: readonly string[] },
): Promise<TreeStatus> {
  const scratch = scratchStore(place.commonDir);
  return readTreeStatus(place.top, { ...what, scratch, timeoutMs: lookTimeoutMs(call), now: call.now });
}

/** Returns a function that reads a status without contents. git runs only when a check first asks. */
export function namesOnly({ tree, now, budget }: TreeCall): Looks['dirty'] {
  const options = { now, timeoutMs: beforeAnswer(budget), namesOnly: true };
  return once(() => readTreeStatus(tree.workTree, options).catch(() => undefined));
}
