import type { SessionId } from '../names.ts';
import type { EventOf } from '../journal/events.ts';
import type { FileState, Window } from './tree-status.ts';

/** A claim: this session changed this path since HEAD. Paths begin at the top of the working tree, as git prints them. */

export interface PathChange {
  readonly before: FileState;
  readonly after: FileState;
}

/** A claim that has not ended, as its last change left it. */
export interface OpenClaim extends Omit<EventOf<'claim'>, 't' | 'before'> {
  readonly session: SessionId;
  /** Oldest first; neighbours that fit (`after` of one is `before` of the next) are merged into one. */
  readonly changes: readonly PathChange[];
  /** The path's states in this session's allowed commits. */
  readonly committed: readonly FileState[];
  /** When the first change was made. */
  readonly since: number;
}

/** What a session did; `by`: the sub-agent that did it and has stopped since. */
type DoneBy<Kind extends 'head' | 'news'> = EventOf<Kind> & { readonly by?: SessionId };

export const LASTING = ['visit', 'alone', 'paused', 'note-due', 'note-left'] as const;
type LastingKind = (typeof LASTING)[number];

/** The state that a session's events in one worktree add up to. */
export interface SessionLedger {
  readonly session: SessionId;
  readonly claims: ReadonlyMap<string, OpenClaim>;
  /** Claims that ended because the path was clean, and not because it was committed: the change may come back. */
  readonly ended: ReadonlyMap<string, OpenClaim>;
  /** Paths that others took from the session, and who took each. A new claim of the session removes the path. */
  readonly taken: ReadonlyMap<string, SessionId>;
  /** The file tools' calls whose results have not arrived, by path. */
  readonly announced: ReadonlyMap<string, EventOf<'announced'>>;
  /** What the session put into the index itself, by path. */
  readonly staged: ReadonlyMap<string, readonly EventOf<'staged'>[]>;
  readonly commits: readonly EventOf<'commit'>[];
  /** Where HEAD was when the session last looked. */
  readonly head: EventOf<'head'> | undefined;
  /** Every place that this session's own calls moved HEAD to, oldest first. */
  readonly moves: readonly DoneBy<'head'>[];
  readonly news: readonly DoneBy<'news'>[];
  readonly requests: readonly EventOf<'request'>[];
  /** What the session has heard, and when. */
  readonly notified: ReadonlyMap<string, number>;
  /** When each of its finished shell commands ran. */
  readonly windows: readonly Window[];
  /** Its shell commands that run now, by their ids. */
  readonly commands: ReadonlyMap<string, EventOf<'command'>>;
  /** For each process with which the session was put on record in this worktree, the last `registered` event. */
  readonly registrations: ReadonlyMap<string, EventOf<'registered'>>;
  readonly operations: readonly EventOf<'operation'>[];
  /** The last run of each command that the session tried, the newest last. */
  readonly tried: ReadonlyMap<string, EventOf<'tried'>>;
  /** The last event of each of these kinds, unless a later event has ended what it says. */
  readonly lasting: { readonly [Kind in LastingKind]?: EventOf<Kind> };
}
