import type { Oid, SessionId } from '../names.ts';
import { rankOf, sameState, type Evidence, type FileState } from './file-state.ts';
import type { Window } from './snapshot.ts';

/**
 * Claims: "this session changed this path of this worktree since HEAD". A ledger file holds one session's
 * entries for one worktree; folding them gives the open claims. Paths are relative to the top of the working
 * tree, as git prints them.
 */

/** One change of one path: what stood there before and after it. */
export interface Change {
  readonly before: FileState;
  readonly after: FileState;
}

/** One line of a ledger file. Times are milliseconds since the epoch. */
export type LedgerEntry =
  | {
      readonly t: 'claim';
      readonly path: string;
      /** What HEAD had at the path when the session first changed it. */
      readonly base: FileState;
      readonly before: FileState;
      readonly after: FileState;
      readonly evidence: Evidence;
      /** Only warns: somebody else may have made this change. */
      readonly weak: boolean;
      /** The sub-agent that made it, where the client tells. */
      readonly agent?: string;
      readonly at: number;
    }
  | {
      readonly t: 'end';
      readonly path: string;
      readonly why: 'clean' | 'committed' | 'taken';
      /** Who took it. */
      readonly by?: SessionId;
      readonly at: number;
    }
  /** A commit of this session that was let through: its parent, and what it makes of each path. */
  | {
      readonly t: 'commit';
      readonly parent: Oid | null;
      readonly paths: readonly (readonly [path: string, state: FileState])[];
      readonly at: number;
    }
  /** What the index holds at a path because this session put it there (`stage --mine`, `git rm --cached`). */
  | { readonly t: 'staged'; readonly path: string; readonly state: FileState; readonly at: number }
  /** Where HEAD was when this session last looked; `own`: its own tool call moved it there. */
  | {
      readonly t: 'head';
      readonly ref: string;
      readonly oid: Oid | null;
      readonly own: boolean;
      readonly at: number;
    }
  /** News for the other sessions of the worktree (or for `to` alone); each is told once. */
  | {
      readonly t: 'event';
      readonly id: string;
      readonly text: string;
      readonly to?: SessionId;
      readonly at: number;
    }
  | { readonly t: 'told'; readonly ids: readonly string[]; readonly at: number }
  /** A shell command of this session ran from `from` to `at`. */
  | { readonly t: 'window'; readonly id: string; readonly from: number; readonly at: number };

/** A claim that has not ended. */
export interface OpenClaim {
  readonly session: SessionId;
  readonly path: string;
  readonly base: FileState;
  /** Oldest first; neighbours that fit (`after` of one is `before` of the next) are one. */
  readonly changes: readonly Change[];
  /** What the session last left at the path. */
  readonly after: FileState;
  /** States of the path that commits of this session were let through with. */
  readonly committed: readonly FileState[];
  readonly evidence: Evidence;
  readonly weak: boolean;
  /** The sub-agent that changed it last, if one did. */
  readonly agent?: string;
  /** First and last change. */
  readonly since: number;
  readonly at: number;
}

export interface HeadSeen {
  readonly ref: string;
  readonly oid: Oid | null;
  readonly own: boolean;
  readonly at: number;
}

export interface LedgerEvent {
  readonly id: string;
  readonly from: SessionId;
  readonly to: SessionId | undefined;
  readonly text: string;
  readonly at: number;
}

/** What a session's entries come to. */
export interface SessionLedger {
  readonly session: SessionId;
  readonly claims: ReadonlyMap<string, OpenClaim>;
  readonly staged: ReadonlyMap<string, readonly FileState[]>;
  readonly commits: readonly Extract<LedgerEntry, { t: 'commit' }>[];
  readonly head: HeadSeen | undefined;
  /** Every place that this session's own calls moved HEAD to, oldest first. */
  readonly moves: readonly HeadSeen[];
  readonly events: readonly LedgerEvent[];
  readonly told: ReadonlySet<string>;
  /** Times of its shell commands that are over. */
  readonly windows: readonly Window[];
}

