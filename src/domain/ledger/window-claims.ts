import type { SessionId } from '../names.ts';
import type { PathChange, OpenClaim, SessionLedger } from './claims.ts';
import type { WorktreeEvent } from '../journal/events.ts';
import { sameState } from './file-state.ts';
import { type Window, type WindowChange, windowEvidence } from './tree-status.ts';

/** Decides who made the changes that two looks around a session's shell command show. Pure. */

interface WindowFacts {
  /** The sessions that count as the asking one, including itself. */
  readonly own: ReadonlySet<SessionId>;
  /** The command's time, up to now. */
  readonly window: Window & { readonly to: number };
  /** Paths that the command itself names as written or removed. */
  readonly named: readonly string[];
  readonly changes: readonly WindowChange[];
  readonly ledgers: readonly SessionLedger[];
  /** Commands of all sessions that run now, except forgotten ones. */
  readonly running: readonly Window[];
  readonly agent: string | undefined;
  /** Whether the file's own times say that it was changed while the command ran. */
  readonly isTimely: (change: WindowChange) => boolean;
}

type Claim = Extract<WorktreeEvent, { t: 'claim' }>;

/** Returns the claims of the session that ran the command. */
export function claimsInWindow(facts: WindowFacts): Claim[] {
  const { window, ledgers, running, agent } = facts;
  const others = [...running, ...ledgers.flatMap(({ windows }) => windows)];
  const sure = windowEvidence(window, others);
  return facts.changes.flatMap((change): Claim[] => {
    const { path, base } = change;
    const isNamed = namesPath(facts.named, path);
    if (!isNamed && isExplained(change, facts)) return [];
    const evidence = isNamed ? 'named' : 'window';
    const weak = !isNamed && (sure.weak || !facts.isTimely(change));
    const by = agent === undefined ? {} : { agent };
    return ownParts(change, facts).map((part) => {
      return { t: 'claim', path, base, ...part, evidence, weak, ...by, began: window.from, at: window.to };
    });
  });
}

/** Whether these named paths cover a file: they include the file, or a folder above it. */
export function namesPath(named: readonly string[], path: string): boolean {
  return named.some((name) => path === name || path.startsWith(`${name}/`));
}

/** Whether only the difference speaks for the session, and something better speaks against it. */
function isExplained(change: WindowChange, { own, window, ledgers }: WindowFacts): boolean {
  const { path, after, wasDirty } = change;
  const theirs = ledgers.filter(({ session }) => !own.has(session));
  const claims = theirs.flatMap((ledger) => ledger.claims.get(path) ?? []);
  // The path has the content that another session had left: it was put aside, and has come back.
  if (claims.some((claim) => sameState(claim.after, after))) return true;
  // Another session's file tool is about to write it.
  if (theirs.some((ledger) => isAnnounced(ledger, path, window.to))) return true;
  // The path was dirty before, and nobody's: a formatter or a test run that changes it does not own it.
  const isMine = ledgers.some(({ session, claims: held }) => own.has(session) && held.has(path));
  return wasDirty && !isMine && claims.length === 0;
}

/** How long the end of a call or a command may still be reported. Milliseconds. */
export const FORGOTTEN_MS = 10 * 60_000;

function isAnnounced({ announced }: SessionLedger, path: string, now: number): boolean {
  const at = announced.get(path)?.at;
  return at !== undefined && now - at <= FORGOTTEN_MS;
}

/** Returns the change without what others have on record for the same time. */
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

/** Returns the first change of another's claim, if it was made while the command ran. */
function firstOf({ since, changes }: OpenClaim, from: number): PathChange | undefined {
  return since >= from ? changes[0] : undefined;
}
