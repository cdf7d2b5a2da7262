import { chainChanges, differsOnDisk, hasStaged, isStaged, isUsable } from '../domain/ledger/ownership.ts';
import type { OpenClaim } from '../domain/ledger/claims.ts';
import { type HunkPlan, contentsOf, planHunks } from '../domain/ledger/hunks.ts';
import {
  type DirtyPath,
  type FileState,
  type TreeStatus,
  sameState,
  stagedBetween,
} from '../domain/ledger/tree-status.ts';
import { foldLedger } from '../domain/journal/fold.ts';
import { type Oid, type SessionId, agentOfOwner, parseOid, sessionOfOwner } from '../domain/names.ts';
import { succeededBy } from '../domain/session.ts';
import { objectName } from '../git/hash.ts';
import { TextMerger } from '../git/merge-file.ts';
import { objectFormat } from '../git/repository.ts';
import { type ContentReader, contentReader, hashFiles, scratchStore } from '../git/scratch.ts';
import type { JudgedSession } from '../sessions/records.ts';
import type { Asker, DirtyWork, WorkTree } from './dirty-work.ts';
import { ARRIVAL, claimsAround, readStart, readWindows } from './windows.ts';

/** One session's changes to an uncommitted path. `commit` and `stage --mine` use them, `diff` shows them, `undo` reverts them. */
export interface SessionPart {
  readonly dirty: DirtyPath;
  readonly mine: readonly OpenClaim[];
  readonly others: readonly OpenClaim[];
}

/** A part that cannot be separated: it overlaps others' changes, is no text, is too large, or has a path unusable for git. */
export interface Inseparable<Part extends SessionPart = SessionPart> {
  readonly part: Part;
  readonly why: 'overlap' | 'unknown' | 'unusable';
}

/**
 * Returns the owners whose changes count as this session's: itself, the sessions whose conversation it continues, and the
 * sessions that it started, but not those that started it. A sub-agent and its session are two owners: neither commits a
 * path that the other has changed, unless it names that path.
 */
export function ownersOf(
  self: SessionId,
  { groups }: Asker,
  sessions: readonly JudgedSession[],
): ReadonlySet<SessionId> {
  const records = sessions.map(({ record }) => record);
  const session = sessionOfOwner(self);
  const above = new Set<SessionId>(self === session ? [] : [session, ...succeededBy(session, records)]);
  const parentOf = (id: SessionId) => records.find((record) => record.session === id)?.parent ?? null;
  for (let at = parentOf(session); at !== null && !above.has(at); at = parentOf(at))
    for (const id of [at, ...succeededBy(at, records)]) above.add(id);
  const isOwn = (id: SessionId) => !above.has(id) && agentOfOwner(id) === undefined;
  return new Set([self, ...[...groups.own].filter(isOwn)]);
}

/** Returns claims that no ledger has yet: those of a session that works alone, and of this session's running commands. */
export async function unrecordedClaims(
  self: SessionId,
  work: DirtyWork,
  owners: ReadonlySet<SessionId>,
  now: number,
): Promise<OpenClaim[]> {
  const { lone, place, status, ledgers, tree } = work;
  const loneClaims = lone !== undefined && owners.has(lone.session) ? [...lone.claims.values()] : [];
  if (place === undefined) return loneClaims;
  const windows = readWindows(place);
  const changed: OpenClaim[] = [];
  for (const window of windows) {
    // When a session arrives, a window opens for another session's running tool call, even if that is no shell command.
    if (window.session !== self || window.id === ARRIVAL) continue;
    const { top } = tree;
    const claims = await claimsAround({ top, window, windows, after: status, ledgers, own: owners, now });
    changed.push(...foldLedger(self, claims).claims.values());
  }
  return [...loneClaims, ...changed];
}

/**
 * Returns the paths whose index entries these sessions made: their ledgers say so, or the entry has changed since an earlier
 * status. Earlier statuses are the start list of a session that works alone, and `also`, from before running commands.
 */
export function stagedBy(
  { status, ledgers, lone, place }: DirtyWork,
  owners: ReadonlySet<SessionId>,
  also: readonly TreeStatus[] = [],
): DirtyPath[] {
  const isLone = place !== undefined && lone !== undefined && owners.has(lone.session);
  const start = isLone ? readStart(place, lone.session) : undefined;
  const before = start === undefined ? also : [start, ...also];
  const recent = new Set(before.flatMap((then) => stagedBetween(then, status)).map(({ path }) => path));
  const isOnRecord = ({ path, index }: DirtyPath) =>
    ledgers.some((ledger) => owners.has(ledger.session) && hasStaged(ledger, path, index));
  return [...status.dirty.values()].filter(
    (dirty) => isStaged(dirty) && (recent.has(dirty.path) || isOnRecord(dirty)),
  );
}

