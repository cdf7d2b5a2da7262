import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenClaim, SessionLedger } from '../../domain/ledger/claims.ts';
import type { FileState } from '../../domain/ledger/file-state.ts';
import type { DirtyPath, TreeStatus } from '../../domain/ledger/tree-status.ts';
import { type SessionId, parseOid } from '../../domain/names.ts';
import { readHead } from '../../git/discover.ts';
import { formatOf, objectName } from '../../git/hash.ts';
import { lstatOf } from '../../git/stat.ts';
import { diskState, stampOf } from '../../git/work-tree.ts';
import { ancestorsOf } from '../../host/processes.ts';
import type { Ledgers, WorkPlace } from '../../changes/work-place.ts';
import { clientChain, registeredProcesses } from '../presence.ts';
import type { TreeCall } from '../call.ts';
import type { CommandFacts, OpenLedger } from '../facts.ts';

/**
 * Whose the files are when git does not say in time: by the ledger, the bytes on the disk and the processes, without any
 * other process. Errs towards a refusal: what a filter of git's changes counts as changed.
 */

/** A worktree before a command, and whose the changes in it are. */
export interface Seen extends OpenLedger {
  readonly snapshot: TreeStatus;
  /** git did not say in time: the snapshot is what the ledgers have. */
  readonly isByLedger: boolean;
}

/** The worktree as git says that it is; else as the ledgers have it. */
export async function seenBefore(call: TreeCall, { ledger, looks }: CommandFacts): Promise<Seen | undefined> {
  const open = ledger();
  if (open === undefined || looks.forLedger === undefined) return undefined;
  const snapshot = await looks.forLedger.snapshot();
  if (snapshot !== undefined) return { ...open, snapshot, isByLedger: false };
  const { place, ledgers } = open;
  const known = statusByLedger(place, ledgers, looks.forLedger.known, call.now);
  return { ...open, snapshot: known, isByLedger: true };
}

/** What is said with a refusal that was decided so. */
export const BY_LEDGER = 'git status did not finish in time; this is what the sessions have recorded. ';

/** The working tree as the ledgers have it: their paths that differ from what HEAD had there. */
function statusByLedger(
  { top, gitDir }: WorkPlace,
  { all }: Ledgers,
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

/** Sessions of other clients that are alive: whose process is, and is neither above nor below the caller's. */
export function aliveBeside(
  call: TreeCall,
  place: WorkPlace,
  ledgers: readonly SessionLedger[],
): ReadonlySet<SessionId> {
  const table = call.machine.processes;
  const above = clientChain(call, table);
  const [client] = above;
  const isRelated = (pid: number) =>
    pid !== client?.pid &&
    (above.some((one) => one.pid === pid) || ancestorsOf(pid, table).some((one) => one.pid === client?.pid));
  const isBeside = (id: SessionId) => {
    const alive = registeredProcesses(place, id).filter(
      ({ pid, start }) => table.runningSince(pid) === start,
    );
    return alive.length > 0 && !alive.some(({ pid }) => isRelated(pid));
  };
  return new Set(ledgers.map((ledger) => ledger.session).filter((id) => id !== call.session && isBeside(id)));
}

/** Whether what is on the disk is other than what HEAD had when the session first changed it. */
export function isChanged(top: string, { path, base }: Pick<OpenClaim, 'path' | 'base'>): boolean {
  const disk = diskState(top, { path });
  if (base === null || disk === null) return base !== disk;
  return base.mode !== disk.mode || base.oid !== oidOf(join(top, path), base);
}

/** Bytes; what is bigger counts as changed. */
const MAX_READ = 64 * 1024 * 1024;

function oidOf(file: string, { mode, oid }: NonNullable<FileState>) {
  if (oid === null || (lstatOf(file)?.size ?? Infinity) > MAX_READ) return undefined;
  try {
    const content = mode === '120000' ? readlinkSync(file, 'buffer') : readFileSync(file);
    return parseOid(objectName(formatOf(oid), 'blob', content));
  } catch {
    return undefined;
  }
}
