import type { Oid, SessionId } from '../../domain/names.ts';
import { HANDOFFS, type HandoffPath, decodeBranch, handoffRef, parsePath } from '../../git/namespace.ts';
import type { PushOutcome, ShownRef, TransferProgress } from '../../git/transfer.ts';
import { commitOwner } from '../../notes/person-name.ts';
import { reasonText } from '../../notes/report-illegal.ts';
import type { Difference, SyncedTopic, Folded } from './differences.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { SyncAction, SyncShape } from '../shapes.ts';
import type { Context } from '../../sessions/caller.ts';
import type { StoredSession } from '../../sessions/records.ts';
import type { Repository } from '../../git/repository.ts';

/** Whether the branch's name was too long for the ref's name. Then only the handoff's commit has the whole name. */
export const isCut = ({ component }: HandoffPath) => decodeBranch(component) === undefined;

/** A handoff that is about to be pushed. */
export interface Outgoing {
  readonly path: HandoffPath;
  readonly tip: Oid;
  /** The tip that the remote last showed. */
  readonly old: Oid | undefined;
}

/** Collects the report on one remote: for each handoff, the last thing that happened to it. */
export class SyncReport {
  readonly #remote: string;
  readonly #prefix: string;
  readonly #items = new Map<string, SyncShape>();
  /** Whole branch names by ref component, for components that were cut. */
  readonly #branches = new Map<string, string>();
  #same: number | undefined;

  constructor(remote: string, prefix: string) {
    this.#remote = remote;
    this.#prefix = prefix;
  }

  know(topics: readonly SyncedTopic[]): void {
    for (const { path, here } of topics) {
      if (here === undefined || !isCut(path)) continue;
      this.#branches.set(path.component, here.branch);
    }
  }

  /** Begins a round: drops the items that every round reports again. Only the first round's `same` counts. */
  startRound(same: number): void {
    for (const [key, { action }] of this.#items) {
      if (action === 'moved' || action === 'behind') this.#items.delete(key);
    }
    this.#same ??= same;
  }

  /** How many handoffs were the same here and at the remote before the sync. */
  get same(): number {
    return this.#same ?? 0;
  }

  /** Returns the refs that may be handoffs, under our names for them. Reports the others and leaves them alone. */
  ignoreStrange(shown: readonly ShownRef[]): Map<string, Oid> {
    const there = new Map<string, Oid>();
    for (const { name, oid, odd } of shown) {
      const path = parsePath(name, this.#prefix);
      if (path !== undefined && odd === undefined) there.set(handoffRef(path), oid);
      else {
        const why =
          path === undefined ? 'not the name of a handoff' : odd === 'tag' ? 'a tag' : 'a symbolic ref';
        this.#put(name, undefined, { action: 'ignored', ref: name, oid, why });
      }
    }
    return there;
  }

  plan(ref: string, action: SyncAction, oid: Oid): void {
    this.#put(`${action} ${ref}`, parsePath(ref, HANDOFFS), { action, oid });
  }

  folded(all: readonly Folded[], takes: ReadonlyMap<Difference, string>): void {
    for (const { difference, kind, reason, lost } of all) {
      const { path, there, here } = difference;
      if (kind === 'nothing' || kind === 'leave-deleted') continue;
      this.#put(`fetch ${handoffRef(path)}`, path, {
        action: FOLDED[kind],
        oid: there.oid,
        former: here?.tip?.oid ?? null,
        why:
          reason === undefined
            ? (takenText(difference, takes.get(difference)) ?? this.#returned(difference, kind))
            : reasonText(reason),
        lost: lost ?? null,
        owner: here?.tip?.trailers?.owner ?? null,
        ownerText: commitOwner(here?.tip) ?? null,
        newOwner: difference.owner ?? null,
        newOwnerText: difference.ownerText ?? null,
      });
    }
  }

  /** The text for a handoff that was deleted here and has been written again at the remote. */
  #returned({ path, pruned }: Difference, kind: Folded['kind']): string | null {
    if (kind !== 'create' || pruned === undefined) return null;
    const name = typedTopic(decodeBranch(path.component) ?? path.component, path.topic);
    return `it was deleted here, and somebody wrote it there again; to delete it again: git handoff delete ${name}`;
  }

  pushed(outcomes: readonly PushOutcome[], tips: ReadonlyMap<string, Outgoing>): void {
    for (const { ref, kind, reason } of outcomes) {
      const one = tips.get(ref);
      if (one === undefined) continue;
      const why = kind === 'pushed' ? null : reason;
      this.#put(`push ${ref}`, one.path, { action: kind, oid: one.tip, former: one.old ?? null, why });
    }
  }

  secret({ path, tip, old }: Outgoing, why: string): void {
    this.#put(`push ${handoffRef(path)}`, path, { action: 'secret', oid: tip, former: old ?? null, why });
  }

  left(path: HandoffPath, oid: Oid, action: SyncAction): void {
    this.#put(`push ${handoffRef(path)}`, path, { action, oid });
  }

  items(): SyncShape[] {
    const items = [...this.#items.values()];
    if (this.#branches.size === 0) return items;
    return items.map((item) => ({ ...item, branch: this.#branches.get(item.branch ?? '') ?? item.branch }));
  }

  #put(key: string, path: HandoffPath | undefined, item: Partial<SyncShape> & { action: SyncAction }): void {
    this.#items.set(key, {
      remote: this.#remote,
      branch: path === undefined ? null : (decodeBranch(path.component) ?? path.component),
      topic: path?.topic ?? null,
      ref: path === undefined ? '' : handoffRef(path),
      oid: null,
      former: null,
      lost: null,
      owner: null,
      ownerText: null,
      newOwner: null,
      newOwnerText: null,
      why: null,
      ...item,
    });
  }
}

/** The text that tells a former owner that another session took the handoff. */
function takenText(
  { path: { component, topic }, here, ownerText = 'somebody' }: Difference,
  at: string | undefined,
): string | undefined {
  if (at === undefined) return undefined;
  const from = commitOwner(here?.tip) ?? 'its owner';
  const name = typedTopic(decodeBranch(component) ?? component, topic);
  return `${ownerText} took it from ${from} at ${at}; read it with: git handoff show ${name}`;
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
  /** Whether to send what looks like a secret. */
  readonly allowSecret: boolean;
  /** The topics whose carried work to send, too. */
  readonly withWork: readonly string[];
  /** Whether to put back what was deleted at the remote. */
  readonly restore: boolean;
  readonly session: string | undefined;
  readonly mayAsk: boolean;
  readonly onProgress: ((remote: string, progress: TransferProgress) => void) | undefined;
  /** Prints a notice before something happens. */
  readonly warn: (text: string) => void;
}

/** What the syncs with all remotes have in common. */
export interface SyncWorld {
  readonly repository: Repository;
  readonly sessions: readonly StoredSession[];
  readonly context: Context;
  readonly options: SyncOptions;
  /** The prefix of the handoffs' refs at remotes. */
  readonly prefix: string;
  readonly me: SessionId | undefined;
}
