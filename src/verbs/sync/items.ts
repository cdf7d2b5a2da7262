import type { Oid, SessionId } from '../../domain/names.ts';
import { shellWord } from '../../domain/surfacing.ts';
import { HANDOFFS, type HandoffPath, decodeBranch, handoffRef, parsePath } from '../../git/namespace.ts';
import type { PushOutcome, ShownRef } from '../../git/transfer.ts';
import { commitOwner } from '../../notes/person-name.ts';
import { reasonText } from '../../notes/report-illegal.ts';
import type { Difference, SyncedTopic, Folded } from './differences.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { SyncAction, SyncShape } from '../shapes.ts';
import type { TransferProgress } from '../../git/network.ts';
import type { Context } from '../../sessions/caller.ts';
import type { StoredSession } from '../../sessions/records.ts';
import type { Repository } from '../../git/repository.ts';

/** Whether the ref's name does not tell the branch's, which was too long: only the handoff itself does. */
export const isCut = ({ component }: HandoffPath) => decodeBranch(component) === undefined;

/** Collects what is told of one remote: of each handoff what happened to it last. */
export class SyncReport {
  readonly #remote: string;
  readonly #prefix: string;
  readonly #items = new Map<string, SyncShape>();
  /** Branches by their ref components; one that was cut tells only here what it is called. */
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

  /** What can be told only by the last look is told anew in each. `same` is counted at the first. */
  startRound(same: number): void {
    for (const [key, { action }] of this.#items) {
      if (action === 'moved' || action === 'behind') this.#items.delete(key);
    }
    this.#same ??= same;
  }

  /** Handoffs that were the same here and there from the beginning. */
  get same(): number {
    return this.#same ?? 0;
  }

  /** The refs that may be handoffs, by our names; the others are told and left alone. */
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

  /** It was removed here, and has been written on there: whoever removed it should know. */
  #returned({ path, pruned }: Difference, kind: Folded['kind']): string | null {
    if (kind !== 'create' || pruned === undefined) return null;
    const name = typedTopic(decodeBranch(path.component) ?? path.component, path.topic);
    return `it was deleted here, and somebody wrote it there again; to delete it again: git handoff delete ${name}`;
  }

  pushed(
    outcomes: readonly PushOutcome[],
    tips: ReadonlyMap<
      string,
      { readonly path: HandoffPath; readonly tip: Oid; readonly old: Oid | undefined }
    >,
  ): void {
    for (const { ref, kind, reason } of outcomes) {
      const one = tips.get(ref);
      if (one === undefined) continue;
      const action = kind === 'pushed' ? 'pushed' : kind;
      const why = kind === 'pushed' ? null : reason;
      this.#put(`push ${ref}`, one.path, { action, oid: one.tip, former: one.old ?? null, why });
    }
  }

  secret(path: HandoffPath, { tip, old }: { tip: Oid; old: Oid | undefined }, why: string): void {
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

/** Another session has it now: who had it hears of that first here. */
function takenText(
  { path: { component, topic }, here, ownerText = 'somebody' }: Difference,
  at: string | undefined,
): string | undefined {
  if (at === undefined) return undefined;
  const from = commitOwner(here?.tip) ?? 'its owner';
  const name = shellWord(typedTopic(decodeBranch(component) ?? component, topic));
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
