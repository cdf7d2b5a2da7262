import type { Dialect, GuardEvent } from '../agents/dialect.ts';
import type { SettingEntry, TreeSettings, Settings } from '../domain/settings.ts';
import type { BinaryText } from '../git/binary-text.ts';
import type { FoundRepository } from '../git/discover.ts';
import type { Budget } from '../host/io.ts';
import type { MarkerFiles } from '../host/marker-files.ts';

/** Refs that the launcher lists while Node starts; only at a session's start, and then only where it can. */
export interface Listed {
  /** The sessions and the copies of files, and what was kept of handoffs. */
  readonly records: BinaryText | undefined;
  /** The descriptor of a pipe with the handoffs and the branches. */
  readonly pipe: number | undefined;
}

/** Everything a guard decision may look at; made once a call. */
export interface Scene {
  readonly event: GuardEvent;
  readonly dialect: Dialect;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** Where the client works; the home folder when the payload does not say. */
  readonly cwd: string;
  /** A folder of the worktree that is judged: where the client works, or else the top. */
  readonly folder: string;
  readonly clientPid: number;
  readonly settings: Settings;
  /** The same as git lists them, with what decides whether git's hooks run. */
  readonly entries: readonly SettingEntry[];
  readonly listed: Listed | undefined;
  /** git's aliases, by lower-case name. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly treeSettings: TreeSettings;
  readonly files: MarkerFiles;
  /** `undefined` outside of repositories. */
  readonly place: FoundRepository | undefined;
  /** The call was made elsewhere, and only touches this worktree. */
  readonly visiting?: true;
  /** `init` ran here: sessions are registered and refs are guarded. */
  readonly enabled: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The time for the whole call. */
  readonly budget: Budget;
  /** A person allowed this call: what is refused otherwise is done all the same. */
  readonly lifted?: true;
  /** What could not be looked at is told in one line: nothing passes in silence. */
  readonly notChecked: (what: string) => void;
  readonly log: (kind: string, detail: string) => void;
}
