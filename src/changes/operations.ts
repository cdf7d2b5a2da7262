import { basename, join } from 'node:path';
import { CLOCK_SLACK_MS } from '../domain/ledger/file-state.ts';
import type { OthersOperation } from '../domain/ledger/mixing.ts';
import type { SessionGroups } from '../domain/ledger/ownership.ts';
import { type Oid, type SessionId, shortId } from '../domain/names.ts';
import { type Operation, unfinishedOperation } from '../git/operations.ts';
import { exists } from '../host/disk.ts';
import { type LedgerPlace, appendEvents, readLedger, readLedgers } from '../sessions/journal.ts';
import { readStart, readWindows } from './windows.ts';

/** Notes that this session began it. */
export function putBeginner(
  place: LedgerPlace,
  session: SessionId,
  { mark, at }: Operation,
  merged?: Oid,
): void {
  if (readLedger(place, session).operations.some((one) => one.mark === mark)) return;
  appendEvents(place, session, [{ t: 'operation', mark, ...(merged === undefined ? {} : { merged }), at }]);
}

/** The sessions that began the operation, as their journals say; usually one. */
export function readBeginners(place: LedgerPlace | undefined, { mark }: Operation): SessionId[] {
  const ledgers = place === undefined ? [] : readLedgers(place);
  return ledgers
    .filter(({ operations }) => operations.some((one) => one.mark === mark))
    .map(({ session }) => session);
}

/** The trees on record as merged by it. */
export function readMerged(place: LedgerPlace, { mark }: Operation): Oid[] {
  return readLedgers(place).flatMap(({ operations }) =>
    operations.flatMap((one) => (one.mark === mark ? (one.merged ?? []) : [])),
  );
}

/** A merge, rebase … that is unfinished in a worktree. */
export interface Unfinished {
  readonly operation: Operation;
  /** The other live session that began it; `undefined`: the asking one did, or nobody is known to have. */
  readonly others: OthersOperation | undefined;
  /** The asking session is known to have begun it. */
  readonly isOwn: boolean;
}

/** What is unfinished in a worktree, and whether it is another live session's to finish. */
export function findUnfinished(
  gitDir: string,
  place: LedgerPlace | undefined,
  groups: SessionGroups,
): Unfinished | undefined {
  const operation = unfinishedOperation(gitDir);
  if (operation === undefined) return undefined;
  const recorded = readBeginners(place, operation);
  const beginners = recorded.length > 0 ? recorded : loneBeginners(place, groups, operation);
  const other = beginners.find((session) => groups.foreign.has(session));
  const isOwn =
    beginners.some((session) => groups.own.has(session)) ||
    (beginners.length === 0 && runsNow(place, groups, operation));
  if (other === undefined || isOwn) return { operation, others: undefined, isOwn };
  return { operation, others: { name: operation.name, session: other, at: operation.at }, isOwn };
}

/** It began in a command that the asking session runs now, and nobody else does. */
function runsNow(
  place: LedgerPlace | undefined,
  { own, foreign }: SessionGroups,
  { at }: Operation,
): boolean {
  if (place === undefined) return false;
  const running = readWindows(place).filter(({ from }) => from - CLOCK_SLACK_MS <= at);
  return (
    running.some(({ session }) => own.has(session)) && !running.some(({ session }) => foreign.has(session))
  );
}

/** A session that works alone in the worktree keeps no record: it, or its person, began what began since. */
function loneBeginners(
  place: LedgerPlace | undefined,
  { foreign }: SessionGroups,
  { at }: Operation,
): SessionId[] {
  if (place === undefined) return [];
  return [...foreign].filter((session) => (readStart(place, session)?.at ?? Infinity) <= at);
}

/** "a merge", "an am". */
export function operationText(name: string): string {
  return `${name === 'am' ? 'an' : 'a'} ${name}`;
}

/** Who began what, for a refusal. */
export function whoBeganText({ name }: OthersOperation, who: string, when: string): string {
  return `${who} began ${operationText(name)} here ${when} and has not finished it: a commit would finish or continue it, with that session’s changes`;
}

/** A folder beside the working tree for a worktree of the session's own, relative to the top; it does not exist. */
export function ownWorktree(top: string, session: SessionId): string {
  const name = `${basename(top).replace(/[^A-Za-z0-9_-]+/g, '-')}-${shortId(session)}`.replace(/^-+/, '');
  for (let n = 1; ; n += 1) {
    const path = n === 1 ? `../${name}` : `../${name}-${n}`;
    if (!exists(join(top, path))) return path;
  }
}