/** Folds a session's entries, in the order in which they were written. */
export function foldLedger(session: SessionId, entries: readonly LedgerEntry[]): SessionLedger {
  const claims = new Map<string, OpenClaim>();
  const staged = new Map<string, FileState[]>();
  const commits: Extract<LedgerEntry, { t: 'commit' }>[] = [];
  const moves: HeadSeen[] = [];
  const events: LedgerEvent[] = [];
  const told = new Set<string>();
  const windows: Window[] = [];
  let head: HeadSeen | undefined;
  for (const entry of entries) {
    switch (entry.t) {
      case 'claim':
        claims.set(entry.path, withClaim(session, claims.get(entry.path), entry));
        break;
      case 'end':
        // Whoever saw the path clean looked before this change was made.
        if (entry.why === 'clean' && (claims.get(entry.path)?.at ?? 0) > entry.at) break;
        claims.delete(entry.path);
        staged.delete(entry.path);
        break;
      case 'commit':
        commits.push(entry);
        for (const [path, state] of entry.paths) {
          const claim = claims.get(path);
          if (claim !== undefined) claims.set(path, { ...claim, committed: [...claim.committed, state] });
        }
        break;
      case 'staged':
        staged.set(entry.path, [...(staged.get(entry.path) ?? []), entry.state]);
        break;
      case 'head':
        head = entry;
        if (entry.own) moves.push(entry);
        break;
      case 'event':
        events.push({ id: entry.id, from: session, to: entry.to, text: entry.text, at: entry.at });
        break;
      case 'told':
        for (const id of entry.ids) told.add(id);
        break;
      case 'window':
        windows.push({ session, id: entry.id, from: entry.from, to: entry.at });
        break;
    }
  }
  return { session, claims, staged, commits, head, moves, events, told, windows };
}

function withClaim(
  session: SessionId,
  known: OpenClaim | undefined,
  entry: Extract<LedgerEntry, { t: 'claim' }>,
): OpenClaim {
  const { path, base, before, after, evidence, weak, at } = entry;
  // What this session has committed is no claim any more; a change after that is another one.
  if (known === undefined || known.committed.some((state) => sameState(state, base))) {
    const changes = [{ before, after }];
    const claim = { session, path, base, changes, after, committed: [], evidence, weak, since: at, at };
    return entry.agent === undefined ? claim : { ...claim, agent: entry.agent };
  }
  return {
    ...known,
    ...(entry.agent === undefined ? {} : { agent: entry.agent }),
    changes: withChange(known.changes, { before, after }),
    after,
    evidence: stronger(known.evidence, evidence),
    weak: known.weak && weak,
    at,
  };
}

function withChange(changes: readonly Change[], next: Change): readonly Change[] {
  const last = changes.at(-1);
  if (last === undefined || !sameState(last.after, next.before)) return [...changes, next];
  return [...changes.slice(0, -1), { before: last.before, after: next.after }];
}

function stronger(a: Evidence, b: Evidence): Evidence {
  return rankOf(a) >= rankOf(b) ? a : b;
}

/**
 * Whether a claim has come to its end by what HEAD holds now: everything the session did there is committed, by
 * itself or by anybody, or it was a change back to what HEAD has.
 */
export function isCommitted(claim: OpenClaim, head: FileState): boolean {
  return sameState(head, claim.after) || claim.committed.some((state) => sameState(state, head));
}

/** The entries that fold to the same as all of them, for a file that has grown. */
export function compactEntries(ledger: SessionLedger, forgetBefore: number): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const claim of ledger.claims.values()) {
    const { path, base, changes, evidence, weak, since, at, committed } = claim;
    const agent = claim.agent === undefined ? {} : { agent: claim.agent };
    for (const [n, { before, after }] of changes.entries()) {
      const time = n === 0 ? since : at;
      entries.push({ t: 'claim', path, base, before, after, evidence, weak, ...agent, at: time });
    }
    for (const state of committed) entries.push({ t: 'commit', parent: null, paths: [[path, state]], at });
  }
  for (const [path, states] of ledger.staged) {
    for (const state of states.slice(-4)) entries.push({ t: 'staged', path, state, at: forgetBefore });
  }
  for (const commit of ledger.commits.slice(-8)) {
    // What is claimed again since must not look committed.
    const paths = commit.paths.filter(([path]) => !ledger.claims.has(path));
    if (commit.at >= forgetBefore) entries.push({ ...commit, paths });
  }
  for (const move of ledger.moves.slice(-8)) entries.push({ t: 'head', ...move, own: true });
  if (ledger.head !== undefined) entries.push({ t: 'head', ...ledger.head });
  for (const { id, text, to, at } of ledger.events) {
    if (at >= forgetBefore) entries.push({ t: 'event', id, text, at, ...(to === undefined ? {} : { to }) });
  }
  for (const { id, from, to } of ledger.windows) {
    if (to !== undefined && to >= forgetBefore) entries.push({ t: 'window', id, from, at: to });
  }
  const told = [...ledger.told].slice(-256);
  if (told.length > 0) entries.push({ t: 'told', ids: told, at: forgetBefore });
  return entries;
}
