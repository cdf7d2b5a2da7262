import type { OpenClaim, SessionLedger } from '../../domain/ledger/claims.ts';
import { type DirtyPath, type TreeStatus, sameState } from '../../domain/ledger/tree-status.ts';
import type { SessionId } from '../../domain/names.ts';
import { readHead } from '../../git/discover.ts';
import { contentState, diskState, stampOf } from '../../git/worktrees.ts';
import { stillRuns } from '../../host/processes.ts';
import { clientChain } from '../presence.ts';
import type { TreeCall } from '../call.ts';
import type { CommandFacts, OpenLedger } from '../facts.ts';

/*
 * When git does not answer in time, we judge by the ledger, the bytes on the disk and the running processes, without starting
 * a process. In doubt we refuse: a file that a git filter converts counts as changed.
 */

/** A worktree before a command, and the ledgers of its sessions. */
export interface Seen extends OpenLedger {
  readonly status: TreeStatus;
  /** Whether git did not answer in time, so that the status comes from the ledgers. */
  readonly isByLedger: boolean;
}

/** Returns the worktree as git sees it or, if git does not answer in time, as the ledgers record it. */
export async function seenBefore(call: TreeCall, { ledger, looks }: CommandFacts): Promise<Seen | undefined> {
  const open = ledger();
  if (open === undefined || looks.forLedger === undefined) return undefined;
  const status = await looks.forLedger.status();
  if (status !== undefined) return { ...open, status, isByLedger: false };
  return { ...open, status: statusByLedger(open, looks.forLedger.known, call.now), isByLedger: true };
}

/** The sentence in a refusal that is based on the ledgers alone. */
export const BY_LEDGER = 'git status did not finish in time, so this is what the sessions have recorded. ';

/** Returns the working tree as the ledgers record it: the claimed paths that differ from what HEAD had. */
function statusByLedger(
  { place: { top, gitDir }, ledgers: { all } }: OpenLedger,
  known: TreeStatus | undefined,
  now: number,
): TreeStatus {
  const claims = all.flatMap((ledger) => [...ledger.claims.values()]).filter((one) => isChanged(top, one));
  const dirty = claims.map(({ path, base }): readonly [string, DirtyPath] => {
    const index = known?.dirty.get(path)?.index ?? base;
    return [path, { path, head: base, index, disk: diskState(top, { path }), stamp: stampOf(top, { path }) }];
  });
  const ref = readHead(gitDir);
  const place = ref?.startsWith('refs/') === true ? ref : 'HEAD';
  return { head: { ref: place, oid: known?.head.oid ?? null }, dirty: new Map(dirty), at: now };
}

/** Returns the sessions whose process runs, or may run, except those whose client started the caller's client. */
export function alive(call: TreeCall, ledgers: readonly SessionLedger[]): ReadonlySet<SessionId> {
  const table = call.machine.processes();
  const above = clientChain(call).slice(1);
  const runs = ({ registrations }: SessionLedger) => {
    const running = [...registrations.values()].filter((one) => stillRuns(one, table) !== false);
    return running.length > 0 && !running.some(({ pid }) => above.some((one) => one.pid === pid));
  };
  return new Set(ledgers.filter(runs).map(({ session }) => session));
}

/** Whether a file differs from what HEAD had when the session first changed it, or is too big to read. */
export function isChanged(top: string, { path, base }: Pick<OpenClaim, 'path' | 'base'>): boolean {
  return !sameState(base, contentState(top, { path }, base?.oid ?? ''));
}
