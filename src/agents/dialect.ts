import type { Replacement } from '../domain/marker.ts';
import type { SessionId } from '../domain/names.ts';
import type { PatchedFile } from '../domain/patch.ts';
import type { EventKind } from '../domain/session.ts';

/** What a client is about to do, or has done, in our words. Paths are as the client gave them. */
export type ToolCall =
  /** Replaces or creates a whole file; `content` is its new content. */
  | { readonly kind: 'write'; readonly path: string; readonly content: string }
  | { readonly kind: 'edit'; readonly path: string; readonly edits?: readonly Replacement[] }
  /** Changes, creates, deletes or renames several files at once (apply_patch). */
  | { readonly kind: 'patch'; readonly files: readonly PatchedFile[] }
  /** `cwd`: where the command runs, if not in the session's folder. `inBackground`: it may run on after the call. */
  | { readonly kind: 'shell'; readonly command: string; readonly cwd?: string; readonly inBackground?: true }
  /** A command that the client runs without a shell. */
  | { readonly kind: 'argv'; readonly argv: readonly string[]; readonly cwd?: string }
  /** Anything that neither changes files nor runs a shell, or that we do not know. */
  | { readonly kind: 'other' }
  /** A tool that we know, with an input that we cannot read. */
  | { readonly kind: 'unreadable' };

export type SessionStartSource = 'startup' | 'resume' | 'clear' | 'compact' | 'fork' | 'unknown';

/** One call of a client's hook, in our words. `session` is `undefined` if the payload names no valid session. */
export interface GuardEvent {
  readonly kind: EventKind;
  /** The client's own name of the event, needed to answer it. */
  readonly name: string;
  readonly session: SessionId | undefined;
  /** The sub-agent that makes the call, if the client names it. */
  readonly agent: string | undefined;
  /** The session or sub-agent that started this one, if the client names no root session; `session` then has the same id. */
  readonly startedBy: SessionId | undefined;
  readonly cwd: string | undefined;
  /** The session's model, as the client spells it; `undefined`: the client does not name it. */
  readonly model: string | undefined;
  /** The client's own file of the session; `undefined`: the client names none. */
  readonly transcript: string | undefined;
  /** Present for before-tool and after-tool. */
  readonly tool: ToolCall | undefined;
  readonly toolName: string | undefined;
  /** The client's id of this call, the same before and after it; not every client gives one. */
  readonly callId: string | undefined;
  /** Absolute paths of files that a shell command changed, if the client reports them. */
  readonly changedFiles: readonly string[];
  /** Present for session-start. */
  readonly source: SessionStartSource | undefined;
  /** Why the session ended, as the client spells it (`clear`, `logout`, …). */
  readonly reason: string | undefined;
  /** Stop only: the client already ran a Stop hook in this turn. */
  readonly stopHookActive: boolean;
}

/** What the guard wants the client to do. */
export type Verdict =
  | { readonly kind: 'allow' }
  /** Allowed; `text` goes to the model (where the event can carry it). */
  | { readonly kind: 'context'; readonly text: string }
  /** Allowed; `text` is shown to the person, not to the model. */
  | { readonly kind: 'notice'; readonly text: string }
  /** Refused; `reason` reaches the model. */
  | { readonly kind: 'deny'; readonly reason: string }
  /** Not refused, but with other content in the tool's input; the client may still ask its user. */
  | { readonly kind: 'rewrite'; readonly content: string; readonly context?: string };

/** The client's environment variables; read once, at the program's boundary. */
interface DialectEnvironment {
  readonly [name: string]: string | undefined;
}

/**
 * One client's hook protocol. A new client needs a file that exports a `Dialect`, a line in `agents/index.ts` and, for what
 * `init` writes, a row in the table of clients (`install/clients.ts`).
 */
export interface Dialect {
  readonly client: string;
  /** Reads a payload; `undefined` if this client did not send it (the guard then allows and logs). */
  parse(payload: unknown, env: DialectEnvironment): GuardEvent | undefined;
  /** Whether this client, in this environment, can replace a tool's input without approving the call. */
  canRewrite(env: DialectEnvironment): boolean;
  /** The client's names of events whose `context` reaches the model; a text for another event waits for one of them. */
  readonly contextEvents: ReadonlySet<string>;
  /** Whether git runs the repository's hooks in this client's shell. */
  readonly runsGitHooks: boolean;
  /** Whether the client reports a sub-agent's end. If not, we never see it end: its changes count as its session's. */
  readonly reportsAgentEnd?: true;
  /** Returns what to print on stdout; an empty string prints nothing. The exit status is always 0. */
  render(verdict: Verdict, event: GuardEvent, payload: unknown): string;
}
