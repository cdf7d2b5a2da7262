/**
 * What the board shows, as plain data. `git handoff board` embeds it in the page as JSON, and the page's script reads
 * it. Times are milliseconds since the epoch; a number that names a session is its index in `sessions`. Texts have no
 * control or bidirectional characters, but are not escaped for HTML.
 */
export interface Board {
  readonly v: 1;
  readonly repository: string;
  readonly at: number;
  /** Whether session records are kept here; false: `init` never ran. */
  readonly initialised: boolean;
  readonly sessions: readonly BoardSession[];
  /** The handoffs, the most recently changed first. */
  readonly topics: readonly BoardTopic[];
  /** Newest first. */
  readonly commits: readonly BoardCommit[];
  /** Newest first. */
  readonly refusals: readonly BoardRefusal[];
  /** The texts of the newest notes, as many as fit, by the version's object name. */
  readonly notes: Readonly<Record<string, string>>;
  /** Sentences that say what was left out. */
  readonly limits: readonly string[];
}

/** `none`: the session is not on record, and known only from what it wrote. */
export type LaneState = 'live' | 'unknown' | 'dead' | 'ended' | 'none';

export interface BoardSession {
  readonly id: string;
  readonly state: LaneState;
  readonly client?: string;
  /** The name of a person. */
  readonly name?: string;
  readonly from: number;
  /** The time at which the session ended or was last seen. */
  readonly to: number;
  readonly reason?: string;
  /** The branch checked out in the session's worktree, or else the branch on which the session last worked. */
  readonly branch?: string;
  readonly worktree?: string;
  /** The session in which this one was started, and the session whose conversation this one continues. */
  readonly parent?: string;
  readonly succeeds?: string;
  /** What the session has changed and not committed, in each working tree. */
  readonly work?: readonly BoardWork[];
}

/** The numbers that `git handoff diff --stat` ends with. */
export interface BoardWork {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  readonly command: string;
}

export interface BoardTopic {
  readonly branch: string;
  readonly topic: string;
  /** Branch and topic as typed in a shell, if that differs from `<branch>/<topic>`. */
  readonly typed?: string;
  /** Newest first; the first one is the tip. */
  readonly versions: readonly BoardVersion[];
}

export type BoardStep = 'create' | 'write' | 'close' | 'reopen' | 'take' | 'succeed' | 'merge' | 'unreadable';

export interface BoardVersion {
  readonly oid: string;
  readonly at: number;
  /** `undefined` if the commit's trailers cannot be read. */
  readonly by?: number;
  readonly step: BoardStep;
  readonly summary: string;
  readonly closed?: true;
  /** The former owner, whose note was taken or whose conversation the new owner continues. */
  readonly takenFrom?: string;
  /** Why git-handoff left the note, if no session wrote it. */
  readonly automatic?: string;
  readonly to?: string;
  /** The uncommitted work that the note carries, in words. */
  readonly work?: string;
}

export interface BoardCommit {
  readonly oid: string;
  readonly at: number;
  readonly by: readonly number[];
  readonly subject: string;
  readonly branch?: string;
}

/** A command that was refused to a session, or a text that `git handoff write` refused. */
export interface BoardRefusal {
  readonly at: number;
  readonly by?: number;
  readonly detail: string;
}
