import type { SessionId } from '../../domain/names.ts';
import type { TransferProgress } from '../../git/network.ts';
import type { Context } from '../../sessions/caller.ts';
import type { StoredSession } from '../../sessions/records.ts';
import type { Repository } from '../../git/repository.ts';

export interface SyncOptions {
  /** Names of remotes; none: the usual one. */
  readonly remotes: readonly string[];
  readonly fetch: boolean;
  readonly push: boolean;
  readonly dryRun: boolean;
  readonly branch: string | undefined;
  /** Lets go what looks like a secret. */
  readonly allowSecret: boolean;
  /** Topics whose work to send as well. */
  readonly withWork: readonly string[];
  /** Puts back what was deleted at the remote. */
  readonly restore: boolean;
  readonly session: string | undefined;
  readonly mayAsk: boolean;
  readonly onProgress: ((remote: string, progress: TransferProgress) => void) | undefined;
  /** Prints a notice before something happens. */
  readonly warn: (text: string) => void;
}

/** What a sync with each remote starts from. */
export interface SyncWorld {
  readonly repository: Repository;
  readonly sessions: readonly StoredSession[];
  readonly context: Context;
  readonly options: SyncOptions;
  /** Below which refs handoffs stand at remotes. */
  readonly prefix: string;
  /** The ref component of the only branch that is asked for. */
  readonly component: string | undefined;
  readonly me: SessionId | undefined;
}
