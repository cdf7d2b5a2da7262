import type { SessionId } from '../names.ts';
import type { PathChange, OpenClaim, SessionLedger } from './claims.ts';
import type { EventOf, WorktreeEvent } from '../journal/events.ts';
import {
  sameState,
  type Window,
  type WindowChange,
  isDoubtful,
  type FileState,
  type Replaced,
  type TreeStatus,
  changesBetween,
} from './tree-status.ts';
import { isCommitted } from '../journal/fold.ts';

/** Which claims begin, end and come back: around a command, after a commit, and after a session was alone. Pure. */

interface WindowFacts {
  /** The asking session, and the sessions that count as one with it. */
  readonly own: ReadonlySet<SessionId>;
  /** When the command ran; if it still runs, up to now. */
  readonly window: Window & { readonly to: number };
  /** Paths that the command names and writes or removes. */
  readonly named: readonly string[];
  readonly changes: readonly WindowChange[];
  readonly ledgers: readonly SessionLedger[];
  /** All sessions' commands that run now, except forgotten ones. */
  readonly running: readonly Window[];
  readonly agent: string | undefined;
  /** Whether the file's timestamps say that it was changed while the command ran. */
  readonly isTimely: (change: WindowChange) => boolean;
}

/** Returns the claims that a command's changes give its session. */
export function claimsInWindow(facts: WindowFacts): EventOf<'claim'>[] {
  const { window, ledgers, running, agent } = facts;
  const others = [...running, ...ledgers.flatMap(({ windows }) => windows)];
  const doubtful = isDoubtful(window, others);
  return facts.changes.flatMap((change): EventOf<'claim'>[] => {
    const { path, base } = change;
    const isNamed = namesPath(facts.named, path);
    if (!isNamed && isExplained(change, facts)) return [];
    const evidence = isNamed ? 'named' : 'window';
    const weak = !isNamed && (doubtful || !facts.isTimely(change));
    return ownParts(change, facts).map((part) => {
      return { t: 'claim', path, base, ...part, evidence, weak, agent, began: window.from, at: window.to };
    });
  });
}

/** Whether these named paths cover a file: they include the file, or a folder above it. */
function namesPath(named: readonly string[], path: string): boolean {
  return named.some((name) => path === name || path.startsWith(`${name}/`));
}

/** Whether the change gives the session no claim, for one of the reasons below. */
function isExplained(change: WindowChange, { own, window, ledgers }: WindowFacts): boolean {
  const { path, after, wasDirty } = change;
  const theirs = ledgers.filter(({ session }) => !own.has(session));
  const claims = theirs.flatMap((ledger) => ledger.claims.get(path) ?? []);
  // The path has the content that another session had left there: it was put aside and is back.
  if (claims.some((claim) => sameState(claim.after, after))) return true;
  // Another session's file tool is about to write it.
  if (theirs.some((ledger) => isAnnounced(ledger, path, window.to))) return true;
  // The path was dirty and unclaimed before: a session whose formatter or test run changes it does not become its owner.
  const isMine = ledgers.some(({ session, claims: held }) => own.has(session) && held.has(path));
  return wasDirty && !isMine && claims.length === 0;
}

/** How long we expect a report of the end of a call or command, counted from its beginning. Milliseconds. */
export const FORGOTTEN_MS = 10 * 60_000;

function isAnnounced({ announced }: SessionLedger, path: string, now: number): boolean {
  const at = announced.get(path)?.at;
  return at !== undefined && now - at <= FORGOTTEN_MS;
}

/** Returns the parts of the change that no other session recorded while the command ran. */
function ownParts(change: WindowChange, { own, window, ledgers }: WindowFacts): PathChange[] {
  const meanwhile = ledgers
    .filter(({ session }) => !own.has(session))
    .flatMap(({ claims }) => claims.get(change.path) ?? [])
    .filter(({ at, evidence }) => at >= window.from && evidence !== 'window')
    .sort((a, b) => a.since - b.since);
  let { before } = change;
  const parts: PathChange[] = [];
  for (const claim of meanwhile) {
    const start = firstOf(claim, window.from)?.before;
    if (start !== undefined && !sameState(before, start)) parts.push({ before, after: start });
    before = claim.after;
  }
  if (meanwhile.length === 0 || !sameState(before, change.after)) parts.push({ before, after: change.after });
  return parts;
}

/** Returns the first change of another session's claim, if it was made while the command ran. */
function firstOf({ since, changes }: OpenClaim, from: number): PathChange | undefined {
  return since >= from ? changes[0] : undefined;
}

/** Returns the claimed paths that are clean in this status. */
export function cleanPaths(ledgers: readonly SessionLedger[], { dirty }: TreeStatus): string[] {
  const claimed = ledgers.flatMap(({ claims }) => [...claims.keys()]);
  return [...new Set(claimed)].filter((path) => !dirty.has(path));
}

/**
 * Returns how the status changes the claims, by session. A claim on a clean path is over, but may come back unless it was
 * committed. While a commit runs, its hooks may have put the changes aside: then only committed claims are over. `heads`: what
 * HEAD has at the {@link cleanPaths}.
 */
