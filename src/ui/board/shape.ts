/**
 * What the board shows, as plain data: made by the command, embedded in the page as JSON, read by its script. Times are
 * milliseconds since the epoch; sessions are named by their place in `sessions`. Texts are escaped for the eye already
 * (no control or bidirectional characters), not for HTML.
 */
export interface Board {
  readonly v: 1;
  /** Name of the repository's folder. */
  readonly repository: string;
  readonly at: number;
  /** Where session records are kept; false: `init` never ran here. */
  readonly initialised: boolean;
  readonly sessions: readonly BoardSession[];
  /** The handoffs, last changed first. */
  readonly topics: readonly BoardTopic[];
  /** Newest first. */
  readonly commits: readonly BoardCommit[];
  /** Newest first. */
  readonly refusals: readonly BoardRefusal[];
  /** Texts of notes by the version's object name: the newest ones, as far as there is room. */
  readonly notes: Readonly<Record<string, string>>;
  /** Sentences that say what was left out. */
  readonly limits: readonly string[];
}

/** `none`: not on record; known by what it wrote. */
export type LaneState = 'live' | 'unknown' | 'dead' | 'ended' | 'none';

export interface BoardSession {
  readonly id: string;
  readonly state: LaneState;
  readonly client?: string;
  /** What a person is called. */
  readonly name?: string;
  readonly from: number;
  /** When it ended, or was seen last. */
  readonly to: number;
  /** How it ended. */
  readonly reason?: string;
  /** The branch that its worktree is on now, or else the one it worked on last. */
  readonly branch?: string;
  readonly worktree?: string;
  /** The session that it was started in, and the one whose conversation it carries on. */
  readonly parent?: string;
  readonly succeeds?: string;
}

export interface BoardTopic {
  readonly branch: string;
  readonly topic: string;
  /** Branch and topic as a shell reads them, where that is not `<branch>/<topic>`. */
  readonly typed?: string;
  /** Newest first; the first one is the tip. */
  readonly versions: readonly BoardVersion[];
}

export type BoardStep = 'create' | 'write' | 'close' | 'reopen' | 'take' | 'succeed' | 'merge' | 'unreadable';

export interface BoardVersion {
  readonly oid: string;
  readonly at: number;
  /** `undefined`: its trailers cannot be read. */
  readonly by?: number;
  readonly step: BoardStep;
  readonly summary: string;
  readonly closed?: true;
  /** The owner that it was taken from, or whose conversation goes on. */
  readonly takenFrom?: string;
  /** Why the note was left by the program and not by its session. */
  readonly automatic?: string;
  readonly to?: string;
  /** The uncommitted work that it carries, in words. */
  readonly work?: string;
}

export interface BoardCommit {
  readonly oid: string;
  readonly at: number;
  readonly by: readonly number[];
  readonly subject: string;
  readonly branch?: string;
}

/** What was refused to a session, or a text that `git handoff write` refused. */
export interface BoardRefusal {
  readonly at: number;
  readonly by?: number;
  readonly detail: string;
}
