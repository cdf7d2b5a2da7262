import type { SessionId } from '../names.ts';
import type { OpenClaim, SessionLedger } from './claims.ts';
import { sameState } from './file-state.ts';
import { type PathClaims, type SessionGroups, claimsOn, strong } from './ownership.ts';
import type { DirtyPath } from './tree-status.ts';

/** Which of the dirty paths `git handoff commit` and `stage --mine` take for a session. Pure. */
interface ShareFacts {
  readonly dirty: readonly DirtyPath[];
  readonly ledgers: readonly SessionLedger[];
  readonly groups: SessionGroups;
  /** The sessions whose claims it may commit: itself, those whose conversation it carries on, those it started. */
  readonly owners: ReadonlySet<SessionId>;
  /** Changes of the session that no ledger has yet, because it works alone or its command still runs. */
  readonly unrecorded: readonly OpenClaim[];
  /** Paths that the command line names; `undefined`: none was named. */
  readonly named: ReadonlySet<string> | undefined;
}

export interface Share {
  readonly dirty: DirtyPath;
  /** The session's own claims, or else its touches; empty for a path that was only named. */
  readonly mine: readonly OpenClaim[];
  /** Whether neither a command of the session nor the command line named it: it may be left out. */
  readonly isPassing: boolean;
  /** Strong claims of other live sessions. */
  readonly others: readonly OpenClaim[];
  /** Claims of other live sessions that only warn, and their touches. */
  readonly doubts: readonly OpenClaim[];
}

export interface Shares {
  /** Taken as they are on the disk. */
  readonly whole: readonly Share[];
  /** Only the session's own hunks are taken: others changed it, too, or it is older than HEAD (no `others`). */
  readonly contended: readonly Share[];
  /** Paths that the command line names, but another live session owns. */
  readonly refused: readonly { readonly path: string; readonly claim: OpenClaim }[];
  /** Paths that are not taken, with their owner if there is one. */
  readonly left: readonly { readonly path: string; readonly owner: SessionId | undefined }[];
}

/** Divides the dirty paths into those that a commit of the session takes, leaves and must not take. */
export function divideWork(facts: ShareFacts): Shares {
  const whole: Share[] = [];
  const contended: Share[] = [];
  const refused: { path: string; claim: OpenClaim }[] = [];
  const left: { path: string; owner: SessionId | undefined }[] = [];
  for (const dirty of facts.dirty) {
    const { path } = dirty;
    const more = facts.unrecorded.filter((claim) => claim.path === path);
    const claims = claimsOn(path, facts.ledgers, facts.groups, dirty.head, more);
    const share = shareOf(dirty, claims, facts);
    const { others, mine } = share;
    const [foreign] = others;
    if (!isUsable(path) || !isWanted(share, facts)) {
      const owner = [...others, ...mine, ...claims.own, ...claims.foreign, ...claims.left][0]?.session;
      left.push({ path, owner });
    } else if (foreign === undefined) {
      whole.push(share);
    } else if (mine.length > 0) {
      contended.push(share);
    } else {
      refused.push({ path, claim: foreign });
    }
  }
  return { whole, contended, refused, left };
}

function shareOf(dirty: DirtyPath, claims: PathClaims, { owners, named }: ShareFacts): Share {
  const isOurs = ({ session }: OpenClaim) => owners.has(session);
  const held = claims.own.filter(isOurs);
  const mine = [...held, ...claims.ownTouches.filter(isOurs)];
  const isTouch = held.length === 0 && mine.length > 0;
  const isPassing = isTouch && named === undefined && mine.every(({ evidence }) => evidence === 'window');
  const doubts = [...claims.foreign.filter(({ weak }) => weak), ...claims.foreignTouches];
  return { dirty, mine, isPassing, others: strong(claims.foreign), doubts };
}

/** Whether a commit can take a path: not a repository inside the tree (`…/`), and not a name that is not UTF-8. */
function isUsable(path: string): boolean {
  return !path.endsWith('/') && !path.includes('\ufffd');
}

function isWanted({ dirty, mine, others, doubts }: Share, { named }: ShareFacts): boolean {
  if (named !== undefined) return named.has(dirty.path);
  if (strong(mine).length > 0) return true;
  // A change that may also be another's is taken only if it is named.
  if (others.length > 0 || doubts.some(({ weak }) => weak)) return false;
  return mine.length > 0;
}

/** Whether the disk differs from HEAD; what only the index shows is nobody's work. */
export function differsOnDisk({ head, disk }: DirtyPath): boolean {
  return !sameState(head, disk);
}
