import type { OpenClaim, SessionLedger } from '../domain/ledger/claims.ts';
import { emptyLedger } from '../domain/journal/fold.ts';
import { sameState, type FileState, type HeadPlace } from '../domain/ledger/tree-status.ts';
import { contentsOf, planHunks } from '../domain/ledger/hunks.ts';
import { type SessionGroups, isMaker, namedPeer, namesOwn } from '../domain/ledger/ownership.ts';
import {
  type Bearing,
  type Candidate,
  type Gain,
  bearing,
  claimGains,
  isLater,
  isMeant,
} from '../domain/ledger/stale.ts';
import { type Oid, type SessionId, parseOid } from '../domain/names.ts';
import { TextMerger } from '../git/merge-file.ts';
import { type ContentReader, contentReader, scratchStore } from '../git/scratch.ts';
import { type PastChange, pastChanges, RAW_DIFF, parseRaw } from '../git/staged.ts';
import { join } from 'node:path';
import { readPart } from '../host/disk.ts';
import { entriesOf, runGit } from '../git/run.ts';

interface StalePlace {
  readonly cwd: string;
  readonly gitDir: string;
  readonly commonDir: string;
  readonly head: HeadPlace;
  /** The commits at which the session saw HEAD. */
  readonly seen: readonly (Oid | null)[];
  readonly groups: SessionGroups;
}

interface StalePaths {
  /** The paths that would, if committed, undo what HEAD has gained. */
  readonly stale: ReadonlySet<string>;
  /** Changes of commits that HEAD has moved away from: HEAD lacks them now, but the commit to be made has them. */
  readonly undone: readonly Undone[];
}

interface Undone extends PastChange {
  /** The commit to which HEAD moved. */
  readonly back: Oid;
  readonly at: number;
}

/** Finds the paths that would, if committed, undo what HEAD has gained, whatever moved HEAD. */
export async function findStale(place: StalePlace, candidates: readonly Candidate[]): Promise<StalePaths> {
  if (candidates.length === 0 || place.head.oid === null) return { stale: new Set(), undone: [] };
  const { cwd } = place;
  const paths = candidates.map(({ path }) => path);
  const { moves, since } = await indexMoves(place, place.head.oid);
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
  // `--first-parent`: what a merge brought along belongs to the session that merged.
  const changes = await pastChanges({ cwd }, ['--first-parent', `${to}..${from}`], paths);
  return changes.map((change) => ({ ...change, back: to, at }));
}

/** Judges paths; reads and merges contents only if the states alone do not decide. */
class Judge {
  readonly #place: StalePlace;
  readonly #merger = new TextMerger();

  constructor(place: StalePlace) {
    this.#place = place;
  }

  /** HEAD's gains: `gains` since the session began to change the path, `moved` by moves that may have left the index behind. */
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

