import { join } from 'node:path';
import type { SessionId } from '../../domain/names.ts';
import type { SessionRecord, ProcessId } from '../../domain/session.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { exists } from '../../host/disk.ts';
import { beat, ensureFolder, touchedFolder, worktreeId } from '../../host/folders.ts';
import { beforeAnswer, inTime } from '../../host/io.ts';
import { takeLock } from '../../host/process-lock.ts';
import { processTable } from '../../host/processes.ts';
import { rememberRegistration } from '../../sessions/registered.ts';
import { claimSolo, removeSolo, soloSession } from '../../sessions/solo.ts';
import { rememberRepository } from '../../sessions/visits.ts';
import { type JudgedSession, type StoredSession, clientsOf } from '../../sessions/records.ts';
import { ledgerFile, ledgerFolder } from '../../changes/ledger.ts';
import { isPaused, listStarts } from '../../changes/windows.ts';
import { type Beginning, beginAlone, arrive } from '../effects/arrival.ts';
import { callingClient } from '../presence.ts';
import type { TreeCall } from '../call.ts';
import { type Parted, describe, isSameRecord, isVisitor, judged, parted, putOnRecord } from './record.ts';
import { listTouched } from '../effects/list-touched.ts';

/** A session that is on record, and who else is. */
export interface Registered {
  readonly record: SessionRecord;
  /** It was on no record of this worktree before. */
  readonly isNew: boolean;
  /** Other sessions of the repository, judged. */
  readonly others: readonly JudgedSession[];
  /** What the session is to be told of the others' work here. */
  readonly notices: readonly string[];
}

/**
 * Puts the calling session on record in this worktree, or brings its record up to date: its process,
 * the session it was started in, the conversation it carries on. Then says whether it is alone.
 *
 * One arrival at a time. Where the lock cannot be had, the order of the steps is enough: a session puts its start list, its
 * record and the file that says it is alone, and then lists who is here. Of two the later one sees the other, and settles
 * both.
 *
 * @param listed the sessions on record, where they were listed a moment ago
 */
export async function register(call: TreeCall, listed?: readonly StoredSession[]): Promise<Registered> {
  const release = await lockArrivals(call);
  let registered: Registered;
  try {
    registered = await registerIn(call, listed);
  } finally {
    release();
  }
  await noteOtherTrees(call, registered);
  return registered;
}

/** Sessions that work in several worktrees are to hear of each other's changes. Whatever goes wrong, this one is on record. */
async function noteOtherTrees(call: TreeCall, { others }: Registered): Promise<void> {
  const { commonDir, gitDir } = call.tree;
  const own = worktreeId(gitDir);
  const isElsewhere = others.some((one) => one.liveness === 'live' && one.worktreeId !== own);
  if (!isElsewhere && !exists(touchedFolder(commonDir))) return;
  try {
    await inTime(listTouched(call, others), call.budget.part(beforeAnswer(call.budget) / 2));
  } catch (error) {
    call.log('open', `what is changed in other worktrees was not listed: ${String(error)}`);
  }
}

/** How long another session's arrival is waited for. Milliseconds. */
const PATIENCE_MS = 1000;

async function lockArrivals({
  session,
  tree: { gitDir, commonDir },
  budget,
  log,
}: TreeCall): Promise<() => void> {
  const folder = ledgerFolder({ commonDir, worktreeId: worktreeId(gitDir) });
  try {
    ensureFolder(folder);
    const lock = await takeLock(
      join(folder, 'arrival.lock'),
      session,
      Math.min(PATIENCE_MS, budget.left() / 4),
    );
    if (lock.kind === 'held') return lock.release;
    log('open', `session ${lock.by} has not finished its arrival`);
  } catch (error) {
    log('open', `arrivals could not be locked: ${String(error)}`);
  }
  return () => undefined;
}

