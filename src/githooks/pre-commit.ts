import { basename, dirname, resolve } from 'node:path';
import { recordedMakers, withoutOperation, type Unfinished, findUnfinished } from '../changes/operations.ts';
import { type LedgerPlace, appendEvents, readLedger, readRunningAgents } from '../sessions/journal.ts';
import { findStale, withUndone } from '../changes/stale-paths.ts';
import { commandOwner, openLedgers, readStart, readWindows } from '../changes/windows.ts';
import { withRevived } from '../domain/ledger/claim-events.ts';
import type { SessionLedger } from '../domain/ledger/claims.ts';
import type { WorktreeEvent } from '../domain/journal/events.ts';
import { sameState } from '../domain/ledger/tree-status.ts';
import {
  type CommitDecision,
  type CommitFacts,
  type StagedPath,
  decideCommit,
  problemOwners,
  staleCandidates,
  suspects,
  withChangesSince,
} from '../domain/ledger/mixing.ts';
import { type SessionGroups, hasStaged, namedPeer, namesOwn } from '../domain/ledger/ownership.ts';
import { messageSessions } from '../domain/commit-message.ts';
import { markerOwner } from '../domain/marker.ts';
import { type SessionId, agentOfOwner, canMean, parseSessionId, sessionOfOwner } from '../domain/names.ts';
import { type HeadState, readHeadAndRefs } from '../git/refs.ts';
import { LIVE } from '../git/namespace.ts';
import { readObjects } from '../git/objects.ts';
import { findReversals, newestChanges, stagedPaths, unstagedPaths } from '../git/staged.ts';
import { knownWorktreeId } from '../host/folders.ts';
import { findSession } from '../sessions/caller.ts';
import { judgeSessions, sessionsFrom, groupSessions } from '../sessions/records.ts';
import { refusalLines, takenAlongLines, warningLines } from './commit-refusal.ts';
import { type HookAnswer, type HookCall, PASSED, logHook, settingsOf } from './hook-call.ts';

/** Everything that the decision about a commit needs, and the ledger that records the commit. */
interface CommitScene {
  /** The id of the session or sub-agent that commits. */
  readonly self: SessionId;
  readonly head: HeadState;
  readonly groups: SessionGroups;
  readonly staged: readonly StagedPath[];
  /** `undefined`: no session ever worked in this worktree. */
  readonly ledger: LedgerPlace | undefined;
  readonly ledgers: readonly SessionLedger[];
  readonly own: SessionLedger;
  /** The merge, rebase … in which git has stopped here. */
  readonly unfinished: Unfinished | undefined;
  /** Warnings about changes of the session's running sub-agents that the commit includes. */
  readonly told: readonly string[];
}

/**
 * Judges the commit that git is about to make, by the index that git gives its hooks. A person's commits pass, and so do
 * those of a lone session. Runs in pre-commit, and with `--no-verify` in prepare-commit-msg.
 *
 * @throws Failure when git fails or takes too long; the caller lets the commit pass
 */
export async function judgeCommit(call: HookCall): Promise<HookAnswer> {
  const scene = await readScene(call);
  if (scene === undefined) return PASSED;
  if ('session' in scene) return { ...PASSED, ...scene };
  const { self, head } = scene;
  const expected = call.env['GIT_HANDOFF_EXPECT'] ?? '';
  if (expected !== '' && expected !== head.place.oid) {
    // `git handoff commit` starts over, and says so when it gives up.
    return { refused: true, session: sessionOfOwner(self), lines: [] };
  }
  const { decision, facts, words } = await judge(call, scene);
  if (decision.problems.length === 0) {
    await noteCommit(call, scene, words?.amend === true);
    const lines = [...scene.told, ...warningLines(decision.warnings, facts.groups)];
    return { refused: false, session: sessionOfOwner(self), lines };
  }
  const lines = await refusalLines(decision, facts, call);
  const { problems } = decision;
  logHook(call, 'deny', problems.map(({ kind }) => kind).join(' '), sessionOfOwner(self));
  return {
    refused: true,
    session: sessionOfOwner(self),
    lines,
    owners: problemOwners(problems),
    asked: asked(scene, problems),
  };
}

function asked({ ledger, self }: CommitScene, problems: CommitDecision['problems']): HookAnswer['asked'] {
  const claims = problems.flatMap((one) =>
    one.kind === 'foreign' || one.kind === 'contended' ? one.claim : [],
  );
  return ledger === undefined || claims.length === 0
    ? undefined
    : { place: ledger, from: self, wish: 'commit', claims };
}