  /** Whether HEAD's gain is the session's own: the session committed what was staged, and then went on changing the path. */
  async #isOwn({ path, head }: Candidate, { from }: Gain): Promise<boolean> {
    const { cwd, groups } = this.#place;
    let at = head;
    for (const { head: before, index, sessions } of await pastChanges({ cwd }, 'HEAD', [path])) {
      if (!sameState(index, at) || !sessions.some((id) => namesOwn(id, groups))) return false;
      if (sameState(before, from)) return true;
      at = before;
    }
    return false;
  }

  /** Whether the state to be committed has a change that HEAD has lost. */
  async isLeft(
    { path, head, next }: Candidate,
    { head: from, index: to, back, at }: Undone,
  ): Promise<boolean> {
    const gain = { from, to, at };
    const found = await this.#bearing(head, gain);
    if (found === 'has' || (await this.#bearing(next, gain)) === 'lacks') return false;
    return found === 'lacks' || !(await this.#hasAgain(path, gain, back));
  }

  /** Whether a later commit made the change again, which HEAD's content does not show if adjacent lines differ. */
  async #hasAgain(path: string, gain: Gain, since: Oid): Promise<boolean> {
    const changes = await pastChanges({ cwd: this.#place.cwd }, `${since}..HEAD`, [path]);
    for (const { index } of changes) if ((await this.#bearing(index, gain)) === 'has') return true;
    return false;
  }

  async #bearing(state: FileState, gain: Gain): Promise<Bearing> {
    const known = bearing(state, gain);
    if (known !== undefined) return known;
    const names = [state, gain.from, gain.to].flatMap((one) => one?.oid ?? []);
    const read = await this.#read(names);
    const [current, from, to] = names.map(read);
    if (current === undefined || from === undefined || to === undefined) return 'conflict';
    const merged = await this.#merger.apply(current, from, to);
    if (merged.kind !== 'merged') return 'conflict';
    return merged.content.equals(current) ? 'has' : 'lacks';
  }

  /** Whether the state to be committed is HEAD's state plus the session's own changes. */
  async #isComposed({ head, next, own }: Candidate): Promise<boolean> {
    if (own.length === 0 || next === null) return false;
    const plan = planHunks({ head, disk: next, mine: own, others: [] });
    if (plan.kind !== 'apply' || next.oid === null) return false;
    const read = await this.#read([next.oid, ...contentsOf(plan)]);
    const merged = await this.#merger.applySteps(plan.start, plan.steps, read);
    return merged.kind === 'merged' && read(next.oid)?.equals(merged.content) === true;
  }

  #read(oids: readonly Oid[]): Promise<ContentReader> {
    const { cwd, commonDir } = this.#place;
    return contentReader(cwd, scratchStore(commonDir), oids);
  }

  close(): void {
    this.#merger.close();
  }
}

/** Adds claims to the ledgers of other sessions, for their `undone` changes that the index still has. */
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

/** A move of HEAD that the index may not have followed, because no commit, merge or switch made it. */
interface IndexMove {
  readonly from: Oid;
  readonly to: Oid;
  /** Milliseconds since the epoch, rounded down to a second. */
  readonly at: number;
}

interface Logged {
  readonly oid: Oid;
  readonly parent: Oid | undefined;
  readonly subject: string;
  readonly at: number;
}

/** The most reflog entries to read, and the most moves to return. */
const ENTRIES = 32;
const MOVES = 8;

/** Reflog messages of commands that move the index together with HEAD. */
const BRINGS = /^(?:commit|merge|pull|rebase|checkout|cherry-pick|revert|am|clone|branch|initial)\b/;

/**
 * Finds in HEAD's reflog the last moves that may have left the index behind, newest first: `reset`, `update-ref`, `fetch`, a
 * push into the branch, or a gap between two entries, which means that another worktree moved the branch. If there is no
 * reflog, the entries are the commits at which the session saw HEAD.
 */
async function indexMoves(
  place: StalePlace,
  head: Oid,
): Promise<{ readonly moves: IndexMove[]; readonly since: number }> {
  const logged = await readLog(place);
  const [newest] = logged;
  const moves: IndexMove[] = [];
  const add = (from: Oid | undefined | null, to: Oid | undefined, at: number) => {
    if (from && to && from !== to) moves.push({ from, to, at });
  };
  if (newest === undefined) for (const oid of place.seen) add(oid, head, 0);
  else add(newest.oid, head, newest.at);
  for (const [n, { oid, parent, subject, at }] of logged.entries()) {
    const before = logged[n + 1]?.oid;
    if (!BRINGS.test(subject)) add(before, oid, at);
    else if (/^commit(?:: | \(merge\))/.test(subject)) add(before, parent, at);
  }
  return { moves: moves.slice(0, MOVES), since: newest?.at ?? 0 };
}

/** Bytes to read from the end of the reflog, enough for `ENTRIES` entries. */
const BYTES = 32_768;

/** Reads the reflog, newest first: git's own file if possible (gitrepository-layout(5)), because every commit waits for this. */
async function readLog({ cwd, gitDir }: StalePlace): Promise<Logged[]> {
  const end = readPart(join(gitDir, 'logs', 'HEAD'), -BYTES);
  if (end === undefined) return askLog(cwd);
  return end.toString().split('\n').flatMap(parseLine).slice(-ENTRIES).reverse();
}

/** Parses `<old> <new> <name> <mail> <seconds> <zone>[TAB<subject>]`; a mail address contains no `>`. */
function parseLine(line: string): Logged[] {
  const [, old = '', next = '', seconds, subject = ''] =
    /^([0-9a-f]+) ([0-9a-f]+) [^>\t]*> (\d+) [+-]\d+(?:\t(.*))?$/.exec(line) ?? [];
  const oid = parseOid(next);
  // A commit's parent is the old value of HEAD; all zeros mean that there is none.
  const parent = /^0+$/.test(old) ? undefined : parseOid(old);
  return oid === undefined ? [] : [{ oid, parent, subject, at: Number(seconds) * 1000 }];
}

async function askLog(cwd: string): Promise<Logged[]> {
  const format = '--format=%gd %H %P%n%gs';
  const args = ['log', '--walk-reflogs', `--max-count=${ENTRIES}`, '-z', '--date=unix', format, 'HEAD', '--'];
  const result = await runGit(args, { cwd });
  if (result.code !== 0) return [];
  return entriesOf(result).flatMap((record) => {
    const match = /^\S*@\{(\d+)\} ([0-9a-f]+) ?([0-9a-f]*)[^\n]*\n?([^]*)$/.exec(record);
    const oid = parseOid(match?.[2] ?? '');
    if (match === null || oid === undefined) return [];
    return [{ oid, parent: parseOid(match[3] ?? ''), subject: match[4] ?? '', at: Number(match[1]) * 1000 }];
  });
}

/** Returns what a move changed at these paths since the merge base of its two ends. */
async function movedPaths(
  cwd: string,
  { from, to }: IndexMove,
  paths: readonly string[],
): Promise<{ path: string; from: FileState; to: FileState }[]> {
  const args = ['--literal-pathspecs', 'diff', ...RAW_DIFF, `${from}...${to}`, '--', ...paths];
  const result = await runGit(args, { cwd });
  if (result.code !== 0) return [];
  const changes = parseRaw(result.stdout.toString('utf8'));
  return changes.map(({ path, head: before, index: after }) => ({ path, from: before, to: after }));
}
