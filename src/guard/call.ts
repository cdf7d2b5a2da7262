import type { Dialect, GuardEvent } from '../agents/dialect.ts';
import type { SessionId } from '../domain/names.ts';
import type { SettingEntry, Settings } from '../domain/settings.ts';
import type { FoundRepository } from '../git/discover.ts';
import type { Budget } from '../host/io.ts';
import type { MarkerFiles } from '../host/marker-files.ts';
import type { ProcessTable } from '../host/processes.ts';

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
export async function orUnchecked<T>(
  call: Call,
  what: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    call.log('open', `not checked: ${what}: ${String(error)}`);
    call.notChecked(what);
    return undefined;
  }
}
