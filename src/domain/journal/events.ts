import type { Evidence, FileState, Wish } from '../ledger/tree-status.ts';
import type { Oid, SessionId } from '../names.ts';

/**
 * Every event of a session's journal, `<common dir>/handoff/sessions/<session>.jsonl`: one line each, in the order in which
 * they were written. Times (`at`, `from`) are milliseconds since the epoch, paths are relative to the top of the working
 * tree as git prints them. An event of a worktree has the worktree's id on its line, as `tree`. `foldJournal` turns a
 * session's events into its state.
 *
 * A new kind of event needs its type here, in `lines.ts` the way to read its line, in `fold.ts` what it changes, and in
 * `compact.ts` what survives a compaction.
 */
export type JournalEvent = WorktreeEvent | SessionEvent;

/** What a session did, or has yet to hear, in one worktree. */
export type WorktreeEvent = Dated & (ChangeEvent | CommandEvent | MessageEvent | PresenceEvent | StateEvent);

interface Dated {
  readonly at: number;
}

/** What a session has seen, tried and begun in a worktree. */
type StateEvent =
  /** Where HEAD was when this session, or sub-agent, last looked; `own`: its own tool call moved it there. */
  | (OfAgent & { readonly t: 'head'; readonly ref: string; readonly oid: Oid | null; readonly own: boolean })
  /** The session ran a command on the tree `on`: HEAD plus the session's changes (`git handoff try`). */
  | { readonly t: 'tried'; readonly command: string; readonly status: number; readonly on: Oid }
  /** The session began the merge, rebase … that `mark` identifies; `merged`: the tree that git merged, if known. */
  | (OfAgent & { readonly t: 'operation'; readonly mark: string; readonly merged?: Oid });

/** The sub-agent that an event is about, if the client names it. */
interface OfAgent {
  readonly agent?: string;
}

/** Who changed what, and what became of it. */
type ChangeEvent = OfAgent & (WorkEvent | AnnouncementEvent);

/** What a session has changed, and put into the index. */
type WorkEvent =
  /** This session changed a path. */
  | {
      readonly t: 'claim';
      readonly path: string;
      /** What HEAD had at the path when the session first changed it. */
      readonly base: FileState;
      readonly before: FileState;
      readonly after: FileState;
      readonly evidence: Evidence;
      /** Whether the claim only warns, because somebody else may have made this change. */
      readonly weak: boolean;
      /** When the command that changed the path began; left out for a file tool, which takes no time. */
      readonly began?: number;
    }
  /** The claim on a path is over. */
  | {
      readonly t: 'end';
      readonly path: string;
      readonly why: 'clean' | 'committed' | 'taken';
      /** Who took it. */
      readonly by?: SessionId;
    }
  /** A claim that had ended because the path was clean is open again: its change is back. */
  | { readonly t: 'revived'; readonly path: string }
  /** An allowed commit of this session: its parent, and the state that it gives each path. */
  | {
      readonly t: 'commit';
      readonly parent: Oid | null;
      readonly paths: readonly (readonly [path: string, state: FileState])[];
    }
  /** What the index holds at a path because this session put it there (`stage --mine`, `git rm --cached`). */
  | {
      readonly t: 'staged';
      readonly path: string;
      readonly state: FileState;
      /** What HEAD had there, if known. */
      readonly head?: FileState;
    };

/** Calls of file tools whose results have not arrived. */
type AnnouncementEvent =
  /** A file tool of this session is about to write these paths. That refuses nobody. */
  | { readonly t: 'announced'; readonly paths: readonly string[] }
  /** The calls that `agent` announced on `paths` until `at` are over; a field that is left out means all. */
  | { readonly t: 'answered'; readonly paths?: readonly string[] };

/** The shell commands that a session runs. */
type CommandEvent =
  /** A command begins. `look` is the working tree before the command, as `formatTreeStatus` writes it. */
  | ({ readonly t: 'command'; readonly id: string; readonly look: string } & StartedCommand)
  /** The command is over. Without `from`: nobody reported its end, so the command is only forgotten. */
  | ({
      readonly t: 'command-end';
      readonly id: string;
      readonly from?: number;
      /** Whether a program that the command started in the background may still run. */
      readonly goesOn?: boolean;
    } & OfAgent);

