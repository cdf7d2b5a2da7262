import type { BelongsTo, ChangeKind } from '../domain/ledger/belonging.ts';
import type { MergeOutcome } from '../domain/meeting.ts';
import type { Evidence, Wish } from '../domain/ledger/file-state.ts';
import type { Staleness } from '../domain/staleness.ts';
import type { RemoteRelation } from '../domain/tracking/relation.ts';
import type { AutomaticReason } from '../domain/handoff.ts';
import type { NoteFinding } from '../domain/verification/facts.ts';

/**
 * The shapes of `--json`. Every answer is one object `{"schema":1,"ok":true,…}`; lists stand under
 * `items`. schema/output.schema.json describes them for programs.
 */
export interface HandoffShape {
  readonly branch: string;
  readonly topic: string;
  readonly ref: string;
  readonly oid: string;
  readonly parent: string | null;
  readonly state: 'open' | 'closed';
  readonly owner: string;
  /** What a person is called; `null` for a session. */
  readonly ownerName: string | null;
  readonly agent: string | null;
  readonly client: string | null;
  readonly summary: string;
  /** The commit `HEAD` was at when the note was written. */
  readonly base: string | null;
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly takenFrom: string | null;
  /** The operator that it is addressed to, and the one that wrote it. */
  readonly to: string | null;
  readonly from: string | null;
  /** The scanner's rules whose findings in it somebody let pass. */
  readonly secretAllowed: readonly string[];
  /** The uncommitted work that it carries; sizes are `null` if the note does not state them. */
  readonly work: {
    readonly oid: string;
    readonly paths: number | null;
    readonly bytes: number | null;
  } | null;
  /** Not the reader's own, and not acknowledged as it stands. */
  readonly unread: boolean;
}

/** A handoff in a list. */
export interface ListedShape extends HandoffShape {
  /** Why git-handoff left it by itself; `null`: somebody wrote it. */
  readonly automatic: AutomaticReason | null;
  /** Why its branch makes it look done or out of place. */
  readonly staleness: Staleness;
  /** How it stands to each remote that has been asked; offline. */
  readonly remotes: readonly RemoteRelation[];
}

/** A note's text in JSON: as text when it is UTF-8, else in base64. */
export type NoteShape = { readonly note: string } | { readonly noteBase64: string };

export type StepName =
  'create' | 'write' | 'close' | 'reopen' | 'take' | 'succeed' | 'merge' | 'diverge' | 'illegal';

export interface VersionShape extends HandoffShape {
  readonly step: StepName;
}

/**
 * What a sync did, or would do, with one handoff. Fetched: `created`, `forwarded`, `followed` (ours had taken or closed it
 * only), `set-aside` (ours is kept as a lost text), `refused` (an illegal move there) · pushed: `pushed`, `declined`
 * by the remote, `behind`, `deleted-there`, `secret` (it stays) · `moved`: somebody was faster, each time · `ignored`: no handoff.
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
  /** Our ref; of what is ignored the remote's. */
  readonly ref: string;
  readonly oid: string | null;
  /** The commit that stood here (fetched) or there (pushed) before. */
  readonly former: string | null;
  /** By which number `show --lost` prints what stood here. */
  readonly lost: number | null;
  /** Who owned it here before. */
  readonly owner: string | null;
  /** The same as messages name it. */
  readonly ownerText: string | null;
  /** Who owns what the remote has. */
  readonly newOwner: string | null;
  readonly newOwnerText: string | null;
  /** Why it was refused, ignored or declined; who took it. */
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
  /** The session that runs this command. */
  readonly self: boolean;
  /** Paths of its worktree that it changed and nobody has committed. */
  readonly uncommitted: readonly string[];
  /** Paths that are changed in its worktree and in the asker's. */
  readonly alsoHere: readonly string[];
}

/** One side of an overlap: a worktree with what is uncommitted in it, or a branch as it is committed. */
export interface OverlapSideShape {
  /** `null`: a branch. */
  readonly worktree: string | null;
  /** `null`: detached. */
  readonly branch: string | null;
  /** The live sessions at work there. */
  readonly sessions: readonly NamedSessionShape[];
}

/**
 * `conflict`: a merge would stop there · `deleted`: one side deleted or moved what the other changed, which stops it, too ·
 * `not-judged`: nobody tried · `same-tree`: two sessions changed it in one working tree · `same-file`: both changed it, and it
 * merges.
 */
export type OverlapKind = 'conflict' | 'deleted' | 'not-judged' | 'same-tree' | 'same-file';

/** Two sides that changed the same paths, or of which that is not known. */
export interface OverlapShape {
  readonly sides: readonly [OverlapSideShape, OverlapSideShape];
  /** The worst first. */
  readonly paths: readonly {
    readonly path: string;
    readonly kind: OverlapKind;
    /** Which of the sides deleted it. */
    readonly deletedBy: 0 | 1 | null;
  }[];
  /** Why it is not known; `null`: it is. */
  readonly unknown: string | null;
}

/** A path that differs from HEAD, and whose change that is. */
export interface DirtyPathShape {
  /** From the top of the working tree. */
  readonly path: string;
  readonly change: ChangeKind;
  readonly state: BelongsTo;
  /** `null` when it is nobody's, or contended. */
  readonly owner: string | null;
  readonly owners: readonly string[];
  readonly evidence: Evidence | null;
  /** Somebody else may have made the change. */
  readonly weak: boolean;
  readonly since: string | null;
  readonly staged: boolean;
  /** Other worktrees in which somebody at work has changed it, too. */
  readonly alsoIn: readonly AlsoChangedShape[];
}

/** Where a path is changed, too, and what becomes of it when the two are merged. */
export interface AlsoChangedShape {
  readonly worktree: string;
  readonly sessions: readonly NamedSessionShape[];
  readonly outcome: MergeOutcome;
}

