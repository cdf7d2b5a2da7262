import type { Oid, SessionId } from '../names.ts';
import type { StartedCommand, EventOf } from '../journal/events.ts';
import type { Evidence, FileState, Wish, Window } from './tree-status.ts';

/**
 * Claims ("this session changed this path of this worktree since HEAD"), and the ledger: the state that a session's
 * journal adds up to in one worktree. Paths are relative to the top of the working tree, as git prints them.
 */

/** One change of one path: its states before and after. */
export interface PathChange {
  readonly before: FileState;
  readonly after: FileState;
}

/** A claim that has not ended. */
export interface OpenClaim {
  readonly session: SessionId;
  readonly path: string;
  readonly base: FileState;
  /** Oldest first; neighbours that fit (`after` of one is `before` of the next) are merged into one. */
  readonly changes: readonly PathChange[];
  /** What the session last left at the path. */
  readonly after: FileState;
  /** The states that allowed commits of this session gave the path. */
  readonly committed: readonly FileState[];
  readonly evidence: Evidence;
  readonly weak: boolean;
  /** The sub-agent that changed it last, if one did. */
  readonly agent?: string;
  /** When the first and the last change were made. */
  readonly since: number;
  readonly at: number;
  /** When the command that made the last change began, if a command made it. */
  readonly began?: number;
}

/** Where HEAD was when a session last looked. */
export interface HeadSeen {
  readonly ref: string;
  readonly oid: Oid | null;
  readonly own: boolean;
  readonly at: number;
  /** The sub-agent that moved it there, if that no longer runs. */
  readonly by?: SessionId;
}

/** What a session has to tell the others. */
export interface LedgerNews {
  readonly id: string;
  readonly from: SessionId;
  readonly to: SessionId | undefined;
  readonly text: string;
  readonly at: number;
}

/** What a session was refused because of another's work. */
interface LedgerRequest {
  readonly to: SessionId;
  readonly wish: Wish;
  readonly paths: readonly string[];
  readonly at: number;
}

/** A file tool's call whose result has not arrived. */
export interface Announcement {
  readonly agent: string | undefined;
  readonly at: number;
}

/** What a session put into the index itself, and what HEAD had at the path then, if that is on record. */
export interface StagedState {
  readonly state: FileState;
  readonly head?: FileState;
}

/** A shell command that runs now; `look` is the working tree as it was before (`formatTreeStatus`). */
export interface RunningCommand extends StartedCommand {
  readonly id: string;
  readonly from: number;
  readonly look: string;
}

/** The working tree as it was at a moment of a session's time alone, as `formatTreeStatus` writes it. */
interface DatedLook {
  readonly look: string;
  readonly at: number;
}

/** A merge, rebase … that a session began; `merged`: the tree that it merged, if it is known. */
interface StartedOperation {
  readonly mark: string;
  readonly merged: Oid | undefined;
  readonly at: number;
}

/** The state that a session's events in one worktree add up to. */
export interface SessionLedger {
  readonly session: SessionId;
  readonly claims: ReadonlyMap<string, OpenClaim>;
  /** Claims that ended because the path was clean, and not because it was committed: the change may come back. */
  readonly ended: ReadonlyMap<string, OpenClaim>;
  /** Paths that others took from the session, and who took each. A new claim of the session ends that. */
  readonly taken: ReadonlyMap<string, SessionId>;
  readonly announced: ReadonlyMap<string, Announcement>;
  readonly staged: ReadonlyMap<string, readonly StagedState[]>;
  readonly commits: readonly EventOf<'commit'>[];
  readonly head: HeadSeen | undefined;
  /** Every place that this session's own calls moved HEAD to, oldest first. */
  readonly moves: readonly HeadSeen[];
  readonly news: readonly LedgerNews[];
  readonly requests: readonly LedgerRequest[];
  /** What the session has heard, and when. */
  readonly notified: ReadonlyMap<string, number>;
  /** The times of its finished shell commands. */
  readonly windows: readonly Window[];
  /** Its shell commands that run now, by their ids. */
  readonly commands: ReadonlyMap<string, RunningCommand>;
  /** The processes under which it was put on record here, each with the last time. */
  readonly registrations: ReadonlyMap<string, number>;
  readonly operations: readonly StartedOperation[];
  /** What the session tried, the last run of each command, the newest last. */
  readonly tried: ReadonlyMap<string, EventOf<'tried'>>;
  /** The top of the worktree, if the session works here from a folder outside. */
  readonly visitedTop: string | undefined;
  /** What was dirty when it began to work alone here, and when that was interrupted. */
  readonly loneStart: DatedLook | undefined;
  readonly paused: DatedLook | undefined;
  /** Whether it has ended and its automatic note is still due. */
  readonly isNoteDue: boolean;
  /** The process as which it died, if an automatic note for that was left or not needed. */
  readonly noteLeft: string | undefined;
}
