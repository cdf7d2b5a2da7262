import type { Oid, SessionId } from '../../domain/names.ts';
import { type HandoffPath, decodeBranch, handoffRef } from '../../git/namespace.ts';
import type { TransferProgress } from '../../git/transfer.ts';
import type { Repository } from '../../git/repository.ts';
import type { Settings } from '../../domain/settings.ts';
import { commitOwner } from '../../notes/person-name.ts';
import { reasonText } from '../../notes/report-illegal.ts';
import { typedTopic } from '../../notes/topic-argument.ts';

import type { Context } from '../../sessions/caller.ts';
import type { SyncAction, SyncShape } from '../shapes.ts';
import type { Difference, Folded } from './differences.ts';

/** A handoff that is about to be pushed. */
export interface Outgoing {
  readonly path: HandoffPath;
  readonly tip: Oid;
  /** The tip that the remote last showed. */
  readonly old: Oid | undefined;
}

/** The branch; if its name was too long for a ref's name, the part that the ref has. */
const branchOf = ({ component }: HandoffPath) => decodeBranch(component) ?? component;

/** Returns a handoff's name as people type it. */
export const typedPath = (path: HandoffPath): string => typedTopic(branchOf(path), path.topic);

type SyncItem = Partial<SyncShape> & { readonly action: SyncAction };

/** Collects the report on one remote: for each handoff, the last thing that happened to it. */
export class SyncReport {
  readonly #remote: string;
  readonly #items = new Map<string, SyncShape>();
  /** How many handoffs were the same here and at the remote before the sync. */
  same: number | undefined;

  constructor(remote: string) {
    this.#remote = remote;
  }

  /** Begins a round: drops the items that every round reports again, and keeps the first round's `same`. */
  startRound(same: number): void {
    for (const [key, { action }] of this.#items) {
      if (action === 'moved' || action === 'behind') this.#items.delete(key);
    }
    this.same ??= same;
  }

  /** Reports a ref of the remote that is no handoff, and is left alone. */
  ignore(ref: string, oid: Oid, why: string): void {
    this.#put(ref, { action: 'ignored', ref, oid, why });
  }

  add(half: 'fetch' | 'push', path: HandoffPath, item: SyncItem): void {
    const ref = handoffRef(path);
    this.#put(`${half} ${ref}`, { branch: branchOf(path), topic: path.topic, ref, ...item });
  }

  items(): SyncShape[] {
    return [...this.#items.values()];
  }

  #put(key: string, item: SyncItem): void {
    this.#items.set(key, { remote: this.#remote, ...NOTHING, ...item });
  }
}

const NOTHING = {
  ...{ branch: null, topic: null, ref: '', oid: null, former: null, lost: null },
  ...{ owner: null, ownerText: null, newOwner: null, newOwnerText: null, why: null },
};

/** Returns what to report about a fetched handoff, if anything. */
export function foldedItem({ difference, kind, lost }: Folded): SyncItem | undefined {
  if (kind === 'nothing' || kind === 'leave-deleted') return undefined;
  const { there, here, theirs, facts } = difference;
  return {
    action: FOLDED[kind],
    oid: there.oid,
    former: here?.tip?.oid ?? null,
    why: kind === 'refuse' && facts.illegal ? reasonText(facts.illegal) : foldedText(difference, kind),
    lost: lost ?? null,
    owner: here?.tip?.trailers?.owner ?? null,
    ownerText: commitOwner(here?.tip) ?? null,
    newOwner: theirs?.trailers?.owner ?? null,
    newOwnerText: commitOwner(theirs) ?? null,
  };
}

/** Says who owns the handoff now, if that changed, or that a deleted handoff is back. */
function foldedText({ path, here, theirs, pruned }: Difference, kind: Folded['kind']): string | null {
  const [former, owner] = [here?.tip?.trailers?.owner, theirs?.trailers?.owner];
  if (kind === 'forward' && owner !== undefined && former !== undefined && owner !== former) {
    const from = commitOwner(here?.tip) ?? 'its owner';
    return `it belongs to ${commitOwner(theirs) ?? 'somebody'} now, no longer to ${from}; read it with: git handoff show ${typedPath(path)}`;
  }
  return kind === 'create' && pruned !== undefined
    ? `it was deleted here, and somebody wrote it again at the remote; to delete it again: git handoff delete ${typedPath(path)}`
    : null;
}

const FOLDED = {
  create: 'created',
  forward: 'forwarded',
  follow: 'followed',
  'set-aside': 'set-aside',
  refuse: 'refused',
  moved: 'moved',
} as const;

export interface SyncOptions {
  /** Names of remotes; empty for the usual one. */
  readonly remotes: readonly string[];
  readonly fetch: boolean;
  readonly push: boolean;
  readonly dryRun: boolean;
  readonly allowSecret: boolean;
  readonly withWork: readonly string[];
  /** Whether to put back what was deleted at the remote. */
  readonly restore: boolean;
  readonly session: string | undefined;
  readonly mayAsk: boolean;
  readonly onProgress: ((remote: string, progress: TransferProgress) => void) | undefined;
  readonly warn: (text: string) => void;
}

/** What the syncs with all remotes have in common. */
export interface SyncWorld {
  readonly repository: Repository;
  readonly context: Context;
  readonly options: SyncOptions;
  readonly settings: Settings;
  readonly prefix: string;
  readonly me: SessionId | undefined;
}
