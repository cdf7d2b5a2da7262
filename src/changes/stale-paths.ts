import type { OpenClaim, SessionLedger } from '../domain/ledger/claims.ts';
import { emptyLedger } from '../domain/journal/fold.ts';
import { sameState, type FileState } from '../domain/ledger/file-state.ts';
import { contentsOf, planHunks } from '../domain/ledger/hunks.ts';
import { type SessionGroups, isMaker, namedPeer, namesOwn } from '../domain/ledger/ownership.ts';
import type { HeadPlace } from '../domain/ledger/tree-status.ts';
import {
  type Bearing,
  type Candidate,
  type Gain,
  bearing,
  claimGains,
  isLater,
  isMeant,
} from '../domain/ledger/stale.ts';
import type { Oid, SessionId } from '../domain/names.ts';
import { type IndexMove, indexMoves, movedPaths } from '../git/index-moves.ts';
import { TextMerger } from '../git/merge-file.ts';
import { readContents, scratchStore } from '../git/scratch-store.ts';
import { type PastChange, pastChanges } from '../git/staged.ts';

/** Where paths are judged. */
interface StalePlace {
  readonly cwd: string;
  readonly gitDir: string;
  readonly commonDir: string;
  readonly head: HeadPlace;
  /** Where the session saw HEAD. */
  readonly seen: readonly (Oid | null)[];
  readonly groups: SessionGroups;
}

interface StalePaths {
  /** A commit of them would undo what HEAD has gained. */
  readonly stale: ReadonlySet<string>;
  /** Changes of commits that HEAD has left behind; they stand in the index only. */
  readonly undone: readonly Undone[];
}

interface Undone extends PastChange {
  /** Where HEAD went. */
  readonly back: Oid;
  readonly at: number;
}

/** Looks which paths are older than HEAD, however HEAD got to where it is. */
export async function findStale(place: StalePlace, candidates: readonly Candidate[]): Promise<StalePaths> {
  if (candidates.length === 0 || place.head.oid === null) return { stale: new Set(), undone: [] };
  const { cwd, head, seen } = place;
  const paths = candidates.map(({ path }) => path);
  const { moves, since } = await indexMoves(place, head.oid, seen);
  const [gains, undone] = await Promise.all([
    Promise.all(moves.map((move) => movedPaths(cwd, move, paths))),
    Promise.all(moves.map((move) => leftBehind(cwd, move, paths))),
  ]);
  const judge = new Judge(place);
  try {
    const stale = new Set<string>();
    for (const candidate of candidates) {
      const moved = gains.flatMap((changes, n) =>
        changes
          .filter(({ path }) => path === candidate.path)
          .map(({ from, to }): Gain => ({ from, to, at: moves[n]?.at ?? 0 })),
      );
      if (await judge.isStale(candidate, claimGains(candidate, since, undone), moved))
        stale.add(candidate.path);
    }
    const left = [];
    for (const change of undone.flat()) {
      const candidate = candidates.find(({ path }) => path === change.path);
      if (candidate !== undefined && (await judge.isLeft(candidate, change))) left.push(change);
    }
    return { stale, undone: left };
  } finally {
    judge.close();
  }
}

async function leftBehind(
  cwd: string,
  { from, to, at }: IndexMove,
  paths: readonly string[],
): Promise<Undone[]> {
  // What a merge brought along is its session's.
  const changes = await pastChanges(cwd, ['--first-parent', `${to}..${from}`], paths);
  return changes.map((change) => ({ ...change, back: to, at }));
}

/** Reads contents and merges them, where states alone do not tell. */
class Judge {
  readonly #place: StalePlace;
  #merger: TextMerger | undefined;

  constructor(place: StalePlace) {
    this.#place = place;
  }

