import { appendEvents } from '../../sessions/journal.ts';
import { movedHead, othersMoved, deliverNews, commitText } from './news.ts';
import {
  ARRIVAL,
  changedWithin,
  claimsAround,
  closeWindow,
  commitRuns,
  ledgerOf,
  type Ledgers,
  lookTimeoutMs,
  markNotified,
  openLedgers,
  type OpenWindow,
  placePath,
  putLast,
  readLast,
  readWindows,
  type WorkPlace,
} from '../../changes/windows.ts';
import { settledClaims } from '../../changes/settle-claims.ts';
import { withRevived, withoutEnded } from '../../domain/ledger/claim-events.ts';
import type { OpenClaim, SessionLedger } from '../../domain/ledger/claims.ts';
import type { WorktreeEvent } from '../../domain/journal/events.ts';
import {
  type FileState,
  sameState,
  type TreeStatus,
  stagedBetween,
  type DirtyPath,
} from '../../domain/ledger/tree-status.ts';
import { isMaker } from '../../domain/ledger/ownership.ts';
import {
  type SessionId,
  meantId,
  canMean,
  ownerId,
  sessionOfOwner,
  shortOid,
  ownerName,
  refName,
} from '../../domain/names.ts';
import { isAncestor } from '../../git/histories.ts';
import { pastChanges } from '../../git/staged.ts';
import { contentState } from '../../git/worktrees.ts';
import { type TreeCall, ownerOf, windowId } from '../call.ts';
import { type Finished, type SeenAfter, readStatus } from '../facts.ts';
import { seeHead } from './after-file.ts';
import { claimsHit, keepHitWork } from './hit-work.ts';
import { noteOperation } from './operations.ts';
import { type LoggedCommit, commitsBetween, droppedCommits } from '../../git/log.ts';
import { readClients } from '../../sessions/records.ts';
import { news } from '../../sessions/happenings.ts';

/** After a shell command: claims, for this session, what the command changed. Returns what to tell the session. */
export async function afterShell(call: TreeCall, command: string): Promise<readonly string[]> {
  const owner = ownerOf(call);
  const place = ledgerOf(call.tree, call.session);
  if (place === undefined) return [];
  const windows = readWindows(place);
  const own = windows.filter((window) => window.session === owner);
  const id = windowId(call);
  const window = own.find((one) => one.id === id) ?? own.find((one) => one.id === ARRIVAL);
  if (window === undefined && call.event.changedFiles.length === 0) {
    await seeHead(call, place);
    // A command that only reads still gets the news of the other sessions.
    return deliverNews(call, place, openLedgers(place, owner));
  }
  const looking = readStatus(call, place, { known: window?.status ?? readLast(place) });
  const seenAs = (after: TreeStatus) => {
    return { place, ledgers: ledgersBeside(place, owner, window?.named ?? []), after, command };
  };
  const after = await looking.catch(async (error: unknown) => {
    if (window !== undefined) {
      const done = { ...seenAs(namedOnDisk(place, window, call.now)), window, windows };
      appendEvents(place, owner, await claimsOf(call, done));
      closeWindow(place, window, call.now, mayOutliveCall(call));
    }
    throw error;
  });
  putLast(place, after);
  const seen = seenAs(after);
  const { entries, notices } =
    window === undefined
      ? { entries: [...(await settled(call, seen, [])), ...reportedChanges(call, seen)], notices: [] }
      : await finished(call, { ...seen, window, windows });
  const moved = window && (await movedHead(call, seen, window.status.head));
  appendEvents(place, owner, entries);
  const news = await deliverNews(call, place, openLedgers(place, owner), moved);
  return [...news, ...notices];
}

/** Records what a command did, and closes its window. Returns the session's events, and what to tell the session. */
async function finished(call: TreeCall, done: Finished) {
  const { place, window } = done;
  // While another commit runs, its hooks may have set changes aside that will come back.
  const isLooked = window.looked && !commitRuns(place, call.now, window.id);
  const hit = isLooked ? claimsHit(done) : [];
  const entries = [...(await settled(call, done, hit, window.id)), ...(await claimsOf(call, done))];
  if (window.looked) entries.push(...(await movesOf(call, done)));
  const kept = isLooked ? await keepHitWork(call, done, hit, entries) : { entries: [], notices: [] };
  noteOperation(call, done);
  closeWindow(place, window, call.now, mayOutliveCall(call));
  return { entries: [...entries, ...kept.entries], notices: kept.notices };
}