/** Returns the paths that these sessions have changed only in the index: the file on the disk is as in HEAD. */
export function stagedOnly(work: DirtyWork, owners: ReadonlySet<SessionId>): DirtyPath[] {
  return stagedBy(work, owners).filter((dirty) => !differsOnDisk(dirty));
}

/** Whether the session alone made all changes from `start` to what is on the disk, so that nothing has to be merged. */
export function isWhole({ dirty: { path, disk }, mine, others }: SessionPart, start: FileState): boolean {
  const changes = isUsable(path) ? chainChanges(mine[0]?.base ?? null, mine) : [];
  const [first, last] = [changes[0], changes.at(-1)];
  if (first === undefined || last === undefined || !sameState(first.before, start)) return false;
  const isChain = changes.every(
    ({ before }, n) => n === 0 || sameState(changes[n - 1]?.after ?? null, before),
  );
  // The content of a big file, a link or a submodule was not read.
  const isUnread =
    disk?.oid === null && last.after?.oid === null && others.length === 0 && changes.length === 1;
  return isUnread || (isChain && sameState(last.after, disk));
}

/** Adds the hash of the path's content if `oids` has it: a status does not read the files if very many are dirty. */
export function withContent(dirty: DirtyPath, oids: ReadonlyMap<string, Oid>): DirtyPath {
  const oid = oids.get(dirty.path);
  return dirty.disk === null || oid === undefined ? dirty : { ...dirty, disk: { ...dirty.disk, oid } };
}

interface Joined<Part extends SessionPart> {
  readonly entries: ReadonlyMap<string, FileState>;
  /** The contents of the entries. They are not stored yet. */
  readonly contents: ReadonlyMap<Oid, Buffer>;
  readonly failed: readonly Inseparable<Part>[];
}

/**
 * Adds a session's part of each path to what HEAD has there, or to the state that `startOf` returns. The repository or the
 * scratch store must have the content of that state.
 */
export async function addParts<Part extends SessionPart>(
  { top, commonDir }: WorkTree,
  parts: readonly Part[],
  startOf: (part: Part) => FileState = ({ dirty }) => dirty.head,
): Promise<Joined<Part>> {
  const entries = new Map<string, FileState>();
  const contents = new Map<Oid, Buffer>();
  const failed: Inseparable<Part>[] = [];
  if (parts.length === 0) return { entries, contents, failed };
  const scratch = scratchStore(commonDir);
  const paths = parts.map(({ dirty }) => dirty.path).filter(isUsable);
  const onDisk = await hashFiles(top, paths, { scratch, all: true });
  const format = await objectFormat({ cwd: top });
  const merger = new TextMerger();
  try {
    for (const part of parts) {
      const { path, disk } = withContent(part.dirty, onDisk);
      const plan = isUsable(path)
        ? planHunks({ head: startOf(part), disk, mine: part.mine, others: part.others })
        : ({ kind: 'unusable' } as const);
      if (plan.kind === 'removed') {
        entries.set(path, null);
        continue;
      }
      if (plan.kind !== 'apply') {
        failed.push({ part, why: plan.kind });
        continue;
      }
      const now = disk?.oid ?? null;
      const read = await contentReader(top, scratch, [...contentsOf(plan), now]);
      const content = await merge(merger, plan, read, now);
      if (typeof content === 'string') failed.push({ part, why: content });
      else if (content.length === 0 && !leavesFile(plan)) entries.set(path, null);
      else {
        const name = parseOid(objectName(format, 'blob', content)) ?? null;
        if (name !== null) contents.set(name, content);
        entries.set(path, { mode: plan.mode, oid: name });
      }
    }
  } finally {
    merger.close();
  }
  return { entries, contents, failed };
}

/** Whether a file is left after the session's own changes: not if the session only emptied a file that another created. */
const leavesFile = ({ start, steps }: Extract<HunkPlan, { kind: 'apply' }>) =>
  steps.reduce((there, { before, after }) => after !== null && (there || before === null), start !== null);

/**
 * Applies the steps. Merging the result into the file on the disk must change nothing: otherwise hunks of several
 * sessions overlap or touch, or somebody has undone some of them.
 */
async function merge(
  merger: TextMerger,
  plan: Extract<HunkPlan, { kind: 'apply' }>,
  read: ContentReader,
  disk: Oid | null,
): Promise<Buffer | 'overlap' | 'unknown'> {
  const [start, now] = [read(plan.start), read(disk)];
  if (start === undefined || now === undefined) return 'unknown';
  const own = await merger.applySteps(plan.start, plan.steps, read);
  if (own.kind !== 'merged') return own.kind === 'conflict' ? 'overlap' : 'unknown';
  const again = await merger.apply(now, start, own.content);
  if (again.kind === 'binary') return 'unknown';
  return again.kind === 'merged' && again.content.equals(now) ? own.content : 'overlap';
}