/** For a session that is alone, returns only its id and warnings; for a person, or if git-handoff is off, `undefined`. */
async function readScene(
  call: HookCall,
): Promise<CommitScene | Pick<HookAnswer, 'session' | 'lines'> | undefined> {
  const { cwd, gitDir, commonDir } = call;
  const answers = Promise.all([
    settingsOf(call),
    readHeadAndRefs(cwd, gitDir, [LIVE], call.budget.left()),
    stagedPaths(cwd),
  ]);
  // Without /proc this runs ps, at the same time as git.
  const processes = call.processes();
  const [settings, { head, refs }, staged] = await answers;
  if (settings.enabled !== true) return undefined;
  const sessions = sessionsFrom(refs);
  const session = findSession(call, sessions, undefined)?.id;
  if (session === undefined) return undefined;
  const self = commandOwner(commonDir, session, call.env);
  const judged = judgeSessions(sessions, commonDir, processes, settings.staleAfterMs, call.now);
  const groups = groupSessions(self, judged, readRunningAgents(commonDir));
  const worktreeId = knownWorktreeId(gitDir);
  const ledger = worktreeId === undefined ? undefined : { commonDir, worktreeId };
  const agents = [...groups.own].filter((id) => id !== self && agentOfOwner(id) !== undefined);
  // A sub-agent never counts as alone: its session is at work, and other agents, even ended ones, may have moved HEAD.
  const isAlone = groups.foreign.size === 0 && self === session;
  if (isAlone && agents.length === 0) return { session, lines: [] };
  const { all, self: own } = openLedgers(ledger ?? { commonDir, worktreeId: '-' }, self);
  const theirs = all.filter((one) => agents.includes(one.session));
  const told = takenAlongLines(staged, theirs, groups);
  if (isAlone) return { session, lines: told };
  const unfinished = findUnfinished(gitDir, ledger, groups);
  const lone = loneLedgers(ledger, groups, staged);
  const changes = new Map(staged.map(({ path, head, index }) => [path, { head, disk: index }]));
  const shown = withRevived(all, (path) => changes.get(path));
  const ledgers = [...shown.filter(({ session }) => !lone.has(session)), ...lone.values()];
  return { self, head, groups, staged, ledger, ledgers, own, unfinished, told };
}

/** The ledgers of other sessions that worked alone here until now, with claims on what has changed since they began. */
function loneLedgers(
  place: LedgerPlace | undefined,
  { foreign }: SessionGroups,
  staged: readonly StagedPath[],
): Map<SessionId, SessionLedger> {
  if (place === undefined) return new Map();
  const starts = [...foreign].map((session) => ({ session, start: readStart(place, session) }));
  return new Map(
    starts.flatMap(({ session, start }) =>
      start === undefined
        ? []
        : [[session, withChangesSince(readLedger(place, session), start, staged)] as const],
    ),
  );
}

async function judge(call: HookCall, scene: CommitScene) {
  const { self, head, groups, ledger, ledgers, own, unfinished } = scene;
  const { cwd, gitDir, commonDir } = call;
  const finishing = { cwd, gitDir, head: head.place, ledger, ledgers, groups, self };
  const staged = await withoutOperation(finishing, unfinished?.operation, scene.staged);
  const words = call.words();
  const settings = await settingsOf(call);
  const { operation: stopped, isOwn: isMine } = unfinished ?? {};
  const known = {
    operation: unfinished?.others,
    finishes: stopped && {
      name: stopped.name,
      whole: isMine === true && !stopped.isSequence,
      isEmpty: /^(?:cherry-pick|revert)$/.test(stopped.name) && staged.length === scene.staged.length,
    },
    staged,
    squashed: stopped === undefined ? scene.staged.filter((one) => !staged.includes(one)) : [],
    ledgers,
    groups,
    self: own,
    head: head.place,
    running: ledger === undefined ? [] : readWindows(ledger, self).map(({ status }) => status),
    ownIndex: isOwnIndex(call),
  };
  const isOwn = (session: string) => namesOwn(session, groups);
  const isChecked = words?.amend === true && settings.headCheck !== 'off';
  const candidates = staleCandidates(known);
  const seen = [own.head, ...known.running.map((status) => status.head)].map((at) => at?.oid ?? null);
  const at = { cwd, gitDir, commonDir, head: head.place, seen, groups };
  const [reversals, older, amends, markers] = await Promise.all([
    findReversals(cwd, suspects(known), isOwn),
    findStale(at, candidates),
    isChecked ? amendedSession(cwd, head, groups, ledgers) : undefined,
    foreignMarkers(cwd, staged, groups, call.budget.left()),
  ]);
  const facts: CommitFacts = {
    ...known,
    ledgers: withUndone(ledgers, older.undone, groups, candidates),
    amends,
    markers,
  };
  const isShared = (path: string) => (candidates.find((one) => one.path === path)?.own.length ?? 0) > 0;
  const more = await newestChanges(
    cwd,
    [...older.stale].filter((path) => !reversals.some((one) => one.path === path)),
  );
  const taken = more.map((one) => ({ ...one, shared: isShared(one.path) }));
  const decision: CommitDecision = decideCommit(facts, [...reversals, ...taken]);
  return { decision, facts, words };
}

