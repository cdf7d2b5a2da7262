import type { SessionId } from '../names.ts';
import type { SessionLedger } from './claims.ts';
import type { Wish } from './file-state.ts';

/**
 * Requests: a session that was refused something because of another's claim leaves a request in its own ledger, and the
 * other one finds it at its next call. Nobody withdraws a request: it counts as long as that claim is open and the
 * session that asked is at work.
 */

/** A session waits for another's change of one path. */
export interface Request {
  readonly from: SessionId;
  /** The session to notify: the one that made the change, or the one that continues its conversation. */
  readonly to: SessionId;
  /** The session that made the change. */
  readonly owner: SessionId;
  readonly wish: Wish;
  readonly path: string;
  /** The same for all requests of one session for one claim. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** When it was delivered; `undefined`: not yet. */
  readonly handedAt: number | undefined;
}

/** Returns the requests that count in a worktree by its ledgers alone: each pair and path once, the oldest first. */
export function openRequests(ledgers: readonly SessionLedger[]): Request[] {
  const found = new Map<string, Request>();
  const asked = ledgers
    .flatMap(({ session, requests }) => requests.map((request) => ({ from: session, ...request })))
    .sort((a, b) => a.at - b.at);
  for (const { from, to, wish, paths, at } of asked) {
    const owner = ledgers.find(({ session }) => session === to);
    for (const path of paths) {
      const claim = owner?.claims.get(path);
      // A claim that began after the request is another one.
      if (owner === undefined || claim === undefined || claim.since > at) continue;
      const id = `request:${from}:${claim.since}:${path}`;
      const heirs = heirsOf(owner, ledgers);
      const handedAt = heirs.map(({ notified }) => notified.get(id)).find((time) => time !== undefined);
      const heir = heirs.at(-1)?.session ?? to;
      if (!found.has(id)) found.set(id, { from, to: heir, owner: to, wish, path, id, at, handedAt });
    }
  }
  return [...found.values()];
}

/** The id that a session records as heard, without a message, when it continues `former`'s conversation (`/clear`). */
export const carriesOn = (former: SessionId) => `carries-on:${former}`;

/** A session and those that continued its conversation, oldest first. */
function heirsOf(owner: SessionLedger, ledgers: readonly SessionLedger[]): SessionLedger[] {
  const heirs = [owner];
  for (let heir: SessionLedger | undefined = owner; heir !== undefined;) {
    const last: SessionLedger = heir;
    heir = ledgers.find((one) => one.notified.has(carriesOn(last.session)) && !heirs.includes(one));
    if (heir !== undefined) heirs.push(heir);
  }
  return heirs;
}

const DEEDS: Readonly<Record<Wish, string>> = {
  edit: 'wants to edit',
  commit: 'wants to commit',
  discard: 'wants to discard changes in',
  stash: 'wants to stash',
  switch: 'wants to switch branches and would take along',
};

/** Says in our words what a session wants: "codex bbbbbbbb wants to edit src/a.ts". */
export function wishText(who: string, wish: Wish, names: string): string {
  return `${who} ${DEEDS[wish]} ${names}`;
}
