import type { Oid, SessionId } from '../names.ts';
import type { Evidence, FileState, Wish } from './file-state.ts';
import type { Window } from './tree-status.ts';

/**
 * Claims: "this session changed this path of this worktree since HEAD". A ledger file holds one session's
 * entries for one worktree; folding them gives the open claims. Paths are relative to the top of the working
 * tree, as git prints them.
 */

/** One change of one path: what stood there before and after it. */
export interface PathChange {
  readonly before: FileState;
  readonly after: FileState;
}

/** One line of a ledger file. Times are milliseconds since the epoch. */
export type LedgerEntry =
  | {
      readonly t: 'claim';
      readonly path: string;
      /** What HEAD had at the path when the session first changed it. */
      readonly base: FileState;
      readonly before: FileState;
      readonly after: FileState;
      readonly evidence: Evidence;
      /** Only warns: somebody else may have made this change. */
      readonly weak: boolean;
      /** The sub-agent that made it, where the client tells. */
      readonly agent?: string;
      /** When the command that changed it began; a file tool needs no time. */
      readonly began?: number;
      readonly at: number;
    }
  | {
      readonly t: 'end';
      readonly path: string;
      readonly why: 'clean' | 'committed' | 'taken';
      /** Who took it. */
      readonly by?: SessionId;
      readonly at: number;
    }
  /** A commit of this session that was let through: its parent, and what it makes of each path. */
  | {
      readonly t: 'commit';
      readonly parent: Oid | null;
      readonly paths: readonly (readonly [path: string, state: FileState])[];
      readonly at: number;
    }
  /** What the index holds at a path because this session put it there (`stage --mine`, `git rm --cached`). */
  | ({ readonly t: 'staged'; readonly path: string; readonly at: number } & StagedState)
  /** Where HEAD was when this session last looked; `own`: its own tool call moved it there. */
  | {
      readonly t: 'head';
      readonly ref: string;
      readonly oid: Oid | null;
      readonly own: boolean;
      readonly at: number;
    }
  /** News for the other sessions of the worktree (or for `to` alone); each is told once. */
  | {
      readonly t: 'event';
      readonly id: string;
      readonly text: string;
      readonly to?: SessionId;
      readonly at: number;
    }
  | { readonly t: 'told'; readonly ids: readonly string[]; readonly at: number }
  /** This session was refused for the sake of what `to` claims on these paths. It counts while they are claimed. */
  | ({ readonly t: 'request' } & LedgerRequest)
  /** A shell command of this session ran from `from` to `at`; `goesOn`: what it started in the background may still run. */
  | {
      readonly t: 'window';
      readonly id: string;
      readonly from: number;
      readonly goesOn?: boolean;
      readonly at: number;
    }
  /** A file tool of this session is about to write these paths. It refuses nobody. */
  | {
      readonly t: 'announced';
      readonly paths: readonly string[];
      readonly agent?: string;
      readonly at: number;
    }
  /** Announced calls up to `at` are over: on these paths (else on all), of this agent (else of all). */
  | {
      readonly t: 'answered';
      readonly paths?: readonly string[];
      readonly agent?: string;
      readonly at: number;
    }
  /** A claim that had ended because the path was clean is open again: its change is back. */
  | { readonly t: 'revived'; readonly path: string; readonly at: number };

/** A claim that has not ended. */
export interface OpenClaim {
  readonly session: SessionId;
  readonly path: string;
  readonly base: FileState;
  /** Oldest first; neighbours that fit (`after` of one is `before` of the next) are one. */
  readonly changes: readonly PathChange[];
  /** What the session last left at the path. */
  readonly after: FileState;
  /** States of the path that commits of this session were let through with. */
  readonly committed: readonly FileState[];
  readonly evidence: Evidence;
  readonly weak: boolean;
  /** The sub-agent that changed it last, if one did. */
  readonly agent?: string;
  /** First and last change. */
  readonly since: number;
  readonly at: number;
  /** When the command that made the last change began, if a command made it. */
  readonly began?: number;
}

interface HeadSeen {
  readonly ref: string;
  readonly oid: Oid | null;
  readonly own: boolean;
  readonly at: number;
}

export interface LedgerEvent {
  readonly id: string;
  readonly from: SessionId;
  readonly to: SessionId | undefined;
  readonly text: string;
  readonly at: number;
}

/** What a session was refused for another's sake. */
interface LedgerRequest {
  readonly to: SessionId;
  readonly wish: Wish;
  readonly paths: readonly string[];
  readonly at: number;
}

/** A file tool's call whose result has not come. */
export interface Announcement {
  readonly agent: string | undefined;
  readonly at: number;
}

/** What a session put into the index itself, and what HEAD had at the path then, where that is on record. */
export interface StagedState {
  readonly state: FileState;
  readonly head?: FileState;
}

/** What a session's entries come to. */
export interface SessionLedger {
  readonly session: SessionId;
  readonly claims: ReadonlyMap<string, OpenClaim>;
  /** Claims that ended because the path was clean, and not because it was committed: the change may come back. */
  readonly ended: ReadonlyMap<string, OpenClaim>;
  /** Paths that others took from it, and who. A new claim of its own ends that. */
  readonly taken: ReadonlyMap<string, SessionId>;
  readonly announced: ReadonlyMap<string, Announcement>;
  readonly staged: ReadonlyMap<string, readonly StagedState[]>;
  readonly commits: readonly Extract<LedgerEntry, { t: 'commit' }>[];
  readonly head: HeadSeen | undefined;
  /** Every place that this session's own calls moved HEAD to, oldest first. */
  readonly moves: readonly HeadSeen[];
  readonly events: readonly LedgerEvent[];
  readonly requests: readonly LedgerRequest[];
  /** What it has been told, and when. */
  readonly told: ReadonlyMap<string, number>;
  /** Times of its shell commands that are over. */
  readonly windows: readonly Window[];
}