export function claimsSettled(
  ledgers: readonly SessionLedger[],
  status: TreeStatus,
  heads: ReadonlyMap<string, FileState>,
  commitRuns: boolean,
): Map<SessionId, WorktreeEvent[]> {
  const { at, dirty } = status;
  const back = new Set(revivals(ledgers, (path) => dirty.get(path)));
  return new Map(
    ledgers.map((ledger) => {
      const over = [...ledger.claims.values()].flatMap((claim): WorktreeEvent[] => {
        const { path } = claim;
        if (dirty.has(path)) return [];
        const why = isCommitted(claim, heads.get(path) ?? null) ? 'committed' : 'clean';
        return why === 'clean' && commitRuns ? [] : [{ t: 'end', path, why, at }];
      });
      const revived = [...ledger.ended.values()].filter((claim) => back.has(claim));
      return [ledger.session, [...over, ...revived.map(({ path }) => ({ t: 'revived', path, at }) as const)]];
    }),
  );
}

/** Returns copies of the ledgers, in which an ended claim is open again if its change is back. */
export function withRevived(
  ledgers: readonly SessionLedger[],
  changeAt: (path: string) => Replaced | undefined,
): SessionLedger[] {
  const back = revivals(ledgers, changeAt);
  return ledgers.map((ledger) => {
    const own = back.filter((claim) => ledger.ended.get(claim.path) === claim);
    return {
      ...ledger,
      claims: new Map([...ledger.claims, ...own.map((claim) => [claim.path, claim] as const)]),
    };
  });
}

/** Leaves out the ended claims on paths that a command has just named and written: what is there now comes from the command. */
export function withoutEnded(ledger: SessionLedger, named: readonly string[]): SessionLedger {
  const ended = [...ledger.ended].filter(([path]) => !namesPath(named, path));
  return ended.length === ledger.ended.size ? ledger : { ...ledger, ended: new Map(ended) };
}

/**
 * Returns the ended claims whose change is back. HEAD must have the content that the change was made on, or that the session
 * committed: removing another version of a file, for example, is another change. Of several claims with the same change, only
 * the one that ended last is returned. If an open claim has this change, none is returned.
 */
function revivals(
  ledgers: readonly SessionLedger[],
  changeAt: (path: string) => Replaced | undefined,
): OpenClaim[] {
  return ledgers.flatMap(({ ended }) =>
    [...ended.values()].filter(({ path, base, committed, after, at }) => {
      const change = changeAt(path);
      if (change === undefined || !sameState(change.disk, after)) return false;
      const { head, disk: state } = change;
      if (![base, ...committed].some((one) => sameState(one, head))) return false;
      const isLater = ledgers.some(
        (one) => (one.ended.get(path)?.at ?? 0) > at && shows(one.ended, path, state),
      );
      return !isLater && !ledgers.some(({ claims }) => shows(claims, path, state));
    }),
  );
}

function shows(claims: ReadonlyMap<string, OpenClaim>, path: string, state: FileState): boolean {
  const claim = claims.get(path);
  return claim !== undefined && sameState(claim.after, state);
}

/**
 * Returns claims, by path, on what a session that worked alone (or its user) has changed since it began. `at` says when a path
 * was changed, as far as that is known, in milliseconds since the epoch.
 */
export function sinceStart(
  session: SessionId,
  changes: readonly Omit<WindowChange, 'wasDirty'>[],
  at: (path: string) => number,
): Map<string, OpenClaim> {
  const claims = changes.map(({ path, base, before, after }): OpenClaim => {
    const sure = { evidence: 'since-start', weak: false } as const;
    const times = { since: at(path), at: at(path) };
    return { session, path, base, changes: [{ before, after }], after, committed: [], ...sure, ...times };
  });
  return new Map(claims.map((claim) => [claim.path, claim]));
}

/**
 * A lone session may end, or its client die, and the session may continue later. It then still owns what it had changed, but
 * not what others did in the break. `start` is the session's start list, `pause` the working tree when the break began.
 */

/**
 * Returns the start list (others' changes) with which the session continues. It gains what changed in the break, except at
 * paths that the session had changed before on the same branch. Without `pause`, nobody looked when the break began, and all
 * changes of the break count as the session's. `undefined`: the session needs a new start list.
 */
export function resumedStart(
  start: TreeStatus,
  pause: TreeStatus | undefined,
  now: TreeStatus,
): TreeStatus | undefined {
  if (pause === undefined) return start.head.ref === now.head.ref ? start : undefined;
  const own = ownPaths(start, pause, now);
  const dirty = new Map(start.dirty);
  for (const path of pause.dirty.keys()) if (!now.dirty.has(path)) dirty.delete(path);
  for (const { path } of changesBetween(pause, now)) {
    const found = now.dirty.get(path);
    if (found !== undefined && !own.has(path)) dirty.set(path, found);
  }
  return { head: start.head, dirty, at: now.at };
}

/** Returns what a lone session changed, as far as the working tree still has it. Without `pause`: all changes since `start`. */
export function changesLeft(
  start: TreeStatus,
  pause: TreeStatus | undefined,
  now: TreeStatus,
): WindowChange[] {
  if (pause === undefined) return changesBetween(start, now);
  const own = ownPaths(start, pause, now);
  const moved = new Set(changesBetween(pause, now).map(({ path }) => path));
  return changesBetween(start, pause).filter(
    ({ path }) => now.dirty.has(path) && (own.has(path) || !moved.has(path)),
  );
}

/** Returns the paths that the session changed before the pause, even if they changed again; none if the branch was switched. */
function ownPaths(start: TreeStatus, pause: TreeStatus, now: TreeStatus): ReadonlySet<string> {
  if (pause.head.ref !== now.head.ref) return new Set();
  return new Set(changesBetween(start, pause).map(({ path }) => path));
}