/** Whether git uses the worktree's index (or its own copy for `-a` and `--only`), not an index kept elsewhere. */
function isOwnIndex({ env, cwd, gitDir }: HookCall): boolean {
  const name = env['GIT_INDEX_FILE'];
  if (name === undefined || name === '') return true;
  const file = resolve(cwd, name);
  if (dirname(file) !== resolve(cwd, gitDir)) return false;
  return /^(?:index|index\.lock|next-index-\d+\.lock)$/.test(basename(file));
}

/** The most unclaimed paths that we record of a commit: they are enough to recognise it. */
const MAX_OTHERS = 64;

/** Records a commit that passes. As soon as HEAD has the commit, the session's claims on its paths end. */
async function noteCommit({ now, cwd }: HookCall, scene: CommitScene, amend: boolean): Promise<void> {
  const { ledger, self, own, staged, head } = scene;
  if (ledger === undefined || staged.length === 0) return;
  const parent = amend ? (head.commit?.parents[0] ?? null) : head.place.oid;
  const claimed = staged.filter(({ path }) => own.claims.has(path));
  const others = staged.filter(({ path }) => !own.claims.has(path)).slice(0, MAX_OTHERS);
  // If only a part of a file is staged, the rest still belongs to this session.
  const doubtful = claimed.filter((one) => !isWhole(one, own)).map(({ path }) => path);
  const parts = new Set(await unstagedPaths(cwd, doubtful));
  const paths = [...claimed, ...others]
    .filter(({ path }) => !parts.has(path))
    .map(({ path, index }) => [path, index] as const);
  const entry: WorktreeEvent = { t: 'commit', parent, paths, at: now };
  appendEvents(ledger, self, [entry]);
}

/** Whether the index holds all that the session changed in the file, or the session's part as staged by `stage --mine`. */
function isWhole({ path, index }: StagedPath, own: SessionLedger): boolean {
  const claim = own.claims.get(path);
  if (claim !== undefined && sameState(claim.after, index)) return true;
  return hasStaged(own, path, index);
}

/** A staged handoff file in the form of git-handoff's predecessor, and the session that its first line names. */
interface StagedMarker {
  readonly path: string;
  readonly owner: SessionId;
}

const HANDOFF_FILE = /(?:^|\/)handoff-[^/]*\.md$/;

/**
 * The staged handoff files that this session may not commit. If the files belong to several sessions, it may commit only its
 * own. If all belong to one other session, this session may commit them unless the other is live. Without such files, no
 * process is started.
 */
async function foreignMarkers(
  cwd: string,
  staged: readonly StagedPath[],
  groups: SessionGroups,
  timeoutMs: number,
): Promise<StagedMarker[]> {
  const files = staged.flatMap(({ path, index }) => {
    const oid = index?.mode.startsWith('100') === true ? index.oid : null;
    return oid !== null && HANDOFF_FILE.test(path) ? [{ path, oid }] : [];
  });
  const objects = await readObjects(
    { cwd, timeoutMs },
    files.map(({ oid }) => ({ name: oid })),
  );
  const markers = files.flatMap(({ path }, n): StagedMarker[] => {
    const owner = parseSessionId(markerOwner(objects[n]?.content.toString('utf8') ?? ''));
    return owner === undefined ? [] : [{ path, owner }];
  });
  const others = markers.filter(({ owner }) => !groups.own.has(owner));
  const isOneSession =
    new Set(others.map(({ owner }) => owner)).size === 1 && others.length === markers.length;
  return isOneSession ? others.filter(({ owner }) => groups.foreign.has(owner)) : others;
}

/**
 * The other live session whose commit `--amend` would rewrite. The commit's message names that session, or else the ledgers
 * do, which record what each session has committed.
 */
async function amendedSession(
  cwd: string,
  { place, commit }: HeadState,
  groups: SessionGroups,
  ledgers: readonly SessionLedger[],
): Promise<SessionId | undefined> {
  if (place.oid === null || commit === undefined) return undefined;
  const named = messageSessions(commit.message);
  if (named.some((one) => namesOwn(one, groups))) return undefined;
  const peer = named.map((one) => namedPeer(one, groups)).find((id) => id !== undefined);
  if (peer !== undefined) return peer;
  // A short id that matches several sessions proves nothing.
  const isDoubtful = named.some((one) => [...groups.foreign].some((id) => canMean(one, id)));
  if (named.length > 0 && !isDoubtful) return undefined;
  const [parent = null] = commit.parents;
  const makers = await recordedMakers(cwd, { oid: place.oid, parent }, ledgers);
  if (makers.some((session) => groups.own.has(session))) return undefined;
  return makers.find((session) => groups.foreign.has(session));
}
