import type { Dialect, GuardEvent, Verdict } from '../agents/dialect.ts';
import type { SessionId } from '../domain/names.ts';
import type { SettingEntry, Settings } from '../domain/settings.ts';
import type { FoundRepository } from '../git/discover.ts';
import type { Budget } from '../host/io.ts';
import type { MarkerFiles } from '../host/marker-files.ts';
import type { ProcessTable } from '../host/processes.ts';
import type { AskedFor } from '../sessions/happenings.ts';

/** Whose machine the client runs on. */
interface Machine {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  readonly clientPid: number;
  /** Its processes, as they are when the call begins. */
  readonly processes: ProcessTable;
  /** The predecessors' handoff files, and what a setting guards besides. */
  readonly files: MarkerFiles;
}

/** A worktree in which a call is judged: `init` ran in its repository. */
export interface Worktree extends FoundRepository {
  /** A folder of it: where the client works, or else the top. */
  readonly folder: string;
  /** The call was made elsewhere, and only touches this worktree. */
  readonly visiting?: true;
}

/** One call of a client's hook, and all that it may be judged by; made once a call. */
export interface Call {
  readonly event: GuardEvent;
  readonly dialect: Dialect;
  /** `undefined` when the payload names none that is valid. */
  readonly session: SessionId | undefined;
  readonly machine: Machine;
  /** Where the client works; the home folder when the payload does not say. */
  readonly cwd: string;
  /** The repository around that folder, whether or not git-handoff is switched on there. */
  readonly repository: FoundRepository | undefined;
  /** `undefined` where git-handoff is not switched on. */
  readonly tree: Worktree | undefined;
  /** Those that count in the worktree. */
  readonly settings: Settings;
  /** The same as git lists them, with its aliases and what decides whether its hooks run. */
  readonly entries: readonly SettingEntry[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The time for the whole call. */
  readonly budget: Budget;
  /** Reports in one line what could not be examined, so that nothing passes silently. */
  readonly notChecked: (what: string) => void;
  readonly log: (kind: string, detail: string) => void;
}

/** A call of a session, wherever it is made. */
export interface SessionCall extends Call {
  readonly session: SessionId;
}

/** A session's call as it concerns one worktree. */
export interface TreeCall extends SessionCall {
  readonly tree: Worktree;
}

/** Whether a session calls where git-handoff is switched on. */
export function isInTree(call: Call): call is TreeCall {
  return call.session !== undefined && call.tree !== undefined;
}

/**
 * Does what an answer can do without: when the ledger cannot be read or written (a full disk, a folder that is none),
 * what is known about handoff files still counts. The session is told what was not looked at.
 */
export async function failOpen<T>(call: Call, what: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    call.log('open', `not checked: ${what}: ${String(error)}`);
    call.notChecked(what);
    return undefined;
  }
}

/** What a check has found out about a call. */
export type Finding =
  | Refusal
  /** It reaches the model. */
  | { readonly kind: 'tell'; readonly text: string }
  /** It is shown to the person, where nothing reaches the model. */
  | { readonly kind: 'show'; readonly text: string }
  /** The tool goes on with another content. */
  | { readonly kind: 'rewrite'; readonly content: string }
  | Effect;

/** The call may not be made. */
export interface Refusal {
  readonly kind: 'refuse';
  readonly text: string;
  /** Whose work it protects; absent: it may be anybody's. */
  readonly owners?: readonly SessionId[];
  /** What the owners are asked for; absent: it is not about changes of theirs. */
  readonly asked?: AskedFor;
  /** Whose bypass lets it through. `files`: a person's, and it is about handoff files. */
  readonly allowedBy: 'person' | 'files' | 'nobody';
}

/** Whether a person lets this call do what a check refuses. */
export type Permission = (refusal: Refusal) => Promise<boolean>;

/** Something to do when everything has been judged; what it finds joins the answer. */
export interface Effect {
  readonly kind: 'do';
  /** `allowed`: not when the call is refused. */
  readonly when: 'allowed' | 'judged';
  readonly run: () => Promise<readonly Finding[]>;
}

/** Whether the call is refused. */
export function isRefused(found: readonly Finding[]): boolean {
  return found.some(({ kind }) => kind === 'refuse');
}

/** One answer of all findings: a refusal counts, then what reaches the model, then what is shown. */
export function verdict(found: readonly Finding[]): Verdict {
  const refusal = found.find((one) => one.kind === 'refuse');
  if (refusal !== undefined) return { kind: 'deny', reason: refusal.text };
  const texts = (kind: 'tell' | 'show') => found.flatMap((one) => (one.kind === kind ? one.text : []));
  const [forModel, forUser] = [texts('tell'), texts('show')];
  const rewrite = found.find((one) => one.kind === 'rewrite');
  if (rewrite !== undefined) {
    const { content } = rewrite;
    return forModel.length === 0
      ? { kind: 'rewrite', content }
      : { kind: 'rewrite', content, context: forModel.join('\n') };
  }
  if (forModel.length > 0) return { kind: 'context', text: forModel.join('\n') };
  return forUser.length > 0 ? { kind: 'notice', text: forUser.join('\n') } : { kind: 'allow' };
}
