import type { BelongsTo, ChangeKind } from '../domain/ledger/ownership.ts';
import type { OverlapKind } from '../domain/overlap.ts';
import type { Evidence, Wish } from '../domain/ledger/tree-status.ts';
import type { Staleness } from '../domain/staleness.ts';
import type { RemoteRelation } from '../domain/tracking/relation.ts';
import type { AutomaticReason } from '../domain/handoff.ts';
import type { NoteFinding } from '../domain/verification/findings.ts';
import type { BoardWork } from '../ui/board/shape.ts';

/**
 * The shapes of `--json`. Every answer is one object `{"schema":1,"ok":true,…}`, with lists under `items`.
 * schema/output.schema.json describes them for programs. Times are RFC 3339, UTC.
 */
export interface HandoffShape {
  readonly branch: string;
  readonly topic: string;
  readonly ref: string;
  readonly oid: string;
  readonly parent: string | null;
  readonly state: 'open' | 'closed';
  readonly owner: string;
  readonly ownerName: string | null;
  readonly agent: string | null;
  readonly client: string | null;
  readonly summary: string;
  /** The commit of `HEAD` when the note was written. */
  readonly base: string | null;
  readonly createdAt: string;
  readonly takenFrom: string | null;
  /** The operator to whom the note is addressed, and the operator that wrote it. */
  readonly to: string | null;
  readonly from: string | null;
  /** The scanner's rules whose findings in the note somebody allowed. */
  readonly secretAllowed: readonly string[];
  /** The uncommitted work that the note carries; sizes are `null` if the note does not state them. */
  readonly work: {
    readonly oid: string;
    readonly paths: number | null;
    readonly bytes: number | null;
  } | null;
  /** Whether the note is somebody else's, and the reader has not acknowledged its present version. */
  readonly unread: boolean;
}

export interface ListedShape extends HandoffShape {
  /** Why git-handoff wrote the note by itself; `null` when somebody wrote it. */
  readonly automatic: AutomaticReason | null;
  /** Why the note looks done or out of place, judging by its branch. */
  readonly staleness: Staleness;
  /** How the handoff compares with what each remote showed when last asked. */
  readonly remotes: readonly RemoteRelation[];
}

/** A note's text in JSON: plain if it is UTF-8, or else in base64. */
export type NoteShape = { readonly note: string } | { readonly noteBase64: string };

export type StepName =
  'create' | 'write' | 'close' | 'reopen' | 'take' | 'succeed' | 'merge' | 'diverge' | 'illegal';

export interface VersionShape extends HandoffShape {
  readonly step: StepName;
}

/**
 * What a sync did, or would do, with one handoff. A fetch says `created`, `forwarded`, `followed` (ours had no new text),
 * `set-aside` (ours is kept as a lost text) or `refused` (an illegal move at the remote). A push says `pushed`, `declined` (by
 * the remote), `behind`, `deleted-there` or `secret`. `moved`: others were faster. `ignored`: the ref is no handoff.
 */
export type SyncAction =
  | 'created'
  | 'forwarded'
  | 'followed'
  | 'set-aside'
  | 'refused'
  | 'pushed'
  | 'declined'
  | 'behind'
  | 'deleted-there'
  | 'secret'
  | 'moved'
  | 'ignored'
  | 'to-fetch'
  | 'to-push';

export interface SyncShape {
  readonly action: SyncAction;
  readonly remote: string;
  readonly branch: string | null;
  readonly topic: string | null;
  /** Our ref or, for `ignored`, the remote's ref. */
  readonly ref: string;
  readonly oid: string | null;
  /** The former tip: ours if the handoff was fetched, the remote's if it was pushed. */
  readonly former: string | null;
  /** The number with which `show --lost` prints our text that was set aside. */
  readonly lost: number | null;
  readonly owner: string | null;
  readonly ownerText: string | null;
  readonly newOwner: string | null;
  readonly newOwnerText: string | null;
  readonly why: string | null;
}

export interface LostShape {
  readonly number: number;
  readonly ref: string;
  readonly kind: 'refused' | 'illegal-move' | 'diverged';
  readonly session: string | null;
  readonly createdAt: string;
  readonly reason: string;
}

export interface SessionShape {
  readonly session: string;
  readonly client: string;
  readonly liveness: 'live' | 'dead' | 'unknown' | 'ended';
  readonly pid: number | null;
  readonly branch: string | null;
  readonly worktree: string | null;
  readonly startedAt: string;
  readonly idleSeconds: number | null;
  readonly parent: string | null;
  readonly succeeds: string | null;
  readonly ended: { readonly at: string; readonly reason: string } | null;
  /** Whether this session runs the command. */
  readonly self: boolean;
  /** The paths that the session changed in its worktree and that nobody has committed. */
  readonly uncommitted: readonly string[];
}

