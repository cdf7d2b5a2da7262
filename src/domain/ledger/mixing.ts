import { type Oid, type SessionId, sessionOfOwner } from '../names.ts';
import type { OpenClaim, SessionLedger } from './claims.ts';
import { sameState, type FileState, type DirtyPath, type HeadPlace, type TreeStatus } from './tree-status.ts';
import { type PathClaims, type SessionGroups, claimsOn, doubts, hasStaged, strong } from './ownership.ts';
import { type Candidate, isUpToDate } from './stale.ts';
import { sinceStart } from './claim-events.ts';

/** Decides whether a commit would mix the work of sessions. Pure; the git hooks and `git handoff commit` call it. */

/** A path of the index that differs from HEAD. */
export type StagedPath = Pick<DirtyPath, 'path' | 'head' | 'index'>;

/** A commit that a staged path would undo. */
export interface Reversal {
  readonly path: string;
  readonly commit: Oid;
  /** Whose commit it was; `undefined` when its message names no session. */
  readonly session: SessionId | undefined;
  /** Whether the committing session has changed the path, too, so that its own part can be committed. */
  readonly shared?: boolean;
}

/** A merge, rebase … that another live session has begun, and that a commit would finish or continue. */
export interface OthersOperation {
  /** The name that git-status(1) has for it. */
  readonly name: string;
  readonly session: SessionId;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface CommitFacts {
  readonly staged: readonly StagedPath[];
  /** What a squash merge staged for this commit. It is not judged, and counts as `mine` unless another session claims it. */
  readonly squashed?: readonly StagedPath[];
  readonly ledgers: readonly SessionLedger[];
  readonly groups: SessionGroups;
  readonly self: SessionLedger;
  readonly head: HeadPlace;
  /** The working tree when the session's running command began; empty when none is known to run. */
  readonly running: readonly TreeStatus[];
  /** Whether the index is the worktree's own (or git's temporary copy of it), not one that somebody keeps elsewhere. */
  readonly ownIndex: boolean;
  /** The live session whose commit `--amend` would rewrite. */
  readonly amends: SessionId | undefined;
  /** Session ids in the handoff files (`handoff-*.md`) among the staged paths. */
  readonly markers: readonly { readonly path: string; readonly owner: SessionId }[];
  readonly operation?: OthersOperation | undefined;
  /**
   * The stopped operation that the commit continues. `name`: as in git-status(1); `whole`: whether this session can finish it
   * with `git handoff commit`; `isEmpty`: whether HEAD already has all changes of the pick or revert.
   */
  readonly finishes?:
    { readonly name: string; readonly whole: boolean; readonly isEmpty: boolean } | undefined;
}

export type CommitProblem =
  /** Another live session's uncommitted work. `touched`: a command of this session changed it in passing. */
  | { readonly kind: 'foreign'; readonly path: string; readonly claim: OpenClaim; readonly touched: boolean }
  /** Both sessions have changed the path, and the index holds more than this session's hunks. */
  | { readonly kind: 'contended'; readonly path: string; readonly claim: OpenClaim }
  /** The index is older than HEAD: the commit would undo what somebody else committed. */
  | { readonly kind: 'reversal'; readonly path: string; readonly by: Reversal }
  | { readonly kind: 'amends'; readonly session: SessionId }
  /** HEAD is not on the branch where this session last saw it. */
  | {
      readonly kind: 'branch';
      readonly expected: string;
      readonly found: string;
      readonly mover: SessionId | undefined;
      readonly at: number | undefined;
    }
  | { readonly kind: 'marker'; readonly path: string; readonly owner: SessionId }
  | ({ readonly kind: 'operation' } & OthersOperation);

/** The sessions whose work a refusal protects. */
export function problemOwners(problems: readonly CommitProblem[]): SessionId[] {
  const owners = problems.flatMap((problem) => {
    switch (problem.kind) {
      case 'foreign':
      case 'contended':
        return problem.claim.session;
      case 'reversal':
        return problem.by.session ?? [];
      case 'amends':
      case 'operation':
        return problem.session;
      case 'branch':
        return problem.mover ?? [];
      case 'marker':
        return problem.owner;
    }
  });
  return [...new Set(owners)];
}

export interface CommitDecision {
  readonly problems: readonly CommitProblem[];
  /** Claims to warn of; they refuse nothing. */
  readonly warnings: readonly { readonly path: string; readonly claim: OpenClaim }[];
  /** Staged paths that are this session's own or nobody's: it may commit them. */
  readonly mine: readonly string[];
}

/** Adds claims on what was staged since the session began: a session that is alone in its worktree keeps no ledger. */
export function withChangesSince(
  ledger: SessionLedger,
  start: TreeStatus,
  staged: readonly StagedPath[],
): SessionLedger {
  const changes = staged.flatMap(({ path, head, index }) => {
    const then = start.dirty.get(path);
    const before = then === undefined ? head : then.disk;
    const isUnread = before !== null && before.oid === null;
    const isOld = sameState(before, index) || (then !== undefined && sameState(then.index, index));
    const isKnown = ledger.claims.has(path) || isUnread || isOld;
    return isKnown ? [] : [{ path, base: head, before, after: index }];
  });
  const since = sinceStart(ledger.session, changes, () => start.at);
  return { ...ledger, claims: new Map([...ledger.claims, ...since]) };
}

/** Returns the staged paths whose history {@link decideCommit} needs, because nothing says that this session changed them. */
export function suspects(facts: Omit<CommitFacts, 'amends' | 'markers'>): StagedPath[] {
  return facts.staged.filter((staged) => {
    if (staged.head === null) return false; // A new file undoes nothing.
    const found = claimsOn(staged.path, facts.ledgers, facts.groups, staged.head);
    const own = found.own.length + found.ownTouches.length;
    return own === 0 && strong(found.foreign).length === 0 && !stagedHere(staged, facts);
  });
}

/** Returns staged paths that may lack what HEAD has gained: own or unclaimed ones, not known to build on HEAD's content. */
export function staleCandidates(facts: Omit<CommitFacts, 'amends' | 'markers'>): Candidate[] {
  return facts.staged.flatMap((staged) => {
    const { path, head, index } = staged;
    const { own, foreign } = claimsOn(path, facts.ledgers, facts.groups, head);
    const candidate = { path, head, next: index, own };
    if (own.length === 0 ? strong(foreign).length > 0 || stagedHere(staged, facts) : isUpToDate(candidate))
      return [];
    return isRecordedHere(staged, facts) ? [] : [candidate];
  });
}

/** Whether the journal says that the session staged this state, on top of the content that HEAD has now. */
function isRecordedHere({ path, head, index }: StagedPath, { self }: Pick<CommitFacts, 'self'>): boolean {
  const knew = (then: FileState | undefined) => then !== undefined && sameState(then, head);
  return self.staged.get(path)?.some((one) => sameState(one.state, index) && knew(one.head)) === true;
}

/**
 * Whether the session itself staged this content: its journal says so, or its running command made it. Content that was on the
 * disk before that command does not count: the command only added it (`-a`), so it may lack what HEAD has gained.
 */
function stagedHere(
  staged: StagedPath,
  { self, running, head, ownIndex }: Omit<CommitFacts, 'amends' | 'markers'>,
): boolean {
  if (isRecordedHere(staged, { self })) return true;
  return running.some((before) => {
    const then = before.dirty.get(staged.path);
    if (before.head.oid !== head.oid || !ownIndex) return false;
    return then === undefined || ![then.index, then.disk].some((state) => sameState(state, staged.index));
  });
}

/** Judges a commit. `reversals`: what the history of the {@link suspects} showed. */
export function decideCommit(facts: CommitFacts, reversals: readonly Reversal[]): CommitDecision {
  const { operation } = facts;
  // What the operation has put into the index is nobody's uncommitted work.
  if (operation !== undefined) {
    return { problems: [{ kind: 'operation', ...operation }], warnings: [], mine: [] };
  }
  const problems: CommitProblem[] = [];
  const warnings: { path: string; claim: OpenClaim }[] = [];
  const mine: string[] = [];
  for (const staged of facts.staged) {
    const claims = claimsOn(staged.path, facts.ledgers, facts.groups, staged.head);
    const problem = judgePath(staged, claims, facts, reversals);
    if (problem !== undefined) problems.push(problem);
    else mine.push(staged.path);
    const [claim] = doubts(claims);
    if (problem === undefined && claim !== undefined) warnings.push({ path: staged.path, claim });
  }
  for (const { path, head } of facts.squashed ?? []) {
    if (strong(claimsOn(path, facts.ledgers, facts.groups, head).foreign).length === 0) mine.push(path);
  }
  for (const { path, owner } of facts.markers) {
    if (!facts.groups.own.has(owner)) problems.push({ kind: 'marker', path, owner });
  }
  if (facts.amends !== undefined) problems.push({ kind: 'amends', session: facts.amends });
  const moved = movedBranch(facts);
  if (moved !== undefined) problems.push(moved);
  return { problems, warnings, mine };
}

function judgePath(
  staged: StagedPath,
  { own, foreign, ownTouches }: PathClaims,
  facts: CommitFacts,
  reversals: readonly Reversal[],
): CommitProblem | undefined {
  const { path } = staged;
  const [claim] = strong(foreign);
  if (claim !== undefined) {
    const touched = ownTouches.length > 0;
    if (!(own.length > 0 || touched) || !hasStaged(facts.self, path, staged.index)) {
      return own.length > 0 ? { kind: 'contended', path, claim } : { kind: 'foreign', path, claim, touched };
    }
  }
  const by = reversals.find((one) => one.path === path);
  return by === undefined ? undefined : { kind: 'reversal', path, by };
}

/** Finds a branch switch made neither by the session's running command nor by a rebase, which detaches HEAD. */
function movedBranch({
  self,
  head,
  running,
  ledgers,
  groups,
  finishes,
}: CommitFacts): CommitProblem | undefined {
  const seen = self.head;
  if (seen === undefined || seen.ref === head.ref) return undefined;
  if (finishes !== undefined && head.ref === 'HEAD') return undefined;
  if (running.some((before) => before.head.ref === seen.ref)) return undefined;
  const isParent = ({ session }: SessionLedger) =>
    session !== self.session && session === sessionOfOwner(self.session);
  const moves = ledgers.flatMap((ledger) =>
    ledger.moves
      .filter((move) => move.ref === head.ref)
      .map(({ at, by = ledger.session }) => ({
        at,
        // An ended sibling's moves are now its session's, but this sub-agent has not learned about them.
        session: isParent(ledger) ? by : ledger.session,
      })),
  );
  const last = moves.sort((a, b) => b.at - a.at)[0];
  if (last !== undefined && groups.own.has(last.session)) return undefined;
  return { kind: 'branch', expected: seen.ref, found: head.ref, mover: last?.session, at: last?.at };
}
