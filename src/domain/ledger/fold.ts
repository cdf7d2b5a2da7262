import type { SessionId } from '../names.ts';
import type {
  Announcement,
  LedgerEntry,
  OpenClaim,
  PathChange,
  SessionLedger,
  StagedState,
} from './claims.ts';
import { type Evidence, type FileState, rankOf, sameState } from './file-state.ts';
import type { Window } from './tree-status.ts';

/** Folds a session's entries, in the order in which they were written. */
export function foldLedger(session: SessionId, entries: readonly LedgerEntry[]): SessionLedger {
  const of = <Kind extends LedgerEntry['t']>(kind: Kind) =>
    entries.filter((entry): entry is Entry<Kind> => entry.t === kind);
  const told = new Map<string, number>();
  for (const { ids, at } of of('told')) for (const id of ids) if (!told.has(id)) told.set(id, at);
  const heads = of('head');
  return {
    session,
    ...foldPaths(session, entries),
    commits: of('commit'),
    head: heads.at(-1),
    moves: heads.filter(({ own }) => own),
    events: of('event').map(({ id, to, text, at }) => ({ id, from: session, to, text, at })),
    requests: of('request'),
    told,
    windows: of('window').map((entry) => windowOf(session, entry)),
  };
}

type Entry<Kind extends LedgerEntry['t']> = Extract<LedgerEntry, { t: Kind }>;

/** What is so of a path until a later entry says otherwise. */
function foldPaths(
  session: SessionId,
  entries: readonly LedgerEntry[],
): Pick<SessionLedger, 'claims' | 'ended' | 'taken' | 'announced' | 'staged'> {
  const claims = new Map<string, OpenClaim>();
  const ended = new Map<string, OpenClaim>();
  const taken = new Map<string, SessionId>();
  const announced = new Map<string, Announcement>();
  const staged = new Map<string, StagedState[]>();
  for (const entry of entries) {
    switch (entry.t) {
      case 'claim':
        claims.set(entry.path, withClaim(session, claims.get(entry.path), entry));
        ended.delete(entry.path);
        taken.delete(entry.path);
        break;
      case 'end': {
        const claim = claims.get(entry.path);
        // Whoever saw the path clean looked before this change was made.
        if (entry.why === 'clean' && (claim?.at ?? 0) > entry.at) break;
        moveClaim(entry.path, claims, entry.why === 'clean' ? ended : undefined);
        staged.delete(entry.path);
        if (entry.why === 'taken' && entry.by !== undefined) taken.set(entry.path, entry.by);
        break;
      }
      case 'revived':
        moveClaim(entry.path, ended, claims);
        break;
      case 'announced':
        for (const path of entry.paths) announced.set(path, { agent: entry.agent, at: entry.at });
        break;
      case 'answered':
        for (const [path, one] of announced) if (isAnswered(path, one, entry)) announced.delete(path);
        break;
      case 'commit':
        noteCommitted(claims, entry.paths);
        break;
      case 'staged':
        staged.set(entry.path, [...(staged.get(entry.path) ?? []), entry]);
        break;
      default:
    }
  }
  return { claims, ended, taken, announced, staged };
}

function moveClaim(path: string, from: Map<string, OpenClaim>, to: Map<string, OpenClaim> | undefined): void {
  const claim = from.get(path);
  if (claim !== undefined) to?.set(path, claim);
  from.delete(path);
}

function noteCommitted(
  claims: Map<string, OpenClaim>,
  paths: readonly (readonly [path: string, state: FileState])[],
): void {
  for (const [path, state] of paths) {
    const claim = claims.get(path);
    if (claim !== undefined) claims.set(path, { ...claim, committed: [...claim.committed, state] });
  }
}

function windowOf(session: SessionId, { id, from, at, goesOn }: Entry<'window'>): Window {
  return { session, id, from, to: at, ...(goesOn === true ? { goesOn } : {}) };
}

function isAnswered(path: string, { agent, at }: Announcement, entry: Entry<'answered'>): boolean {
  const isAgents = entry.agent === undefined || entry.agent === (agent ?? '');
  return isAgents && at <= entry.at && entry.paths?.includes(path) !== false;
}

function withClaim(session: SessionId, known: OpenClaim | undefined, entry: Entry<'claim'>): OpenClaim {
  const { path, base, before, after, evidence, weak, at } = entry;
  const began = entry.began === undefined && known?.began === undefined ? {} : { began: entry.began ?? at };
  // What this session has committed is no claim any more; a change after that is another one.
  if (known === undefined || known.committed.some((state) => sameState(state, base))) {
    const changes = [{ before, after }];
    const claim = {
      session,
      path,
      base,
      changes,
      after,
      committed: [],
      evidence,
      weak,
      since: at,
      at,
      ...began,
    };
    return entry.agent === undefined ? claim : { ...claim, agent: entry.agent };
  }
  return {
    ...known,
    ...began,
    ...(entry.agent === undefined ? {} : { agent: entry.agent }),
    changes: withChange(known.changes, { before, after }),
    after,
    evidence: stronger(known.evidence, evidence),
    weak: known.weak && weak,
    at,
  };
}

function withChange(changes: readonly PathChange[], next: PathChange): readonly PathChange[] {
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