/** The ledgers as they were before the command. */
function ledgersBeside(place: WorkPlace, owner: SessionId, named: readonly string[]): Ledgers {
  const { all, self, others } = openLedgers(place, owner);
  const known = (some: readonly SessionLedger[]) =>
    some.map((ledger) => (ledger === self ? self : withoutEnded(ledger, named)));
  return { all: known(all), self, others: known(others) };
}

async function movesOf(call: TreeCall, done: Finished): Promise<WorktreeEvent[]> {
  const moves = await headEntries(call, done);
  if (moves.length > 0) {
    const undone = await undoneClaims(call, done);
    for (const [owner, claims] of undone) appendEvents(done.place, owner, claims);
  }
  return [...stagedEntries(done, call.now), ...moves];
}

/**
 * Finds the claims that this status ends or restores. Writes other sessions' events, and returns this session's own.
 *
 * @param hit the claims that the command hit; if one has ended, `keepHitWork` tells both sides
 */
async function settled(
  call: TreeCall,
  { place, ledgers: { all, self }, after, command }: SeenAfter,
  hit: readonly OpenClaim[],
  window?: string,
): Promise<readonly WorktreeEvent[]> {
  const ended = hit.filter(({ path }) => !after.dirty.has(path));
  // `git am` commits without our hooks.
  const isOwnKnown = ended.length > 0 || /\bgit (?:-[cC] \S+ )*am\b/.test(command);
  const isNotified = (claim: OpenClaim) =>
    ended.includes(claim) || (isOwnKnown && claim.session === self.session);
  const how = { window, isNotified, timeoutMs: lookTimeoutMs(call) };
  const found = await settledClaims(place, all, after, how);
  for (const [session, entries] of found) {
    if (session !== self.session) appendEvents(place, session, entries);
  }
  return found.get(self.session) ?? [];
}

/** Claims on what changed while the command ran. Work that came back belongs to the session that had claimed it before. */
async function claimsOf(
  call: TreeCall,
  { place: { top }, ledgers: { all, self }, window, windows, after }: Finished,
): Promise<WorktreeEvent[]> {
  const ledgers = withRevived(all, (path) => after.dirty.get(path));
  const { now, event } = call;
  const own = new Set([self.session]);
  const timeoutMs = lookTimeoutMs(call);
  const around = { top, window, windows, after, ledgers, own, agent: event.agent, now, timeoutMs };
  const back = ledgers.find((one) => one.session === self.session)?.claims;
  const claims = await claimsAround(around);
  const isBack = (path: string, left: FileState) => {
    const claim = self.claims.has(path) ? undefined : back?.get(path);
    return claim !== undefined && sameState(claim.after, left);
  };
  return claims.filter((claim) => !isBack(claim.path, claim.after));
}

/** What the command removed from the index or changed only there (`git rm`, `git reset -- <path>`), not by `git add -A`. */
function stagedEntries({ window: { status: before }, after }: Finished, now: number): WorktreeEvent[] {
  return stagedBetween(before, after).flatMap(({ path, state }): WorktreeEvent[] => {
    const dirty = after.dirty.get(path);
    const isRemoved = state === null && before.dirty.get(path)?.disk !== null;
    const isIndexOnly = dirty !== undefined && (isRemoved || sameState(dirty.disk, dirty.head));
    return isIndexOnly ? [{ t: 'staged', path, state, head: dirty.head, at: now }] : [];
  });
}

/** Claims on the files that the client reports as changed, for a command before which no status was read. */
function reportedChanges(call: TreeCall, { place, after }: SeenAfter): WorktreeEvent[] {
  return call.event.changedFiles.flatMap((file): WorktreeEvent[] => {
    const placed = placePath(file, true);
    const dirty = placed === undefined ? undefined : after.dirty.get(placed.path);
    if (placed?.found.gitDir !== place.gitDir || dirty === undefined) return [];
    const { path, head, disk } = dirty;
    const claim = { path, base: head, before: head, after: disk, at: call.now };
    return [{ t: 'claim', ...claim, evidence: 'window', weak: false }];
  });
}