/** A session that an answer names. */
export interface NamedSessionShape {
  readonly session: string;
  /** `null`: it is not on record any more. */
  readonly client: string | null;
  readonly liveness: SessionShape['liveness'];
}

/** A session was refused for the sake of another one's uncommitted change. */
export interface RequestShape {
  readonly from: string;
  readonly to: string;
  readonly wish: Wish;
  /** From the top of the working tree. */
  readonly path: string;
  readonly worktree: string;
  readonly askedAt: string;
  /** When the other one's client got it; `null`: not yet. */
  readonly handedAt: string | null;
}

export interface TakenPathShape {
  readonly path: string;
  readonly worktree: string;
  /** Sessions whose claim ended by this. */
  readonly from: readonly string[];
  /** Who has it now; `null`: nobody, because a person took it. */
  readonly to: string | null;
  /** False when there was nothing to take. */
  readonly taken: boolean;
}

/** A commit that holds several sessions' work. */
export interface MixedCommitShape {
  readonly kind: 'mixed';
  readonly oid: string;
  readonly summary: string;
  readonly sessions: readonly string[];
  /** How many paths it changes. */
  readonly paths: number;
}

/** A handoff that was moved by hand, or that a push would move so. */
export interface IllegalMoveShape {
  readonly kind: 'illegal';
  readonly ref: string;
  /** `null`: the ref is badly named. */
  readonly branch: string | null;
  readonly topic: string | null;
  readonly reason: string;
  /** What stands there; `null` when the ref is gone. */
  readonly oid: string | null;
}

/** A commit that was made for a session. */
export interface CommitShape {
  readonly commit: string;
  /** What it changes, from the top of the working tree; hooks may have added to it. */
  readonly paths: readonly string[];
  /** Other uncommitted changes, with whose they are; `null`: nobody's. */
  readonly left: readonly { readonly path: string; readonly owner: string | null }[];
}

export interface StagedShape {
  readonly path: string;
  /** Only the session's hunks; another live session has changed the file, too. */
  readonly hunks: boolean;
}

/** A refusal that a person has allowed in advance. */
export interface AllowShape {
  /** `null`: whichever session is refused first. */
  readonly session: string | null;
  readonly until: string;
}

/** A file that a rescue holds. */
interface RescuedFileShape {
  readonly path: string;
  readonly mode: string;
  readonly bytes: number;
  /** `null`: nobody's, or not known. */
  readonly owner: string | null;
}

/** Uncommitted work that was kept. */
export interface RescueShape {
  readonly number: number;
  /** `before`: a command · `seen`: gone without a tool call · `stash`: an entry of git-stash(1). */
  readonly kind: 'before' | 'seen' | 'stash';
  readonly ref: string;
  readonly oid: string;
  /** When the work was like that. */
  readonly at: string;
  /** Name of the working tree's folder; `null` for the stash, which all share. */
  readonly worktree: string | null;
  /** `null`: a detached HEAD, or not known. */
  readonly branch: string | null;
  /** The command that it was kept for, or the message of the stash. */
  readonly reason: string;
  /** Who ran the command or made the entry; `null`: not known. */
  readonly session: string | null;
  /** Place in the stash; `null`: none, or dropped. */
  readonly stashIndex: number | null;
  readonly files: readonly RescuedFileShape[];
  readonly deleted: readonly string[];
  readonly staged: readonly string[];
  readonly skipped: readonly { readonly path: string; readonly bytes: number; readonly why: string }[];
}

/** What becomes (with `--dry-run`: would become) of a file that `import` found. */
export interface ImportShape {
  /** From where the command runs, if it lies below. */
  readonly file: string;
  readonly format: 'guard' | 'handover' | 'structured' | 'markdown' | null;
  /** `update`: the next version · `close`: it was put away since · `refuse`: with an error. */
  readonly action: 'create' | 'update' | 'close' | 'unchanged' | 'skip' | 'refuse';
  readonly branch: string | null;
  readonly topic: string | null;
  readonly owner: string | null;
  readonly state: 'open' | 'closed' | null;
  /** The operator that it is addressed to. */
  readonly to: string | null;
  /** The handoff's commit afterwards; `null`: nothing was written. */
  readonly oid: string | null;
  /** Why it is left out, or what is to be known about it. */
  readonly why: string | null;
}

/** A handoff that `export` has made a copy of. */
export interface ExportShape {
  readonly branch: string;
  readonly topic: string;
  readonly oid: string;
  readonly owner: string;
  readonly format: 'markdown' | 'guard' | 'handover';
  /** `null`: standard output. */
  readonly file: string | null;
  /** False when that very text stood there already. */
  readonly written: boolean;
}

export interface CheckShape {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem' | 'fixed';
  readonly detail: string;
  readonly hint: string | null;
}

/** A board that was written, or is being served. */
export interface BoardShape {
  readonly sessions: number;
  readonly handoffs: number;
  readonly refusals: number;
  /** Size of the page. */
  readonly bytes: number;
  /** `null`: standard output. */
  readonly file: string | null;
}

/** A note that was checked against the repository, and what it hands on. */
export interface BootShape extends HandoffShape {
  readonly automatic: AutomaticReason | null;
  /** Who wrote the text; the owner may have taken it. */
  readonly writer: string;
  /** The same as messages name it. */
  readonly writerText: string;
  readonly writtenAt: string;
  /** The commit that the text is about. */
  readonly writtenOn: string | null;
  readonly goal: string;
  readonly goalIsSummary: boolean;
  /** What the note says of the state of the work. */
  readonly currentState: string | null;
  /** `null`: it names none. */
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
  /** What is in the way. */
  readonly why: string | null;
}