/** One side of an overlap: a worktree with its uncommitted changes, or a branch as committed. */
export interface OverlapSideShape {
  /** The worktree; `null` for a branch. */
  readonly worktree: string | null;
  /** The branch; `null` for a detached HEAD. */
  readonly branch: string | null;
  /** The live sessions at work there. */
  readonly sessions: readonly NamedSessionShape[];
}

/** Two sides that changed, or may have changed, the same paths. */
export interface OverlapShape {
  readonly sides: readonly [OverlapSideShape, OverlapSideShape];
  /** The paths that both changed, the worst first. */
  readonly paths: readonly {
    readonly path: string;
    /** `same-tree`: two sessions changed the path in one working tree. */
    readonly kind: OverlapKind | 'same-tree';
    /** The side that deleted the path. */
    readonly deletedBy: 0 | 1 | null;
  }[];
  /** Why the paths are unknown; `null` when they are known. */
  readonly unknown: string | null;
}

/** A path that differs from HEAD, with the session that changed it. */
export interface DirtyPathShape {
  readonly path: string;
  readonly change: ChangeKind;
  readonly state: BelongsTo;
  /** The owner; `null` when no session or several sessions claim the path. */
  readonly owner: string | null;
  readonly owners: readonly string[];
  readonly evidence: Evidence | null;
  /** Whether somebody else may have made the change. */
  readonly weak: boolean;
  readonly since: string | null;
  readonly staged: boolean;
  /** Other worktrees in which a session at work has changed the path, too. */
  readonly alsoIn: readonly AlsoChangedShape[];
}

/** Another worktree in which a path is changed, and the outcome of merging the two changes. */
export interface AlsoChangedShape {
  readonly worktree: string;
  readonly sessions: readonly NamedSessionShape[];
  readonly kind: OverlapKind;
}

export interface NamedSessionShape {
  readonly session: string;
  /** The client; `null` when the session is no longer on record. */
  readonly client: string | null;
  readonly liveness: SessionShape['liveness'];
}

/** A refusal that protected another session's uncommitted change, passed on to that session as a request. */
export interface RequestShape {
  readonly from: string;
  readonly to: string;
  readonly wish: Wish;
  readonly path: string;
  readonly worktree: string;
  readonly askedAt: string;
  /** When the other session's client received the request; `null` until then. */
  readonly handedAt: string | null;
}

export interface TakenPathShape {
  readonly path: string;
  readonly worktree: string;
  /** The sessions whose claim the take ended. */
  readonly from: readonly string[];
  /** The new owner; `null` when a person took the path. */
  readonly to: string | null;
  readonly taken: boolean;
}

/** A commit that holds several sessions' work. */
export interface MixedCommitShape {
  readonly kind: 'mixed';
  readonly oid: string;
  readonly summary: string;
  readonly sessions: readonly string[];
  readonly paths: number;
}

/** A handoff that was moved by hand, or that a push would move illegally. */
export interface IllegalMoveShape {
  readonly kind: 'illegal';
  readonly ref: string;
  /** The branch; `null` when the ref is badly named. */
  readonly branch: string | null;
  readonly topic: string | null;
  readonly reason: string;
  /** The object at the ref; `null` when the ref is gone. */
  readonly oid: string | null;
}

export interface CommitShape {
  readonly commit: string;
  /** The changed paths, from the top of the working tree; hooks may have added some. */
  readonly paths: readonly string[];
  /** Other uncommitted changes with their owners; `null` for a change without an owner. */
  readonly left: readonly { readonly path: string; readonly owner: string | null }[];
}

export interface StagedShape {
  readonly path: string;
  /** Whether only the session's hunks are staged, because another live session has changed the file, too. */
  readonly hunks: boolean;
}

/** What one session has changed and not committed; `session` is `null` for changes of unknown origin. */
export type SessionDiffShape = { readonly session: string | null } & (
  { readonly patch: string } | { readonly patchBase64: string }
);

/** A command that was run on HEAD plus the caller's changes. */
export interface TriedShape {
  /** The command as a shell takes it; a long command is cut. */
  readonly command: string;
  readonly status: number;
  /** The tree that the command ran on, and the commit that this tree builds on. */
  readonly tree: string;
  readonly head: string;
}

/** A refusal that a person has allowed in advance. */
export interface AllowShape {
  /** Whose refusal is allowed; `null`: that of whichever session is refused first. */
  readonly session: string | null;
  readonly until: string;
}

interface RescuedFileShape {
  readonly path: string;
  readonly mode: string;
  readonly bytes: number;
  /** The owner; `null` when there is none, or it is unknown. */
  readonly owner: string | null;
}