/** A single `&` that ends a command, and programs that run others in the background. */
const BACKGROUND = /(?:^|[^&|<>\\])&(?![&>\d])|\b(?:nohup|setsid|disown|daemonize|tmux|screen)\b/;
const QUOTED = /'[^']*'|"(?:[^"\\]|\\[^])*"/g;
/** Programs that run the text in quotes as a command. */
const CHILD_SHELL = /\b(?:[a-z]*sh|eval)\b/;

/** Whether programs that the shell command started may run on after the call. In doubt, the answer is no. */
function mayOutliveCall({ event: { tool } }: TreeCall): boolean {
  if (tool?.kind !== 'shell') return false;
  const { command, inBackground } = tool;
  const text = CHILD_SHELL.test(command) ? command : command.replace(QUOTED, '');
  return inBackground === true || BACKGROUND.test(text);
}

/** The state of a path whose content in HEAD is not known. */
const UNREAD: FileState = { mode: '100644', oid: null };

/** The status if git did not answer: it lists the named files whose times show that the command has changed them. */
function namedOnDisk({ top }: WorkPlace, window: OpenWindow, now: number): TreeStatus {
  const { status, named } = window;
  const dirty = named.flatMap((path): [string, DirtyPath][] => {
    const disk = contentState(top, { path }, status.head.oid ?? '');
    if (!changedWithin(top, { path, after: disk }, { ...window, to: now })) return [];
    const { head, index } = status.dirty.get(path) ?? { head: UNREAD, index: UNREAD };
    return [[path, { path, head, index, disk, stamp: '' }]];
  });
  return { ...status, dirty: new Map(dirty), at: now };
}

/**
 * Claims for commits that a command undid without touching the files (`git reset --soft`, `--mixed`). The changes in these
 * commits are uncommitted again, and belong to the sessions that made the commits. Earlier claims on the files remain.
 */
async function undoneClaims(
  call: TreeCall,
  { place: { top }, ledgers: { all, self }, window: { status: before }, after }: Finished,
): Promise<Map<SessionId, WorktreeEvent[]>> {
  const claims = new Map<SessionId, WorktreeEvent[]>();
  const [from, to] = [after.head.oid, before.head.oid];
  const kept = [...after.dirty.values()].filter((one) => isKept(one, before.dirty.get(one.path)));
  if (from === null || to === null || from === to || kept.length === 0) return claims;
  const options = { cwd: top, timeoutMs: lookTimeoutMs(call) };
  // With --first-parent, what a merge brought in counts as the work of the session that merged.
  const undone = await pastChanges(options, ['--first-parent', `${from}..${to}`], []);
  // If the new HEAD has commits that the old HEAD lacked, nobody knows how much of the undone change is left.
  const isBack = kept.some(({ path }) => before.dirty.has(path)) && (await isAncestor(options, from, to));
  const ledgers = [self, ...all.filter(({ session }) => session !== self.session)];
  const sessions = ledgers.map(({ session }) => session);
  const isOf = (session: SessionId, id: string) => meantId(id, sessions) === session;
  for (const { path, head, disk } of kept) {
    const changes = undone.filter((change) => change.path === path);
    const stood = changes[0]?.index;
    const isFresh = !before.dirty.has(path);
    if (stood === undefined || sameState(stood, head) || (isFresh ? !sameState(stood, disk) : !isBack))
      continue;
    const made = changes.reverse().flatMap((change) => {
      const maker = ledgers.find((ledger) => isMaker(ledger, change, isOf));
      return maker === undefined ? [] : [{ maker, after: change.index }];
    });
    // The changes of a commit that no session made go to the makers of the commits around it.
    for (const [n, { maker, after: own }] of made.entries()) {
      if (!isFresh && maker.claims.has(path)) continue;
      const [was, is] = [n === 0 ? head : (made[n - 1]?.after ?? null), n === made.length - 1 ? stood : own];
      const change = { path, base: head, before: was, after: is };
      const claim = { t: 'claim', ...change, evidence: 'explicit', weak: false, at: call.now } as const;
      claims.set(maker.session, [...(claims.get(maker.session) ?? []), claim]);
    }
  }
  return claims;
}

/** Whether the file is as it was before the command, but its content in HEAD has changed. */
const isKept = ({ head, disk }: DirtyPath, then: DirtyPath | undefined): boolean =>
  then === undefined || (sameState(disk, then.disk) && !sameState(head, then.head));