async function registerIn(call: TreeCall, listed: readonly StoredSession[] | undefined): Promise<Registered> {
  const { session, tree } = call;
  const table = processTable();
  rememberRepository(call.machine.env, tree.commonDir);
  let company = await readCompany(call, listed);
  const { own, others } = company;
  const isBack = own === undefined || own.record.ended !== null || isRisen(tree, own);
  let record = describe(call, own, others, table);
  let lone = soloSession(tree.gitDir);
  if (lone !== undefined && company.gone.includes(lone)) removeSolo(tree.gitDir);
  let isLone = !company.isShared && !isBack && lone === session;
  if (isLone && isSameRecord(own?.record, record)) {
    beat(tree.commonDir, session, call.event.name);
    rememberRegistration(tree, session, company.client);
    return { record, isNew: false, others, notices: [] };
  }
  let begun: Beginning | undefined;
  // Once more where one was named as alone that is not on record: it has not come that far, or never will.
  for (let isFirst = true; isFirst || !(isLone || company.isShared); isFirst = false) {
    if (!isLone && !company.isShared) {
      ({ isLone, begun } = await beginAlone(call, record, company.gone));
    }
    record = await putOnRecord(call, company, table);
    beat(tree.commonDir, session, call.event.name);
    lone = soloSession(tree.gitDir) ?? lone;
    if (isLone) claimSolo(tree.gitDir, record);
    else removeSolo(tree.gitDir);
    company = await readCompany(call);
    if (!isFirst) break;
  }
  const { peers, client, isShared } = company;
  if (isShared) removeSolo(tree.gitDir);
  let notices: readonly string[] = [];
  if (isShared && (isBack || begun !== undefined || isUnsettled(tree, session, peers))) {
    const former = record.succeeds;
    const { gone } = company;
    const clients = clientsOf(company.others);
    notices = await arrive(call, { peers, clients, gone, former, lone, begun, isBack });
  }
  rememberRegistration(tree, session, client);
  return { record, isNew: own === undefined, others: company.others, notices };
}

/** Who is on record here, as a session sees them. */
interface Company extends Parted {
  readonly peers: readonly SessionId[];
  readonly gone: readonly SessionId[];
  readonly client: ProcessId | undefined;
  /**
   * Others are at work, or sh cannot decide alone: it knows nothing of further guarded paths, and what a visitor changes
   * is claimed at once, for all else that changes here is not its own.
   */
  readonly isShared: boolean;
}

async function readCompany(call: TreeCall, listed?: readonly StoredSession[]): Promise<Company> {
  const { session, tree } = call;
  const table = processTable();
  const worktree = worktreeId(tree.gitDir);
  const known = parted(await judged(call, table, listed), session, worktree);
  const here = known.others.filter((one) => one.worktreeId === worktree);
  const those = (...liveness: JudgedSession['liveness'][]) =>
    here.filter((one) => liveness.includes(one.liveness)).map(({ record }) => record.session);
  const peers = those('live');
  const client = callingClient(call, table);
  const isShared =
    peers.length > 0 || isVisitor(call, known.own?.record) || call.settings.guardPath.length > 0;
  return { ...known, peers, gone: those('dead', 'ended'), client, isShared };
}

/** Whether something is left of a time alone that is over: this session's, or that of one at work beside it. */
function isUnsettled(
  { commonDir, gitDir }: FoundRepository,
  session: SessionId,
  peers: readonly SessionId[],
): boolean {
  const ledgers = { commonDir, worktreeId: worktreeId(gitDir) };
  if (!exists(ledgerFile(ledgers, session))) return true;
  return listStarts(ledgers).some((one) => one === session || peers.includes(one));
}

/** Its process had died, others have been here since, and it was resumed. */
function isRisen({ commonDir, gitDir }: FoundRepository, own: JudgedSession): boolean {
  const ledgers = { commonDir, worktreeId: worktreeId(gitDir) };
  return own.liveness === 'dead' && isPaused(ledgers, own.record.session);
}