export interface RescueShape {
  readonly number: number;
  /** `before` a command · `seen`: gone without a tool call · `undone`: before `undo` · `stop`: turn's end · `stash`: by git. */
  readonly kind: 'before' | 'seen' | 'undone' | 'stop' | 'stash';
  readonly ref: string;
  readonly oid: string;
  /** When the work was in this state. */
  readonly at: string;
  /** The name of the working tree's folder; `null` for the stash, which all worktrees share. */
  readonly worktree: string | null;
  /** The branch; `null` for a detached HEAD, or when it is unknown. */
  readonly branch: string | null;
  /** The command before which the work was saved, or the message of the stash entry. */
  readonly reason: string;
  /** The session that ran the command or made the entry; `null` when it is unknown. */
  readonly session: string | null;
  /** The entry's number in the stash; `null` when it is no stash entry, or was dropped. */
  readonly stashIndex: number | null;
  readonly files: readonly RescuedFileShape[];
  readonly deleted: readonly string[];
  readonly staged: readonly string[];
  readonly skipped: readonly { readonly path: string; readonly bytes: number; readonly why: string }[];
}

/** A former content of a path, which git still has although nothing refers to it. */
export interface FoundShape {
  readonly path: string;
  /** The object to name in `git handoff rescue restore`. */
  readonly which: string;
  readonly blob: string;
  /**
   * What holds the content at this path: a commit; a dropped stash entry, its index or its untracked files; a snapshot that
   * git-handoff no longer keeps; or a tree that no commit has. `blob`: nothing records the path.
   */
  readonly kind: 'commit' | 'stash' | 'index' | 'untracked' | 'snapshot' | 'tree' | 'blob';
  /** The commit's time, or when the content was stored; `null` when that is not recorded. */
  readonly at: string | null;
  /** The first line of the commit's or the stash entry's message. */
  readonly subject: string;
  /** `null`: not asked for. */
  readonly bytes: number | null;
  /** For `blob`: the version of the path that is most like the content; `null` when none is known. */
  readonly like: { readonly percent: number; readonly what: string } | null;
  /** The content's first line, if there is no version to compare it with. */
  readonly begins: string | null;
}

/** What `import` did, or with `--dry-run` would do, with a file that it found. */
export interface ImportShape {
  /** The path from the current folder if the file is under it, or else the full path. */
  readonly file: string;
  readonly format: 'guard' | 'handover' | 'structured' | 'markdown' | null;
  /** `update`: writes the next version; `close`: the file was archived since; `refuse`: the import failed. */
  readonly action: 'create' | 'update' | 'close' | 'unchanged' | 'skip' | 'refuse';
  readonly branch: string | null;
  readonly topic: string | null;
  readonly owner: string | null;
  readonly state: 'open' | 'closed' | null;
  readonly to: string | null;
  /** The handoff's commit afterwards; `null` when nothing was written. */
  readonly oid: string | null;
  /** Why the file is left out, or what to know about the note. */
  readonly why: string | null;
}

export interface ExportShape {
  readonly branch: string;
  readonly topic: string;
  readonly oid: string;
  readonly owner: string;
  readonly format: 'markdown' | 'guard' | 'handover';
  /** The file; `null` for standard output. */
  readonly file: string | null;
  /** False when the file already had this content. */
  readonly written: boolean;
}

export interface CheckShape {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem' | 'fixed';
  readonly detail: string;
  readonly hint: string | null;
}

export interface BoardShape {
  readonly sessions: number;
  /** What each session has changed in a working tree and not committed. */
  readonly work: readonly ({ readonly session: string } & BoardWork)[];
  readonly handoffs: number;
  readonly refusals: number;
  readonly bytes: number;
  /** The file; `null` for standard output. */
  readonly file: string | null;
}

/** A note that was checked against the repository, with what it hands over. */
export interface BootShape extends HandoffShape {
  readonly automatic: AutomaticReason | null;
  /** The writer of the text; somebody else may have taken the note since. */
  readonly writer: string;
  readonly writerText: string;
  readonly writtenAt: string;
  /** The commit that the text describes. */
  readonly writtenOn: string | null;
  readonly goal: string;
  readonly goalIsSummary: boolean;
  readonly currentState: string | null;
  /** The next action; `null` when the note names none. */
  readonly nextAction: string | null;
  readonly stopConditions: string | null;
  readonly stale: boolean;
  readonly findings: readonly NoteFinding[];
  readonly carried: CarriedShape | null;
}

/** The uncommitted work that a note carries, and whether it would unpack here. */
export interface CarriedShape {
  readonly author: string;
  /** `12 paths, 34 KiB` */
  readonly size: string;
  readonly unpacks: 'cleanly' | 'is there' | 'no' | 'not fetched';
  readonly why: string | null;
}