/** Events that record where HEAD is after a command, whether this session moved it, and what to tell other sessions. */
async function headEntries(
  call: TreeCall,
  { place, ledgers: { all, self }, window: { status: before }, after: { head } }: Finished,
): Promise<WorktreeEvent[]> {
  const at = call.now;
  const isUnmoved = before.head.ref === head.ref && before.head.oid === head.oid;
  if (isUnmoved) {
    const seen = self.head?.ref === head.ref && self.head.oid === head.oid;
    return seen ? [] : [{ t: 'head', ...head, own: false, at }];
  }
  const isReported = othersMoved({ all, self }, head, before.at);
  const [from, to] = [before.head.oid, head.oid];
  const options = { cwd: place.top, timeoutMs: lookTimeoutMs(call) };
  // A detached HEAD leaves commits behind wherever it goes, and a switch leaves them on their branch: neither drops them.
  const isSameBranch = before.head.ref === head.ref && head.ref !== 'HEAD';
  const [commits, left] = await Promise.all([
    commitsBetween(options, from, to),
    isSameBranch ? droppedCommits(options, from, to) : [],
  ]).catch(() => [[], []]);
  const isOthers = () =>
    commits.every((one) => isForeign(one, call.session)) || isOfSibling(all, self.session, before.at);
  const own = !isReported && !(commits.length > 0 && isOthers());
  const entry: WorktreeEvent = { t: 'head', ...head, own, at };
  if (!own) return [entry];
  const told = news(moveText(ownerName(self.session, call.dialect), before, head, commits), at);
  // The main agent learns about a commit from its sub-agent's report.
  if (self.session !== call.session && before.head.ref === head.ref)
    markNotified(place, call.session, [told.id], at);
  return [entry, told, ...(await droppedNews(call, place, self.session, { commits, left, ref: head.ref }))];
}

/**
 * Tells all sessions which commits of others a rewrite of the branch left out (`git rebase -i`, a script). A new commit counts
 * as a copy of an old one if they share the subject and a session: a rebase or `--amend` makes such copies.
 */
async function droppedNews(
  call: TreeCall,
  { top }: WorkPlace,
  self: SessionId,
  { commits, left, ref }: Record<'commits' | 'left', readonly LoggedCommit[]> & { readonly ref: string },
): Promise<WorktreeEvent[]> {
  const isCopied = ({ subject, sessions }: LoggedCommit) =>
    commits.some((one) => one.subject === subject && one.sessions.some((id) => sessions.includes(id)));
  const lost = left.filter((commit) => isForeign(commit, call.session) && !isCopied(commit));
  if (commits.length === 0 || lost.length === 0) return [];
  const clients = await readClients({ cwd: top }, lookTimeoutMs(call));
  const names = lost.map((one) => `${shortOid(one.oid)} (${commitText(one, call.session, clients)})`);
  const back = lost.map(({ oid }) => shortOid(oid)).join(' ');
  const what = `dropped from ${refName(ref)}: ${names.join(', ')}. To bring that back: git cherry-pick ${back}`;
  // The session itself may not know what its command dropped.
  const own = news(`You ${what}`, call.now, { to: self });
  return [news(`${ownerName(self, call.dialect)} ${what}`, call.now), own];
}

function isForeign({ sessions }: LoggedCommit, session: string): boolean {
  return sessions.length > 0 && !sessions.some((one) => canMean(one, session));
}

/** Whether the session has made commits since `since`, and all of them are by its other agents. */
function isOfSibling(all: readonly SessionLedger[], self: SessionId, since: number): boolean {
  const own = all.find(({ session }) => session === sessionOfOwner(self));
  const made = own?.commits.filter(({ at }) => at >= since) ?? [];
  return made.length > 0 && !made.some(({ agent }) => ownerId(sessionOfOwner(self), agent) === self);
}

const MAX_COMMITS = 4;

function moveText(
  who: string,
  before: TreeStatus,
  head: TreeStatus['head'],
  commits: readonly LoggedCommit[],
): string {
  const now = refName(head.ref);
  if (before.head.ref !== head.ref) {
    return `${who} switched this working tree from ${refName(before.head.ref)} to ${now}.`;
  }
  const names = commits.slice(0, MAX_COMMITS).map(({ oid }) => shortOid(oid));
  if (names.length > 0) return `${who} committed ${names.join(', ')} on ${now}.`;
  return `${who} moved ${now} from ${shortOid(before.head.oid)} to ${shortOid(head.oid)} (reset).`;
}