  /**
   * @param gains what HEAD has gained since the session began to change the path
   * @param moved what moves of HEAD brought that may have left the index behind
   */
  async isStale(candidate: Candidate, gains: readonly Gain[], moved: readonly Gain[]): Promise<boolean> {
    for (const gain of [...gains, ...moved]) {
      const found = await this.#bearing(candidate.next, gain);
      if (found === 'has') continue;
      if ((await this.#bearing(candidate.head, gain)) !== 'has') continue;
      if (isMeant(candidate) || (await this.#isComposed(candidate))) return false;
      if (found !== 'lacks' && isLater(candidate, gain)) continue;
      if (moved.includes(gain) || !(await this.#isOwn(candidate, gain))) return true;
    }
    return false;
  }

  /** The session's own commits made it: of what was staged by then, before the change went on. */
  async #isOwn({ path, head }: Candidate, { from }: Gain): Promise<boolean> {
    const { cwd, groups } = this.#place;
    let at = head;
    for (const { head: before, index, sessions } of await pastChanges(cwd, 'HEAD', [path])) {
      if (!sameState(index, at) || !sessions.some((id) => namesOwn(id, groups))) return false;
      if (sameState(before, from)) return true;
      at = before;
    }
    return false;
  }

  /** The commit's change is in what is to be committed, and HEAD has it no more. */
  async isLeft(
    { path, head, next }: Candidate,
    { head: from, index: to, back, at }: Undone,
  ): Promise<boolean> {
    const gain = { from, to, at };
    const found = await this.#bearing(head, gain);
    if (found === 'has' || (await this.#bearing(next, gain)) === 'lacks') return false;
    return found === 'lacks' || !(await this.#hasAgain(path, gain, back));
  }

  /** Where lines beside a change are others by now, HEAD does not show it: a commit since may have brought it again. */
  async #hasAgain(path: string, gain: Gain, since: Oid): Promise<boolean> {
    const changes = await pastChanges(this.#place.cwd, `${since}..HEAD`, [path]);
    for (const { index } of changes) if ((await this.#bearing(index, gain)) === 'has') return true;
    return false;
  }

  async #bearing(state: FileState, gain: Gain): Promise<Bearing> {
    const known = bearing(state, gain);
    if (known !== undefined) return known;
    const oids = [state, gain.from, gain.to].flatMap((one) => one?.oid ?? []);
    const [current, from, to] = await this.#read(oids);
    if (current === undefined || from === undefined || to === undefined) return 'conflict';
    const merged = await this.#apply(current, from, to);
    if (merged === undefined) return 'conflict';
    return merged.equals(current) ? 'has' : 'lacks';
  }

  /** It is what HEAD has with the session's own changes. */
  async #isComposed({ head, next, own }: Candidate): Promise<boolean> {
    if (own.length === 0 || next === null) return false;
    const plan = planHunks({ head, disk: next, mine: own, others: [] });
    if (plan.kind !== 'apply' || next.oid === null) return false;
    const names = contentsOf(plan);
    const contents = await this.#read([next.oid, ...names]);
    const known = new Map(names.map((name, n) => [name, contents[n + 1]]));
    const read = (oid: Oid | null) => (oid === null ? Buffer.alloc(0) : known.get(oid));
    let content = read(plan.start);
    for (const { before, after } of plan.steps) {
      const [was, is] = [read(before), read(after)];
      if (content === undefined || was === undefined || is === undefined) return false;
      content = await this.#apply(content, was, is);
    }
    return content !== undefined && contents[0]?.equals(content) === true;
  }

  #read(oids: readonly Oid[]): Promise<(Buffer | undefined)[]> {
    const { cwd, commonDir } = this.#place;
    return readContents(cwd, scratchStore(commonDir), oids);
  }

  async #apply(current: Buffer, before: Buffer, after: Buffer): Promise<Buffer | undefined> {
    this.#merger ??= new TextMerger();
    const merged = await this.#merger.apply(current, before, after);
    return merged.kind === 'merged' ? merged.content : undefined;
  }

  close(): void {
    this.#merger?.close();
  }
}

/** The ledgers with what HEAD has left behind of other sessions' commits: it stands in the index only, and is theirs. */
export function withUndone(
  ledgers: readonly SessionLedger[],
  undone: readonly Undone[],
  groups: SessionGroups,
  candidates: readonly Candidate[],
): SessionLedger[] {
  if (undone.length === 0) return [...ledgers];
  const { foreign } = groups;
  const owns = (session: SessionId, id: string) => namedPeer(id, groups) === session;
  const isKnown = (session: SessionId) => ledgers.some((ledger) => ledger.session === session);
  const others = [...foreign].filter((session) => !isKnown(session)).map((one) => emptyLedger(one));
  return [...ledgers, ...others].map((ledger) => {
    const { session } = ledger;
    if (!foreign.has(session)) return ledger;
    const claims = new Map(ledger.claims);
    for (const change of undone) {
      const { path, at } = change;
      const candidate = candidates.find((one) => one.path === path);
      if (candidate === undefined || claims.has(path) || !isMaker(ledger, change, owns)) continue;
      claims.set(path, undoneClaim(session, candidate, at));
    }
    return { ...ledger, claims };
  });
}

function undoneClaim(session: SessionId, { path, head, next }: Candidate, at: number): OpenClaim {
  const changes = [{ before: head, after: next }];
  const sure = { evidence: 'explicit', weak: false } as const;
  return { session, path, base: head, changes, after: next, committed: [], ...sure, since: at, at };
}
