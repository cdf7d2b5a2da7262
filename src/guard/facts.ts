import {
  type Ledgers,
  type PlacedPath,
  type WorkPlace,
  ledgerOf,
  openLedgers,
} from '../changes/work-place.ts';
import type { TreeStatus } from '../domain/ledger/tree-status.ts';
import type { ShellEffects } from '../shell/effects.ts';
import type { Call, TreeCall } from './call.ts';
import { type GitAnswers, gitAnswers } from './git-answers.ts';
import { type People, readPeople } from './presence.ts';

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