/** What is known of a command when it begins. */
export interface StartedCommand {
  /** The sub-agent that runs it; empty for the session itself. */
  readonly agent: string;
  /** Paths that the command itself names as written or removed. */
  readonly named: readonly string[];
  /** Whether it runs `git commit`, whose hooks may put the whole tree aside for a while. */
  readonly commits: boolean;
  /** The tree that git had last merged when the command began; empty if there was none. */
  readonly merged: string;
  /** Whether `look` was taken for this command; otherwise `look` is an older status. */
  readonly looked: boolean;
  /** The folder of the client's shell, without symbolic links, if the shell's next command runs there, too. */
  readonly shell?: string;
}

export const ABOUT = ['take', 'loss', 'bypass'] as const;

/** What sessions have to say to each other. */
type MessageEvent = OfAgent & Message;

type Message =
  /** News for the other sessions of the worktree (or for `to` alone); each hears it once. */
  | {
      readonly t: 'news';
      readonly id: string;
      readonly text: string;
      readonly to?: SessionId;
      /** What the news is about, if subscribers get it: a take, work that is gone or changed, what a person let through. */
      readonly about?: (typeof ABOUT)[number];
      readonly paths?: readonly string[];
    }
  /** This session was refused something because `to` claims these paths. The request counts while they are claimed. */
  | { readonly t: 'request'; readonly to: SessionId; readonly wish: Wish; readonly paths: readonly string[] }
  /** This session has heard the news `ids`. `by`: the call that reports them; of parallel calls, the first journaled. */
  | { readonly t: 'notified'; readonly ids: readonly string[]; readonly by?: string };

/** Where a session is at work, and since when. */
type PresenceEvent =
  /** The session was put on record here, under this process. */
  | { readonly t: 'registered'; readonly pid: number; readonly start: string }
  /** The session is no longer on record here. */
  | { readonly t: 'unregistered' }
  /** The session works in this worktree, whose top is `top`, from a folder outside. */
  | { readonly t: 'visit'; readonly top: string }
  /** The session no longer works here from outside. */
  | { readonly t: 'visit-end' }
  /** The session begins to work alone; `look` is what was dirty then (`formatTreeStatus`). */
  | { readonly t: 'alone'; readonly look: string }
  /** The session ended, or was found dead, while it worked alone. */
  | { readonly t: 'paused'; readonly look: string }
  /** The session's time alone is over, and its start list is no longer needed. */
  | { readonly t: 'not-alone' }
  /** The session has ended, and its automatic note is still due. */
  | { readonly t: 'note-due' }
  /** The automatic note was left, or was not needed; `process`: the process as which the session died. */
  | { readonly t: 'note-left'; readonly process?: string };

/** What a session did or heard, in whatever worktree. */
export type SessionEvent = Dated & SessionWide;

type SessionWide =
  /** The session was asked to write a note when `note` was its last one; `atStop`: at the end of a turn. */
  | { readonly t: 'asked'; readonly note: string; readonly atStop: boolean }
  /** The session's client and model, as its commits name them; empty: they must name neither. */
  | { readonly t: 'model'; readonly name: string }
  /** A call of the session was refused. */
  | (OfAgent & { readonly t: 'refused'; readonly text: string })
  /** The session took a note (`<branch>/<topic>`) over from another session. */
  | { readonly t: 'took'; readonly topic: string; readonly from: SessionId }
  /** The session's command may make stash entries; `before` are those that existed. */
  | { readonly t: 'stashing'; readonly before: readonly Oid[] }
  /** The command of `stashing` is over, and made these entries. */
  | { readonly t: 'stashed'; readonly entries: readonly Oid[] }
  /** A sub-agent runs: its changes, those of earlier runs included, are its own. */
  | { readonly t: 'agent-started'; readonly agent: string }
  /** The sub-agent or, without `agent`, each of them has ended: its changes are the session's. */
  | { readonly t: 'agent-ended'; readonly agent?: string }
  /** The session has ended. If it comes back, what it had heard and been asked no longer counts. */
  | { readonly t: 'ended' }
  /** See {@link MessageEvent}. */
  | Extract<MessageEvent, { readonly t: 'notified' }>;

export type EventOf<Kind extends JournalEvent['t']> = Extract<JournalEvent, { readonly t: Kind }>;

/** An event as it stands in the journal. */
export interface JournalLine {
  /** The id of the worktree that it is about; `undefined`: it is about the session as a whole. */
  readonly tree: string | undefined;
  readonly event: JournalEvent;
}
