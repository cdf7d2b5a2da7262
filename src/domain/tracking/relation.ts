/** How a handoff relates to what a remote showed when it was last asked. Pure: nothing here asks the remote. */

/**
 * `local-only`: the remote was asked, and did not have it. `unknown`: objects are missing, the remote's ref is no
 * commit, or counting would have taken too long.
 */
type RemoteState = 'in-sync' | 'ahead' | 'behind' | 'diverged' | 'local-only' | 'unknown';

/** Commits that only one side has. */
export interface Apart {
  readonly ahead: number;
  readonly behind: number;
}

/** How one handoff relates to one remote's copy of it. */
export interface RemoteRelation {
  readonly remote: string;
  readonly state: RemoteState;
  /** Versions that only this repository has; `null` where it is not known. */
  readonly ahead: number | null;
  /** Versions that only the remote has; `null` where it is not known. */
  readonly behind: number | null;
}

/** Returns how a handoff relates to a remote. `apart`: `undefined` if the commits could not be counted. */
export function decideRelation(remote: string, apart: Apart | undefined): RemoteRelation {
  if (apart === undefined) return { remote, state: 'unknown', ahead: null, behind: null };
  return { remote, state: stateOf(apart), ...apart };
}

/** The relation of a handoff that the remote did not have. */
export function localOnly(remote: string): RemoteRelation {
  return { remote, state: 'local-only', ahead: null, behind: 0 };
}

function stateOf({ ahead, behind }: Apart): RemoteState {
  if (ahead > 0 && behind > 0) return 'diverged';
  if (ahead > 0) return 'ahead';
  return behind > 0 ? 'behind' : 'in-sync';
}

/** How many handoffs a sync with one remote would move. */
export interface RemoteSummary {
  readonly remote: string;
  /** Handoffs that are ahead of the remote's, or that the remote lacks. */
  readonly toPush: number;
  /** Handoffs that are behind the remote's, or that this clone lacks. */
  readonly toFetch: number;
  readonly diverged: number;
}

/** Sums up each remote; `remoteOnly` counts the handoffs that only its tracking refs have. */
export function summariseRemotes(
  remotes: readonly string[],
  relations: readonly RemoteRelation[],
  remoteOnly: ReadonlyMap<string, number>,
): RemoteSummary[] {
  const counts = new Map<string, number>();
  for (const { remote, state } of relations) {
    const key = `${state} ${remote}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const count = (state: RemoteState, remote: string) => counts.get(`${state} ${remote}`) ?? 0;
  return remotes.map((remote) => ({
    remote,
    toPush: count('ahead', remote) + count('local-only', remote),
    toFetch: count('behind', remote) + (remoteOnly.get(remote) ?? 0),
    diverged: count('diverged', remote),
  }));
}
